package limits

import (
	"math/big"
	"time"
)

const aDay = int64(24 * time.Hour)

// plainDaily counts in the periods of calendars, which never overlap. The calendar is the limit's,
// or that of the user's zone if the numbers have one.
type plainDaily struct {
	calendar *plainCalendar
	period   plainDay // of the count; zero if none is remembered
	count    int64
	// carries is set after a change to shorter periods if what was used exceeds one of them.
	carries bool
}

func (d *plainDaily) calendarFor(p plainNumbers) *plainCalendar {
	if p.calendar != nil {
		return p.calendar
	}
	return d.calendar
}

// day returns the period that contains the time, which isn't before the last one. That one
// continues to its end, and is remembered for the length of a period after it.
func (d *plainDaily) day(at int64, p plainNumbers) plainDay {
	if at < d.period.end {
		return d.period
	}
	c := d.calendarFor(p)
	if d.period.end > 0 && at-d.period.end < c.days*aDay {
		if next := c.after(d.period.end); at < next.end {
			return next
		}
	}
	return c.day(at)
}

// at returns the ledger as of a later time.
func (d *plainDaily) at(at int64, p plainNumbers) plainDaily {
	now := *d
	for now.carries && now.period.end <= at {
		now = now.carry(p)
	}
	if now.period.end <= at {
		now.period, now.count, now.carries = now.day(at, p), 0, false
	}
	return now
}

// carry returns the ledger in the period after the one that carries.
func (d plainDaily) carry(p plainNumbers) plainDaily {
	d.count = max(0, d.count-d.period.allowance(p.capacity))
	d.period = d.calendarFor(p).after(d.period.end)
	d.carries = d.count > d.period.allowance(p.capacity)
	return d
}

func (d *plainDaily) room(at int64, p plainNumbers) int64 {
	now := d.at(at, p)
	return now.period.allowance(p.capacity) - now.count
}

func (d *plainDaily) fits(at, n int64, p plainNumbers) bool { return n <= d.room(at, p) }

func (d *plainDaily) spend(at, n int64, p plainNumbers) {
	*d = d.at(at, p)
	d.count += n
}

func (d *plainDaily) charge(at, n int64, p plainNumbers) {
	d.spend(at, min(n, max(0, d.room(at, p))), p)
}

func (d *plainDaily) refund(at, n int64, p plainNumbers) {
	now := d.at(at, p)
	d.spend(at, -min(n, now.count), p)
	d.carries = d.carries && d.room(at, p) < 0
}

// jump turns a later period into the current one, and drops usage that had expired at the last use.
func (d *plainDaily) jump(last, to int64, p plainNumbers) {
	if then := d.at(last, p); then.period.start > to && d.period.end > 0 {
		d.period, d.count, d.carries = d.calendarFor(p).day(to), then.count, false
	}
}

func (d *plainDaily) clone() ledger { c := *d; return &c }

// convert puts another calendar in force.
func (d *plainDaily) convert(at int64, to *plainCalendar, old, p plainNumbers) {
	if to.days == d.calendar.days {
		d.calendar = to
		return
	}
	forgotten := at-d.lastEnd(old) >= d.calendar.days*aDay // also if there is no period
	*d = d.at(at, old)
	if to.days > d.calendar.days {
		d.calendar, d.period = to, to.partial(d.period.start)
		d.carries = d.carries && d.room(at, p) < 0
	} else {
		d.shorten(at, to, old, p)
	}
	if forgotten && d.period.whole == 0 {
		d.period = plainDay{}
	}
}

// shorten lets a shorter period begin at once. What was used counts in it. What exceeds the share
// of the time that has passed also counts in the following ones, but not in those after the old
// one's end.
func (d *plainDaily) shorten(at int64, to *plainCalendar, old, p plainNumbers) {
	before, end := d.period, d.lastEnd(old)
	now := to.day(at)
	if now.start < before.start {
		now = to.partial(before.start)
	}
	passed := big.NewRat(now.start-before.start, before.end-before.start)
	share := passed.Mul(passed, big.NewRat(before.allowance(old.capacity), 1))
	excess := d.count - new(big.Int).Quo(share.Num(), share.Denom()).Int64()
	most := now.allowance(p.capacity)
	for left := end - now.end; left > 0; left -= to.days * aDay {
		most += p.capacity
	}
	d.calendar, d.period, d.count = to, now, min(max(min(d.count, now.allowance(p.capacity)), excess), most)
	d.carries = d.count > now.allowance(p.capacity)
}

// lastEnd returns the end of the last period in which the count counts.
func (d plainDaily) lastEnd(p plainNumbers) int64 {
	for d.carries {
		d = d.carry(p)
	}
	return d.period.end
}

// plainDay is a period: start is included, end is not.
type plainDay struct {
	start, end int64
	whole      int64 // of a transitional period: the length with the whole allowance
}

func (d plainDay) allowance(messages int64) int64 {
	if d.whole > 0 {
		return messages * min(d.end-d.start, d.whole) / d.whole
	}
	return messages
}

// after returns the period that begins at a time: a transitional one, unless the calendar has a
// boundary there.
func (c *plainCalendar) after(start int64) plainDay {
	if day := c.day(start); day.start == start {
		return day
	}
	return c.partial(start)
}

// partial returns a transitional period. It lasts until the first boundary that is at least half of
// the longest period away. It assumes a limit of more than one message.
func (c *plainCalendar) partial(start int64) plainDay {
	whole := c.day(start)
	end := start + c.days*aDay/2
	if day := c.day(end); day.start < end {
		end = day.end
	}
	if whole.start == start && whole.end == end {
		return whole
	}
	return plainDay{start: start, end: end, whole: c.days * aDay}
}

// plainCalendar finds periods by checking the local time every quarter of an hour, which covers all
// clock changes and resets used here.
type plainCalendar struct {
	name       string
	days       int64 // of the longest period
	starts     func(date time.Time) bool
	location   *time.Location
	resetAt    string
	boundaries map[time.Time]int64 // cache, by date
	recent     plainDay
}

var plainCalendars = map[string]*plainCalendar{}

func plainCalendarOf(l Limit) *plainCalendar {
	c := &plainCalendar{resetAt: l.ResetAt, boundaries: map[time.Time]int64{}}
	if c.resetAt == "" {
		c.resetAt = "00:00"
	}
	switch l.Period {
	case "week":
		c.days, c.starts = 7, func(date time.Time) bool {
			return date.Weekday() == map[string]time.Weekday{"": time.Monday, "sunday": time.Sunday, "thursday": time.Thursday}[l.FirstDay]
		}
	case "month":
		c.days, c.starts = 31, func(date time.Time) bool { return date.Day() == 1 }
	default:
		c.days, c.starts = 1, func(time.Time) bool { return true }
	}
	c.name = l.Timezone + " " + c.resetAt + " " + l.Period + " " + l.FirstDay
	if known := plainCalendars[c.name]; known != nil {
		return known
	}
	var err error
	if c.location, err = time.LoadLocation(l.Timezone); err != nil {
		panic(err)
	}
	plainCalendars[c.name] = c
	return c
}

// boundary returns the first instant whose local time is at or after reset_at of that date.
func (c *plainCalendar) boundary(date time.Time) int64 {
	if _, ok := c.boundaries[date]; !ok {
		resetAt := date.Format(time.DateOnly) + " " + c.resetAt
		t := date.Add(-15 * time.Hour) // the day before, in every zone
		for t.In(c.location).Format("2006-01-02 15:04") < resetAt {
			t = t.Add(15 * time.Minute)
		}
		c.boundaries[date] = t.UnixNano()
	}
	return c.boundaries[date]
}

func (c *plainCalendar) day(at int64) plainDay {
	if c.recent.start <= at && at < c.recent.end {
		return c.recent
	}
	year, month, date := time.Unix(0, at).In(c.location).Date()
	day := plainDay{}
	for around := -33; around <= 33; around++ {
		date := time.Date(year, month, date+around, 0, 0, 0, 0, time.UTC)
		if !c.starts(date) {
			continue
		}
		switch boundary := c.boundary(date); {
		case boundary <= at:
			day.start = boundary
		case day.end == 0:
			day.end = boundary
		}
	}
	c.recent = day
	return day
}
