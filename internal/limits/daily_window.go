package limits

import "cmp"

// dailyWindow allows a number of messages in each day, week or month of a calendar.
//
// The row holds the current period, so that a decision within that period needs no calendar, and
// the user's zone has no effect. See calendar_change.go for the period after it.
var dailyWindow = algorithm{
	name: "daily-window",
	code: 2,
	size: 2,
	params: []Parameter{
		countParameter("messages", MaxMessages, 300), {Name: "timezone", Kind: Zone}, {Name: "reset_at", Kind: Clock},
		{Name: "period", Kind: Choice, Choices: unitNames}, {Name: "first_day", Kind: Choice, Choices: weekdayNames},
	},

	compile: func(p Params, r *Rule) (err error) {
		r.capacity = p.Messages
		r.calendar, err = p.calendarIn(cmp.Or(p.Timezone, p.DefaultZone))
		return err
	},

	isValid: func(old *Rule, state []uint64, _ int64) bool {
		if old.calendar == nil || len(state) != 2 {
			return false
		}
		d := loadPeriod(state)
		return d.End < MaxTime/nanosPerSecond && d.count <= MaxMessages
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		if n > r.capacity {
			return Never
		}
		d := r.periodAt(state, at)
		for n > r.allowance(d)-d.count {
			at = d.End * nanosPerSecond
			if !d.has(overdrawnFlag) && n <= r.leastAllowance() {
				break // it fits in any period that follows
			}
			d = r.periodAfter(d)
		}
		return at
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		d := r.periodAt(state, at)
		d.count += n
		d.store(state)
		return r.levelOfPeriod(d)
	},

	overdraw: func(r *Rule, state []uint64, at, n int64) {
		d := r.periodAt(state, at)
		d.storeCount(r, state, addCapped(d.count, n, MaxMessages))
	},

	add: func(r *Rule, state, other []uint64, at int64) {
		if more := r.periodAt(other, at); more.count > 0 {
			d := r.periodAt(state, at)
			if loadPeriod(state).End == 0 {
				d = more.withoutCount()
			}
			d.storeCount(r, state, addCapped(d.count, more.count, MaxMessages))
		}
	},

	raise: func(r *Rule, state, other []uint64, at int64) {
		if d, higher := r.periodAt(state, at), r.periodAt(other, at); higher.Start == d.Start && higher.count > d.count {
			d.storeCount(r, state, higher.count)
		}
	},

	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		d := r.periodAt(state, at)
		before := d.count
		d.count = addCapped(d.count, n, r.allowance(d))
		d.store(state)
		return d.count - before
	},

	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		if d := r.periodAt(state, at); back.at >= d.Start*nanosPerSecond {
			d.count = max(0, d.count-back.n)
			d.set(overdrawnFlag, d.has(overdrawnFlag) && d.count > r.allowance(d))
			d.store(state)
		}
	},

	level: func(r *Rule, state []uint64, at int64) level { return r.levelOfPeriod(r.periodAt(state, at)) },

	picture: func(r *Rule, state []uint64, at int64) Picture {
		d := r.periodAt(state, at)
		return Picture{From: d.Start * nanosPerSecond, Until: d.End * nanosPerSecond, Count: d.count}
	},

	expiry: func(r *Rule, state []uint64) int64 {
		d := loadPeriod(state)
		if d.End == 0 {
			return 0
		}
		for d.has(overdrawnFlag) {
			d = r.periodAfter(d)
		}
		return r.forgottenAt(d) * nanosPerSecond
	},

	rewind: func(r *Rule, state []uint64, last, at int64) {
		if d := r.periodAt(state, last); d.Start*nanosPerSecond > at && loadPeriod(state).End != 0 {
			countedPeriod{Period: r.calendar.PeriodOf(at / nanosPerSecond), count: d.count}.store(state)
		}
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		if copy(state, before); old.calendar.unit != r.calendar.unit {
			changeUnit(old, r, state, at)
		}
	},

	windowEnd: func(r *Rule, state []uint64, at int64) int64 { return r.periodAt(state, at).End * nanosPerSecond },
}

// countedPeriod is a user's state in a daily window.
type countedPeriod struct {
	Period
	count int64
	flags uint64 // see below; a struct with a field for each would be slower
}

// The words of a countedPeriod: its start << 24 | its length, both in seconds; flags | count.
const lengthBits = 24

func loadPeriod(state []uint64) countedPeriod {
	start := int64(state[0] >> lengthBits)
	return countedPeriod{
		Period: Period{Start: start, End: start + int64(state[0]&(1<<lengthBits-1))},
		count:  int64(state[1] &^ periodFlags),
		flags:  state[1] & (overdrawnFlag | partialFlag),
	}
}

func (d countedPeriod) has(flag uint64) bool { return d.flags&flag != 0 }

// set sets or clears a flag.
func (d *countedPeriod) set(flag uint64, on bool) {
	if d.flags &^= flag; on {
		d.flags |= flag
	}
}

// withoutCount returns the period with a count of zero.
func (d countedPeriod) withoutCount() countedPeriod {
	d.count = 0
	d.flags &^= overdrawnFlag
	return d
}

func (d countedPeriod) store(state []uint64) {
	d.Start = max(0, d.Start) // there are no times before 1970
	state[0] = uint64(d.Start)<<lengthBits | uint64(d.End-d.Start)
	state[1] = uint64(d.count) | d.flags
}

// storeCount stores the period with a count that may exceed what it allows.
func (d countedPeriod) storeCount(r *Rule, state []uint64, count int64) {
	d.count = count
	d.set(overdrawnFlag, count > r.allowance(d))
	d.store(state)
}

// periodAt returns the period that contains the time, which must not be before the one in the row.
func (r *Rule) periodAt(state []uint64, at int64) countedPeriod {
	if d := loadPeriod(state); at < d.End*nanosPerSecond {
		return d
	}
	return r.laterPeriod(state, at)
}

// laterPeriod is periodAt for a period after the one in the row.
func (r *Rule) laterPeriod(state []uint64, at int64) countedPeriod {
	d := loadPeriod(state)
	for d.has(overdrawnFlag) {
		if d = r.periodAfter(d); at < d.End*nanosPerSecond {
			return d
		}
	}
	if d.End != 0 && at < r.forgottenAt(d)*nanosPerSecond {
		if d = r.periodAfter(d); at < d.End*nanosPerSecond {
			return d
		}
	}
	return countedPeriod{Period: r.calendar.PeriodOf(at / nanosPerSecond)}
}

func (r *Rule) levelOfPeriod(d countedPeriod) level {
	return level{d.count, r.allowance(d), d.End * nanosPerSecond}
}

// calendarIn returns the calendar of the parameters in a zone.
func (p *Params) calendarIn(zone string) (*Calendar, error) {
	days, err := NewCalendar(zone, p.ResetAt)
	if err != nil {
		return nil, err
	}
	return days.Divide(p.Period, p.FirstDay)
}
