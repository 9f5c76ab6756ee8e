package limits

// The steps of both buckets. Instead of a level, the state is one time, at which nothing will be owed any more: the theoretical arrival
// time of the generic cell rate algorithm (ITU-T I.371). What is owed is that time less now, so it is paid off continuously without being
// counted, and a change of capacity converts nothing.

func soundDebt(old *Rule, state []uint64, last int64) bool {
	return len(state) == 1 && old.interval > 0 && state[0] <= uint64(last+MaxTime)
}

func nextDebt(r *Rule, state []uint64, at, n int64) int64 {
	if n > r.capacity {
		return Never
	}
	return max(at, int64(state[0])-(r.capacity-n)*r.interval)
}

func spendDebt(r *Rule, state []uint64, at, n int64) {
	from := max(at, int64(state[0]))
	state[0] = uint64(min(from, MaxTime) + n*r.interval) // the turn in a queue can lie beyond MaxTime, where other limits hold it back
}

func chargeDebt(r *Rule, state []uint64, at, n int64) {
	debt := max(0, int64(state[0])-at)
	full := r.capacity * r.interval
	state[0] = uint64(at + plus(debt, min(n, r.capacity)*r.interval, full))
}

// refundDebt goes by the latest time at which the spending can have been paid off: that of a bucket that it left empty.
func refundDebt(r *Rule, state []uint64, spentAt, at, n int64) {
	owed := int64(state[0]) - at
	counting := min(owed, spentAt+r.capacity*r.interval-at, min(n, r.capacity)*r.interval)
	if counting > 0 {
		state[0] -= uint64(counting)
	}
}

func levelOfDebt(r *Rule, state []uint64, at int64) (used, capacity, resetAt int64) {
	debt := int64(state[0]) - at
	if debt <= 0 {
		return 0, r.capacity, at
	}
	return (debt-1)/r.interval + 1, r.capacity, at + debt
}

func forgottenDebt(_ *Rule, state []uint64) int64 { return int64(state[0]) }

func rewindDebt(r *Rule, state []uint64, at int64) {
	state[0] = uint64(min(int64(state[0]), at+r.capacity*r.interval))
}

func convertDebt(old, r *Rule, before, state []uint64, at int64) {
	state[0] = before[0]
	if debt := int64(before[0]) - at; debt > 0 && old.interval != r.interval {
		state[0] = uint64(at + scaleUp(debt, r.interval, old.interval))
	}
}
