package limits

import (
	"cmp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	// Zone data is embedded, so that days end correctly on machines without zone files too.
	_ "time/tzdata"
)

const (
	secondsPerHour = 60 * 60
	secondsPerDay  = 24 * secondsPerHour
)

// Calendar divides time into the days, weeks or months of a zone. All of them begin at the same
// local time, resetAt. It is safe for concurrent use.
//
// The day of a local date D begins at the first instant whose local time is at or after resetAt on
// D. If a clock change skips that time, the day begins at the end of the gap. If a clock change
// repeats that time, the day begins at the earlier of the two. If the zone skips a whole date, the
// day of that date also begins at the end of the gap. No day is empty: if the next date begins at
// the same instant, as it does if resetAt is midnight, the skipped date has no day. A week begins
// with the day of its first weekday, and a month with the day of the 1st.
type Calendar struct {
	name     string // zone, time of day and unit
	location *time.Location
	resetAt  int64 // seconds after local midnight
	unit     unit
	firstDay int64 // of a week; 0 is Monday
	recent   atomic.Pointer[Period]
}

// Period is a day, week or month, in seconds since the Unix epoch. It includes Start and excludes
// End.
type Period struct{ Start, End int64 }

// NewCalendar returns the calendar of an IANA zone (empty means UTC) with days that begin at
// "HH:MM" (empty means midnight).
func NewCalendar(timezone, resetAt string) (*Calendar, error) {
	location, err := time.LoadLocation(timezone)
	if err != nil || timezone == "Local" {
		return nil, MistakeIn("timezone", timezone, "unknown timezone %q (want an IANA name such as Europe/Berlin)", timezone)
	}
	t, err := time.Parse("15:04", cmp.Or(resetAt, "00:00"))
	if err != nil || resetAt != "" && len(resetAt) != len("15:04") {
		return nil, MistakeIn("reset_at", resetAt, "reset_at %q is not a time of day (want HH:MM, from 00:00 to 23:59)", resetAt)
	}
	return &Calendar{
		name:     location.String() + t.Format(" 15:04"),
		location: location,
		resetAt:  int64(t.Hour()*secondsPerHour + t.Minute()*60),
	}, nil
}

// String returns the name of the calendar: "Europe/Berlin 00:00", "Europe/Berlin 00:00 week sunday"
// or "Europe/Berlin 00:00 month". A nil calendar is "".
func (c *Calendar) String() string {
	if c == nil {
		return ""
	}
	return c.name
}

// storedCalendars caches the calendars named in stored rows. Calendars never change, so all tables
// share them.
var storedCalendars calendars

// calendars looks up calendars by name. The zero value is ready to use, and it is safe for
// concurrent use.
type calendars struct {
	mu    sync.Mutex
	known map[string]*Calendar
}

// find returns the calendar for a name written by String, or nil for an empty name. atHand is a
// calendar that probably has the name; it may be nil.
func (c *calendars) find(stored []byte, atHand *Calendar) (*Calendar, error) {
	switch string(stored) {
	case "":
		return nil, nil
	case atHand.String():
		return atHand, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.known[string(stored)]; found != nil {
		return found, nil
	}
	name := string(stored)
	zone, rest, _ := strings.Cut(name, " ")
	resetAt, rest, _ := strings.Cut(rest, " ")
	period, firstDay, _ := strings.Cut(rest, " ")
	made, err := NewCalendar(zone, resetAt)
	if err == nil {
		made, err = made.Divide(period, firstDay)
	}
	if err != nil {
		return nil, err
	}
	if c.known == nil {
		c.known = map[string]*Calendar{}
	}
	c.known[name] = made
	return made, nil
}

// PeriodOf returns the period that contains the second t.
func (c *Calendar) PeriodOf(t int64) Period {
	if d := c.recent.Load(); d != nil && d.Start <= t && t < d.End {
		return *d
	}
	d := c.findPeriod(t)
	c.recent.Store(&d)
	return d
}

// findPeriod is PeriodOf without the period that was found last.
func (c *Calendar) findPeriod(t int64) Period {
	// A zone can be a day ahead of the date that its current offset gives, and it can skip a date.
	// So the day two dates later begins after t.
	date := c.nextDate(floorDiv(t+c.offset(t), secondsPerDay) + 1)
	d := Period{End: c.boundary(date)}
	for {
		date = c.firstDate(date - 1)
		d.Start = c.boundary(date)
		if d.Start <= t {
			return d
		}
		d.End = d.Start
	}
}

// Local returns the second t as local time.
func (c *Calendar) Local(t int64) time.Time {
	return time.Unix(t, 0).In(c.location)
}

// FirstBoundary returns the first second at or after t at which a period begins.
func (c *Calendar) FirstBoundary(t int64) int64 {
	if d := c.findPeriod(t); d.Start < t { // probably not the present period
		return d.End
	}
	return t
}

// boundary returns the first second at which the local clock shows resetAt on the date (in days
// since 1970-01-01), or later. It examines each period of constant offset around that time, because
// the local clock is monotonic only within such a period.
func (c *Calendar) boundary(date int64) int64 {
	local := date*secondsPerDay + c.resetAt
	t := local - 26*secondsPerHour // earlier than that local time in every zone
	for {
		offset := c.offset(t)
		end := t + secondsPerHour
		if c.offset(end) != offset {
			end = c.offsetChange(t, end)
		}
		if local-offset < end {
			return max(t, local-offset)
		}
		t = end
	}
}

// offsetChange returns the first second after from whose offset differs from that of from. The
// offset at to must differ from that of from.
func (c *Calendar) offsetChange(from, to int64) int64 {
	offset := c.offset(from)
	for to-from > 1 {
		if mid := from + (to-from)/2; c.offset(mid) == offset {
			from = mid
		} else {
			to = mid
		}
	}
	return to
}

// offset returns the number of seconds that local time is ahead of UTC.
func (c *Calendar) offset(t int64) int64 {
	_, seconds := c.Local(t).Zone()
	return int64(seconds)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
