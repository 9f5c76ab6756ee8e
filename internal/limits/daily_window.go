package limits

import "cmp"

// dailyWindow allows a number of messages in each day of a calendar.
//
// The row holds the current day, so that a decision within that day needs no calendar. If the
// calendar changes during a day, the day continues to its end, and a transitional day follows. The
// transitional day lasts until the first boundary at least 12 h after its start (24 h if the
// capacity is 1). Its allowance is proportional to its length, and whole from 24 h on. So a user
// gains nothing from a change of zone.
var dailyWindow = algorithm{
	name:   "daily-window",
	code:   2,
	size:   2,
	params: []Parameter{countParameter("messages", MaxMessages, 300), {Name: "timezone", Kind: Zone}, {Name: "reset_at", Kind: Clock}},

	compile: func(p Params, r *Rule) (err error) {
		r.capacity = p.Messages
		r.calendar, err = NewCalendar(cmp.Or(p.Timezone, p.DefaultZone), p.ResetAt)
		return err
	},

	isValid: func(old *Rule, state []uint64, _ int64) bool {
		if old.calendar == nil || len(state) != 2 {
			return false
		}
		d := loadDay(state)
		return d.End < MaxTime/nanosPerSecond && d.count <= MaxMessages
	},

	next: func(r *Rule, state []uint64, at, n int64) int64 {
		if n > r.capacity {
			return Never
		}
		d := r.dayAt(state, at)
		for n > r.allowance(d)-d.count {
			at = d.End * nanosPerSecond
			if !d.has(changingFlag | overdrawnFlag) {
				break // a whole day follows
			}
			d = r.dayAfter(d)
		}
		return at
	},

	spend: func(r *Rule, state []uint64, at, n int64) level {
		d := r.dayAt(state, at)
		d.count += n
		d.store(state)
		return r.levelOfDay(d)
	},

	overdraw: func(r *Rule, state []uint64, at, n int64) {
		d := r.dayAt(state, at)
		d.count = addCapped(d.count, n, MaxMessages)
		d.set(overdrawnFlag, d.count > r.allowance(d))
		d.store(state)
	},

	charge: func(r *Rule, state []uint64, at, n int64) (counted int64) {
		d := r.dayAt(state, at)
		before := d.count
		d.count = addCapped(d.count, n, r.allowance(d))
		d.store(state)
		return d.count - before
	},

	refund: func(r *Rule, state []uint64, back spentMessage, at int64) {
		if d := r.dayAt(state, at); back.at >= d.Start*nanosPerSecond {
			d.count = max(0, d.count-back.n)
			d.set(overdrawnFlag, d.has(overdrawnFlag) && d.count > r.allowance(d))
			d.store(state)
		}
	},

	level: func(r *Rule, state []uint64, at int64) level { return r.levelOfDay(r.dayAt(state, at)) },

	picture: func(r *Rule, state []uint64, at int64) Picture {
		d := r.dayAt(state, at)
		return Picture{From: d.Start * nanosPerSecond, Until: d.End * nanosPerSecond, Count: d.count}
	},

	expiry: func(r *Rule, state []uint64) int64 {
		d := loadDay(state)
		if d.count == 0 && !d.inTransition() {
			return 0
		}
		for d.has(changingFlag | overdrawnFlag) {
			d = r.dayAfter(d)
		}
		return d.End * nanosPerSecond
	},

	rewind: func(r *Rule, state []uint64, last, at int64) {
		if d := r.dayAt(state, last); d.Start*nanosPerSecond > at {
			countedDay{Day: r.calendar.DayOf(at / nanosPerSecond), count: d.count}.store(state)
		}
	},

	convert: func(old, r *Rule, before, state []uint64, at int64) {
		copy(state, before)
		if old.calendar.name == r.calendar.name {
			return
		}
		d := loadDay(before)
		if at >= d.End*nanosPerSecond {
			d = old.dayAt(before, at) // a day without usage continues to its end, too
		}
		d.set(changingFlag, true)
		d.store(state)
	},

	windowEnd: func(r *Rule, state []uint64, at int64) int64 { return r.dayAt(state, at).End * nanosPerSecond },
}

// countedDay is a user's state in a daily window.
type countedDay struct {
	Day
	count int64
	flags uint64 // see below; a struct with a field for each would be slower
}

// The words of a countedDay: start of the day << 24 | its length, both in seconds; flags | count.
const lengthBits = 24

// The flags of a countedDay.
const (
	// changingFlag means that the calendar has changed: this day need not be one of the new
	// calendar's days, and the day after it may be transitional.
	changingFlag = 1 << 62
	// partialFlag means that this day is transitional: its allowance is proportional to its length.
	partialFlag = 1 << 63
	// The excess of a day with overdrawnFlag counts on the next day.
	dayFlags = overdrawnFlag | changingFlag | partialFlag
)

func loadDay(state []uint64) countedDay {
	start := int64(state[0] >> lengthBits)
	return countedDay{
		Day:   Day{Start: start, End: start + int64(state[0]&(1<<lengthBits-1))},
		count: int64(state[1] &^ dayFlags),
		flags: state[1] & dayFlags,
	}
}

func (d countedDay) has(flag uint64) bool { return d.flags&flag != 0 }

// set sets or clears a flag.
func (d *countedDay) set(flag uint64, on bool) {
	if d.flags &^= flag; on {
		d.flags |= flag
	}
}

// inTransition reports whether a calendar change is in progress on this day.
func (d countedDay) inTransition() bool { return d.has(changingFlag | partialFlag) }

// withoutCount returns the day with a count of zero.
func (d countedDay) withoutCount() countedDay {
	d.count = 0
	d.flags &^= overdrawnFlag
	return d
}

func (d countedDay) store(state []uint64) {
	d.Start = max(0, d.Start) // there are no times before 1970
	state[0] = uint64(d.Start)<<lengthBits | uint64(d.End-d.Start)
	state[1] = uint64(d.count) | d.flags
}

// dayAt returns the day that contains the time. The time must not be before the day in the row.
func (r *Rule) dayAt(state []uint64, at int64) countedDay {
	if d := loadDay(state); at < d.End*nanosPerSecond {
		return d
	}
	return r.laterDay(state, at)
}

// laterDay is dayAt for a day after the one in the row.
func (r *Rule) laterDay(state []uint64, at int64) countedDay {
	for d := loadDay(state); d.has(changingFlag | overdrawnFlag); {
		if d = r.dayAfter(d); at < d.End*nanosPerSecond {
			return d
		}
	}
	return countedDay{Day: r.calendar.DayOf(at / nanosPerSecond)}
}

// dayAfter returns the day that follows d. Either d is overdrawn, or the calendar has changed
// during d. The day after such a change is transitional, unless the calendar has a boundary at the
// end of d. The excess of an overdrawn day counts on the next.
func (r *Rule) dayAfter(d countedDay) (next countedDay) {
	if d.has(changingFlag) && r.calendar.FirstBoundary(d.End) != d.End {
		least := int64(secondsPerDay / 2)
		if r.capacity == 1 {
			least = secondsPerDay // half of a single message would round down to none
		}
		next.Day, next.flags = Day{Start: d.End, End: r.calendar.FirstBoundary(d.End + least)}, partialFlag
	} else {
		next.Day = r.calendar.DayOf(d.End)
	}
	if d.has(overdrawnFlag) {
		next.count = min(max(0, d.count-r.allowance(d)), maxCarriedDays*r.capacity)
		next.set(overdrawnFlag, next.count > r.allowance(next))
	}
	return next
}

// maxCarriedDays is the maximum number of later days whose allowances an overdrawn day uses up.
const maxCarriedDays = 1000

func (r *Rule) levelOfDay(d countedDay) level {
	return level{d.count, r.allowance(d), d.End * nanosPerSecond}
}

// allowance returns how many messages fit in the day.
func (r *Rule) allowance(d countedDay) int64 {
	if !d.has(partialFlag) {
		return r.capacity
	}
	return r.capacity * min(d.End-d.Start, secondsPerDay) / secondsPerDay
}
