package limits

import "cmp"

// dailyWindow allows a number of messages in each day of a calendar.
//
// The row holds the current day, so that a decision within that day needs no calendar. If the
// calendar changes during a day, the day continues to its end, and a transitional day follows. The
// transitional day lasts until the first boundary that is at least 12 h away. Its allowance is
// proportional to its length, relative to 24 h. So a user gains nothing from a change of zone.
var dailyWindow = algorithm{
	name:   "daily-window",
	code:   2,
	size:   2,
	params: []string{"messages", "timezone", "reset_at"},

	compile: func(p Params, r *Rule) (err error) {
		if err := checkCount("messages", p.Messages, MaxMessages); err != nil {
			return err
		}
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
			if !d.changing {
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
			d.store(state)
		}
	},

	level: func(r *Rule, state []uint64, at int64) level { return r.levelOfDay(r.dayAt(state, at)) },

	expiry: func(r *Rule, state []uint64) int64 {
		d := loadDay(state)
		switch {
		case d.changing:
			d = r.dayAfter(d)
		case d.count == 0 && !d.partial:
			return 0
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
		d.changing = r.calendar.FirstBoundary(d.End) != d.End
		d.store(state)
	},

	windowEnd: func(r *Rule, state []uint64, at int64) int64 { return r.dayAt(state, at).End * nanosPerSecond },
}

// countedDay is a user's state in a daily window.
type countedDay struct {
	Day
	count int64
	// changing means that the calendar has changed: the day after this one is transitional.
	changing bool
	// partial means that this day is transitional: its allowance is proportional to its length.
	partial bool
}

// The words of a countedDay: start of the day << 24 | its length, both in seconds; flags | count.
const (
	lengthBits   = 24
	changingFlag = 1 << 62
	partialFlag  = 1 << 63
)

func loadDay(state []uint64) countedDay {
	start := int64(state[0] >> lengthBits)
	return countedDay{
		Day:      Day{Start: start, End: start + int64(state[0]&(1<<lengthBits-1))},
		count:    int64(state[1] &^ (changingFlag | partialFlag)),
		changing: state[1]&changingFlag != 0,
		partial:  state[1]&partialFlag != 0,
	}
}

// inTransition reports whether a calendar change is in progress on this day.
func (d countedDay) inTransition() bool { return d.changing || d.partial }

// withoutCount returns the day with a count of zero.
func (d countedDay) withoutCount() countedDay {
	d.count = 0
	return d
}

func (d countedDay) store(state []uint64) {
	d.Start = max(0, d.Start) // there are no times before 1970
	state[0] = uint64(d.Start)<<lengthBits | uint64(d.End-d.Start)
	state[1] = uint64(d.count)
	if d.changing {
		state[1] |= changingFlag
	}
	if d.partial {
		state[1] |= partialFlag
	}
}

// dayAt returns the day that contains the time, which isn't before the day in the row.
func (r *Rule) dayAt(state []uint64, at int64) countedDay {
	d := loadDay(state)
	if at < d.End*nanosPerSecond {
		return d
	}
	if d.changing {
		if next := r.dayAfter(d); at < next.End*nanosPerSecond {
			return next
		}
	}
	return countedDay{Day: r.calendar.DayOf(at / nanosPerSecond)}
}

// dayAfter returns the transitional day that follows d, with a count of zero. The calendar has
// changed during d.
func (r *Rule) dayAfter(d countedDay) countedDay {
	least := int64(secondsPerDay / 2)
	if r.capacity == 1 {
		least = secondsPerDay // half of a single message would round down to none
	}
	return countedDay{Day: Day{Start: d.End, End: r.calendar.FirstBoundary(d.End + least)}, partial: true}
}

func (r *Rule) levelOfDay(d countedDay) level {
	return level{d.count, r.allowance(d), d.End * nanosPerSecond}
}

// allowance returns how many messages fit in the day.
func (r *Rule) allowance(d countedDay) int64 {
	if !d.partial {
		return r.capacity
	}
	return r.capacity * min(d.End-d.Start, secondsPerDay) / secondsPerDay
}
