//go:build !race

package limits

import (
	"testing"
	"time"
)

// boundaryByScan follows the definition of a boundary literally: the first minute whose local clock
// shows the date at reset or later.
func boundaryByScan(location *time.Location, date time.Time, reset time.Duration) time.Time {
	wanted := date.Add(reset).Unix()
	for t := date.Add(reset - 26*time.Hour); ; t = t.Add(time.Minute) {
		if _, offset := t.In(location).Zone(); t.Unix()+int64(offset) >= wanted {
			return t
		}
	}
}

// hardZones are zones with difficult days: skipped and repeated midnights, half-hour changes,
// skipped dates, and offsets far from UTC.
var hardZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "America/Havana", "America/Santiago", "Asia/Beirut", "Africa/Cairo",
	"Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kwajalein", "Pacific/Kiritimati", "Asia/Kathmandu", "Africa/Casablanca", "Asia/Tehran",
	"America/Asuncion", "Atlantic/Azores", "Antarctica/Troll", "America/Scoresbysund", "Asia/Gaza", "America/Caracas", "Asia/Pyongyang",
}

func TestCalendar_Boundaries(t *testing.T) {
	for _, zone := range hardZones {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		resets := []string{"02:30", "00:00", "23:59"}
		if testing.Short() {
			resets = resets[:1]
		}
		for _, resetAt := range resets {
			calendar, err := NewCalendar(zone, resetAt)
			if err != nil {
				t.Fatal(err)
			}
			reset, _ := time.Parse("15:04", resetAt)
			for _, date := range datesOfChange(location) {
				want := boundaryByScan(location, date, reset.Sub(reset.Truncate(24*time.Hour)))
				if got := calendar.boundary(date.Unix() / secondsPerDay); got != want.Unix() {
					t.Errorf("%s at %s: %s begins at %s, want %s", zone, resetAt, date.Format(time.DateOnly), time.Unix(got, 0).In(location), want.In(location))
				}
			}
		}
	}
}

// datesOfChange returns the dates on which the offset changes, with a day on either side, from 2000
// to 2037.
func datesOfChange(location *time.Location) []time.Time {
	var dates []time.Time
	offset := func(t time.Time) int { _, o := t.In(location).Zone(); return o }
	for d := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() < 2038; d = d.AddDate(0, 0, 1) {
		if offset(d.AddDate(0, 0, -2)) != offset(d.AddDate(0, 0, 2)) {
			dates = append(dates, d)
		}
	}
	return dates
}

func TestCalendar_Days(t *testing.T) {
	tests := []struct{ zone, resetAt, at, start, end string }{
		// 23 h
		{"Europe/Berlin", "", "2026-03-29T12:00:00+02:00", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		// 25 h
		{"Europe/Berlin", "", "2026-10-25T12:00:00+01:00", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"},
		// skipped: the gap's end
		{"Europe/Berlin", "02:30", "2026-03-29T12:00:00+02:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"},
		// repeated: the earlier
		{"Europe/Berlin", "02:30", "2026-10-25T12:00:00+01:00", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		// no midnight
		{"America/Sao_Paulo", "", "2018-11-04T12:00:00-02:00", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		// two midnights
		{"America/Havana", "", "2024-11-03T00:30:00-05:00", "2024-11-03T00:00:00-04:00", "2024-11-04T00:00:00-05:00"},
		// no 30 December
		{"Pacific/Apia", "", "2011-12-29T12:00:00-10:00", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		// end of a leap year
		{"UTC", "", "2024-12-31T23:59:59Z", "2024-12-31T00:00:00Z", "2025-01-01T00:00:00Z"},
		{"America/New_York", "00:00", "2024-12-31T23:59:59-05:00", "2024-12-31T00:00:00-05:00", "2025-01-01T00:00:00-05:00"},
	}
	for _, test := range tests {
		calendar, err := NewCalendar(test.zone, test.resetAt)
		if err != nil {
			t.Fatal(err)
		}
		unix := func(s string) int64 {
			at, err := time.Parse(time.RFC3339, s)
			if err != nil {
				t.Fatal(err)
			}
			return at.Unix()
		}
		if got, want := calendar.DayOf(unix(test.at)), (Day{unix(test.start), unix(test.end)}); got != want {
			t.Errorf("%s %s: day of %s is %v, want %v", test.zone, test.resetAt, test.at, got, want)
		}
	}
}

func TestCalendar_DaysAreContiguous(t *testing.T) {
	for _, zone := range hardZones {
		calendar, err := NewCalendar(zone, "04:00")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		d := calendar.DayOf(start)
		for d.End < start+38*366*secondsPerDay {
			next := calendar.DayOf(d.End)
			if next.Start != d.End || next.End <= next.Start || calendar.DayOf(next.End-1) != next {
				t.Fatalf("%s: after %v comes %v", zone, d, next)
			}
			d = next
		}
	}
}
