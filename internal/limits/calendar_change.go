package limits

// Neither another zone of the user nor a change of the limit's calendar must give a user more
// messages. What was used keeps counting until its period would have ended, in one of three ways:
//
//   - A calendar of the same unit, with another zone, reset_at or first day: the current period
//     continues to its end. Unless the calendar has a boundary there, a transitional period
//     follows. It lasts until the first boundary at least half of the unit's length after its start
//     (the whole length if the capacity is 1).
//   - A longer unit: the current period is extended in the same way.
//   - A shorter unit: the new period that contains the time begins at once. What the user has used
//     of the old one counts in it, and what exceeds the share of the time that has passed counts in
//     the following ones, too.
//
// The allowance of a transitional or extended period is proportional to its length, and whole from
// the unit's length on. A period is forgotten when a whole unit has passed since its end. So the
// periods of a user never overlap, whatever calendars they are of, and none allows more than its
// length is worth.

// The flags of a countedPeriod.
const (
	// unusedFlag was set by an earlier version, after a change of calendar.
	unusedFlag = 1 << 62
	// partialFlag means that the allowance of this period is proportional to its length.
	partialFlag = 1 << 63
	// The excess of a period with overdrawnFlag counts in the next one.
	periodFlags = overdrawnFlag | unusedFlag | partialFlag
)

// changeUnit applies the calendar of the rule r, which has another unit, to a state that was spent
// under the rule old, as of the time at. A period without usage continues, too, if it is extended
// or shortened: otherwise users whose rows were dropped would have an advantage. It also continues
// until the one before it is forgotten: otherwise the next message could begin one that overlaps
// that one.
func changeUnit(old, r *Rule, state []uint64, at int64) {
	forgotten := at >= old.expiry(old, state) // also if there is none
	d := old.periodAt(state, at)
	if old.calendar.unit < r.calendar.unit {
		d = d.extend(r)
	} else {
		d = d.shorten(old, r, at)
	}
	if forgotten && !d.has(partialFlag) {
		clear(state)
	} else {
		d.store(state)
	}
}

// extend returns a period with the start and the count of d that ends with a period of the calendar
// of r, whose unit is longer.
func (d countedPeriod) extend(r *Rule) countedPeriod {
	next := r.partialFrom(d.Start)
	next.count = d.count
	next.set(overdrawnFlag, d.has(overdrawnFlag) && d.count > r.allowance(next))
	return next
}

// shorten returns the period of the calendar of r, whose unit is shorter, that contains the time
// at. d is a period of the rule old. The time before d counted in an earlier period, so it isn't
// part of the new one.
func (d countedPeriod) shorten(old, r *Rule, at int64) countedPeriod {
	next := countedPeriod{Period: r.calendar.PeriodOf(max(at/nanosPerSecond, d.Start))}
	if next.Start < d.Start {
		next = r.partialFrom(d.Start)
	}
	allowance := r.allowance(next)
	earned, _ := scale(old.allowance(d), next.Start-d.Start, max(1, d.End-d.Start))
	left := scaleUp(max(0, old.lastEnd(d)-next.End), 1, r.calendar.unit.maxLength())
	next.count = min(max(min(d.count, allowance), d.count-earned), allowance+left*r.capacity)
	next.set(overdrawnFlag, next.count > allowance)
	return next
}

// lastEnd returns the end of the last period in which the count of d counts.
func (r *Rule) lastEnd(d countedPeriod) int64 {
	for d.has(overdrawnFlag) {
		d = r.periodAfter(d)
	}
	return d.End
}

// partialFrom returns a transitional period with that start, or a whole one if both its ends are
// boundaries of one period.
func (r *Rule) partialFrom(start int64) countedPeriod {
	least := r.calendar.unit.maxLength()
	if r.capacity > 1 { // half of a single message would round down to none
		least /= 2
	}
	d := countedPeriod{Period: Period{Start: start, End: r.calendar.FirstBoundary(start + least)}}
	d.set(partialFlag, r.calendar.PeriodOf(start) != d.Period)
	return d
}

// periodAfter returns the period that follows d. It is transitional, unless the calendar has a
// boundary at the end of d. The excess of an overdrawn period counts in the next.
func (r *Rule) periodAfter(d countedPeriod) (next countedPeriod) {
	if next.Period = r.calendar.PeriodOf(d.End); next.Start != d.End {
		next = r.partialFrom(d.End)
	}
	if d.has(overdrawnFlag) {
		next.count = min(max(0, d.count-r.allowance(d)), maxCarried*r.capacity)
		next.set(overdrawnFlag, next.count > r.allowance(next))
	}
	return next
}

// maxCarried is the maximum number of later periods whose allowances an overdrawn one uses up.
const maxCarried = 1000

// forgottenAt returns the second from which a period has no effect on those after it. Then a period
// of the calendar that contains the time doesn't overlap it.
func (r *Rule) forgottenAt(d countedPeriod) int64 { return d.End + r.calendar.unit.maxLength() }

// leastAllowance returns how many messages fit in any period.
func (r *Rule) leastAllowance() int64 { return max(1, r.capacity/2) }

// allowance returns how many messages fit in the period.
func (r *Rule) allowance(d countedPeriod) int64 {
	if !d.has(partialFlag) {
		return r.capacity
	}
	whole := r.calendar.unit.maxLength()
	return r.capacity * min(d.End-d.Start, whole) / whole
}
