package limits

// The steps of the token bucket and the leaky bucket. Their state is not a level but the time at
// which the debt will be zero. This is the theoretical arrival time of the generic cell rate
// algorithm (ITU-T I.371). The debt is that time minus now. So the debt shrinks continuously
// without any counting, and a change of capacity needs no conversion.

func isValidDebt(old *Rule, state []uint64, last int64) bool {
	return len(state) == 1 && old.interval > 0 && state[0] <= uint64(last+MaxTime)
}

func nextDebt(r *Rule, state []uint64, at, n int64) int64 {
	if n > r.capacity {
		return Never
	}
	return max(at, int64(state[0])-(r.capacity-n)*r.interval)
}

func spendDebt(r *Rule, state []uint64, at, n int64) level {
	state[0] = uint64(max(at, int64(state[0])) + n*r.interval)
	return levelOfDebt(r, state, at)
}

func overdrawDebt(r *Rule, state []uint64, at, n int64) {
	more, _ := scale(n, r.interval, 1)
	state[0] = uint64(at + min(max(0, int64(state[0])-at)+more, MaxTime-1))
}

func addDebt(_ *Rule, state, other []uint64, at int64) {
	if more := int64(other[0]) - at; more > 0 {
		state[0] = uint64(at + addCapped(max(0, int64(state[0])-at), more, MaxTime-1))
	}
}

func raiseDebt(_ *Rule, state, other []uint64, _ int64) { state[0] = max(state[0], other[0]) }

func chargeDebt(r *Rule, state []uint64, at, n int64) (counted int64) {
	debt := max(0, int64(state[0])-at)
	more := addCapped(debt, min(n, r.capacity)*r.interval, r.capacity*r.interval)
	state[0] = uint64(at + more)
	return (more - debt) / r.interval
}

// refundDebt refunds from the current debt if nothing was spent after the message. Otherwise the
// state, a single time, can't tell how much of the debt belongs to which message. refundDebt then
// assumes that the bucket was full before the message, so that it refunds nothing that was already
// paid off.
func refundDebt(r *Rule, state []uint64, back spentMessage, at int64) {
	counting := min(back.n, r.capacity) * r.interval
	if !back.latest {
		counting -= at - back.at
	}
	if counting = min(counting, int64(state[0])-at); counting > 0 {
		state[0] -= uint64(counting)
	}
}

func levelOfDebt(r *Rule, state []uint64, at int64) level {
	debt := int64(state[0]) - at
	if debt <= 0 {
		return level{0, r.capacity, at}
	}
	return level{(debt-1)/r.interval + 1, r.capacity, at + debt}
}

func debtExpiry(_ *Rule, state []uint64) int64 { return int64(state[0]) }

// rewindDebt keeps the debt that remained right after the last use, at most a whole bucket, and
// counts it from at.
func rewindDebt(r *Rule, state []uint64, last, at int64) {
	state[0] = uint64(at + min(max(0, int64(state[0])-last), r.capacity*r.interval))
}

func convertDebt(old, r *Rule, before, state []uint64, at int64) {
	state[0] = before[0]
	if debt := int64(before[0]) - at; debt > 0 && old.interval != r.interval {
		state[0] = uint64(at + scaleUp(debt, r.interval, old.interval))
	}
}
