package limits

import (
	"testing"
	"time"
)

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
		must(t, err)
		unix := func(s string) int64 {
			at, err := time.Parse(time.RFC3339, s)
			must(t, err)
			return at.Unix()
		}
		if got, want := calendar.DayOf(unix(test.at)), (Day{unix(test.start), unix(test.end)}); got != want {
			t.Errorf("%s %s: day of %s is %v, want %v", test.zone, test.resetAt, test.at, got, want)
		}
	}
}
