package limits

// A change of calendar must not give a user more messages than without it. What was used keeps
// counting until its period would have ended, in one of three ways:
//
//   - A calendar of the same unit, with another zone, reset_at or first day: the current period
//     continues to its end. A transitional period follows, which lasts until the first boundary at
//     least half of the unit's length after its start (the whole length if the capacity is 1).
//   - A longer unit: the current period is extended in the same way.
//   - A shorter unit: the new period that contains the time begins at once. What the user has used
//     of the old one counts in it, and what exceeds the share of the time that has passed counts in
//     the following ones, too.
//
// The allowance of a transitional or extended period is proportional to its length, and whole from
// the unit's length on.

// The flags of a countedPeriod.
const (
	// changingFlag means that the calendar has changed: this period need not be one of the new
	// calendar's, and the one after it may be transitional.
	changingFlag = 1 << 62
	// partialFlag means that the allowance of this period is proportional to its length.
	partialFlag = 1 << 63
	// The excess of a period with overdrawnFlag counts in the next one.
	periodFlags = overdrawnFlag | changingFlag | partialFlag
)

// inTransition reports whether a calendar change is in progress in this period.
func (d countedPeriod) inTransition() bool { return d.has(changingFlag | partialFlag) }

// changeCalendar applies the calendar of the rule r to a state that was spent under the rule old,
// as of the time at. A period without usage continues, too: otherwise users whose rows were dropped
// would have an advantage.
func changeCalendar(old, r *Rule, state []uint64, at int64) {
	d := old.periodAt(state, at)
	switch before, now := old.calendar.unit, r.calendar.unit; {
	case before == now:
		d.set(changingFlag, true)
	case before < now:
		d = d.extend(r)
	default:
		d = d.shorten(old, r, at)
	}
	if d.count == 0 && !d.inTransition() {
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

// periodAfter returns the period that follows d. Either d is overdrawn, or the calendar has changed
// during d. The period after such a change is transitional, unless the calendar has a boundary at
// the end of d. The excess of an overdrawn period counts in the next.
func (r *Rule) periodAfter(d countedPeriod) (next countedPeriod) {
	if d.has(changingFlag) && r.calendar.FirstBoundary(d.End) != d.End {
		next = r.partialFrom(d.End)
	} else {
		next.Period = r.calendar.PeriodOf(d.End)
	}
	if d.has(overdrawnFlag) {
		next.count = min(max(0, d.count-r.allowance(d)), maxCarried*r.capacity)
		next.set(overdrawnFlag, next.count > r.allowance(next))
	}
	return next
}

// maxCarried is the maximum number of later periods whose allowances an overdrawn one uses up.
const maxCarried = 1000

// allowance returns how many messages fit in the period.
func (r *Rule) allowance(d countedPeriod) int64 {
	if !d.has(partialFlag) {
		return r.capacity
	}
	whole := r.calendar.unit.maxLength()
	return r.capacity * min(d.End-d.Start, whole) / whole
}
