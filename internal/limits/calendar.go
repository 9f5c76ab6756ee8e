package limits

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // a day ends when its zone says so, on machines without zone files too
)

const (
	secondsPerHour = 60 * 60
	secondsPerDay  = 24 * secondsPerHour
)

// Calendar divides time into the days of a zone, each of which begins at the same local time. It is safe for concurrent use.
//
// The day of a local date D begins at the first instant whose local time is at or after D resetAt: the end of the gap where a clock
// change skips that time, the earlier of two where it repeats it. So does the day of a date that the zone skips: at the gap's end. No day is
// empty: where the next date begins there too, as it does at midnight, the skipped one has none.
type Calendar struct {
	name     string // zone and time of day
	location *time.Location
	resetAt  int64 // seconds after local midnight
	recent   atomic.Pointer[Day]
}

// Day is a span of time, in seconds since the Unix epoch: from Start on and before End.
type Day struct{ Start, End int64 }

// NewCalendar returns the calendar of an IANA zone (empty means UTC) whose days begin at "HH:MM" (empty means midnight).
func NewCalendar(timezone, resetAt string) (*Calendar, error) {
	location, err := time.LoadLocation(timezone)
	if err != nil || timezone == "Local" {
		return nil, fmt.Errorf("unknown timezone %q (want an IANA name such as Europe/Berlin)", timezone)
	}
	t, err := time.Parse("15:04", cmp.Or(resetAt, "00:00"))
	if err != nil || resetAt != "" && len(resetAt) != len("15:04") {
		return nil, fmt.Errorf("reset_at %q is no time of day (want HH:MM, from 00:00 to 23:59)", resetAt)
	}
	return &Calendar{
		name:     location.String() + t.Format(" 15:04"),
		location: location,
		resetAt:  int64(t.Hour()*secondsPerHour + t.Minute()*60),
	}, nil
}

// String names the calendar: "Europe/Berlin 00:00". No calendar is "".
func (c *Calendar) String() string {
	if c == nil {
		return ""
	}
	return c.name
}

// storedCalendars are those that stored rows name. They never change, so that all tables share them.
var storedCalendars calendars

// calendars finds calendars by their names. Its zero value is ready, and it is safe for concurrent use.
type calendars struct {
	mu    sync.Mutex
	known map[string]*Calendar
}

// named returns the calendar that String named, nil for none; atHand is a likely one, and may be nil.
func (c *calendars) named(stored []byte, atHand *Calendar) (*Calendar, error) {
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
	zone, resetAt, _ := strings.Cut(name, " ")
	made, err := NewCalendar(zone, resetAt)
	if err != nil {
		return nil, err
	}
	if c.known == nil {
		c.known = map[string]*Calendar{}
	}
	c.known[name] = made
	return made, nil
}

// DayOf returns the day that contains the second t.
func (c *Calendar) DayOf(t int64) Day {
	if d := c.recent.Load(); d != nil && d.Start <= t && t < d.End {
		return *d
	}
	// A zone can be a day ahead of its own offset's date, and skip one: two dates on either side are enough.
	date := floorDiv(t+c.offset(t), secondsPerDay) + 2
	d := Day{End: c.boundary(date)}
	for {
		date--
		d.Start = c.boundary(date)
		if d.Start <= t {
			break
		}
		d.End = d.Start
	}
	c.recent.Store(&d)
	return d
}

// Local returns the second t as the zone's clock shows it.
func (c *Calendar) Local(t int64) time.Time {
	return time.Unix(t, 0).In(c.location)
}

// FirstBoundary returns the first second from t on at which a day begins.
func (c *Calendar) FirstBoundary(t int64) int64 {
	if d := c.DayOf(t); d.Start < t {
		return d.End
	}
	return t
}

// boundary returns the first second at which the local clock shows the date (in days since 1970-01-01) at resetAt, or later.
// It walks over the stretches of constant offset around that time, because the local clock is only monotone within one.
func (c *Calendar) boundary(date int64) int64 {
	local := date*secondsPerDay + c.resetAt
	t := local - 26*secondsPerHour // before it by any zone's clock
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

// offsetChange returns the first second after from, and at most to, with another offset than from has.
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

// offset returns by how many seconds the local clock is ahead of UTC.
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
