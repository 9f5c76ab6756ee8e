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
		checkPeriod(t, calendarOf(t, test.zone, test.resetAt, "", ""), test.at, test.start, test.end)
	}
}

func TestCalendar_Weeks(t *testing.T) {
	tests := []struct{ zone, resetAt, firstDay, at, start, end string }{
		{"UTC", "", "", "2026-11-27T20:00:00Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"UTC", "", "monday", "2026-11-23T00:00:00Z", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"UTC", "", "sunday", "2026-11-28T23:59:59Z", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z"},
		{"UTC", "23:30", "saturday", "2026-11-28T23:29:59Z", "2026-11-21T23:30:00Z", "2026-11-28T23:30:00Z"},
		// across the end of a year
		{"UTC", "", "", "2027-01-03T12:00:00Z", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		// an hour less, and an hour more
		{"Europe/Berlin", "", "", "2026-03-28T12:00:00+01:00", "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"Europe/Berlin", "02:30", "sunday", "2026-10-26T12:00:00+01:00", "2026-10-25T02:30:00+02:00", "2026-11-01T02:30:00+01:00"},
		// no midnight on the first day
		{"Asia/Beirut", "", "sunday", "2026-03-30T12:00:00+03:00", "2026-03-29T01:00:00+03:00", "2026-04-05T00:00:00+03:00"},
		{"Africa/Cairo", "", "friday", "2026-04-26T12:00:00+03:00", "2026-04-24T01:00:00+03:00", "2026-05-01T00:00:00+03:00"},
		// no 30 December: six days
		{"Pacific/Apia", "", "", "2011-12-29T12:00:00-10:00", "2011-12-26T00:00:00-10:00", "2012-01-02T00:00:00+14:00"},
		// the missing day would be the first
		{"Pacific/Apia", "", "friday", "2011-12-29T12:00:00-10:00", "2011-12-23T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},
		{"Pacific/Apia", "", "friday", "2011-12-31T00:00:00+14:00", "2011-12-31T00:00:00+14:00", "2012-01-06T00:00:00+14:00"},
	}
	for _, test := range tests {
		checkPeriod(t, calendarOf(t, test.zone, test.resetAt, "week", test.firstDay), test.at, test.start, test.end)
	}
}

func TestCalendar_Months(t *testing.T) {
	tests := []struct{ zone, resetAt, at, start, end string }{
		{"UTC", "", "2026-11-30T23:59:59Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"UTC", "", "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		// 28 and 29 days
		{"Asia/Tokyo", "", "2026-02-28T23:59:59+09:00", "2026-02-01T00:00:00+09:00", "2026-03-01T00:00:00+09:00"},
		{"Asia/Tokyo", "", "2028-02-29T23:59:59+09:00", "2028-02-01T00:00:00+09:00", "2028-03-01T00:00:00+09:00"},
		{"Asia/Tokyo", "", "2100-02-28T23:59:59+09:00", "2100-02-01T00:00:00+09:00", "2100-03-01T00:00:00+09:00"},
		// the 1st begins late
		{"UTC", "23:30", "2026-03-01T23:29:59Z", "2026-02-01T23:30:00Z", "2026-03-01T23:30:00Z"},
		// an hour less, and an hour more
		{"Europe/Berlin", "", "2026-03-15T12:00:00+01:00", "2026-03-01T00:00:00+01:00", "2026-04-01T00:00:00+02:00"},
		{"Europe/Berlin", "", "2026-10-15T12:00:00+02:00", "2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00"},
		// no midnight, and two midnights, on the 1st
		{"America/Asuncion", "", "2023-10-15T12:00:00-03:00", "2023-10-01T01:00:00-03:00", "2023-11-01T00:00:00-03:00"},
		{"America/Havana", "", "2026-11-01T00:30:00-05:00", "2026-11-01T00:00:00-04:00", "2026-12-01T00:00:00-05:00"},
		// no 30 December: 30 days
		{"Pacific/Apia", "", "2011-12-31T12:00:00+14:00", "2011-12-01T00:00:00-10:00", "2012-01-01T00:00:00+14:00"},
	}
	for _, test := range tests {
		checkPeriod(t, calendarOf(t, test.zone, test.resetAt, "month", ""), test.at, test.start, test.end)
	}
}

func TestCalendar_Divide(t *testing.T) {
	for _, test := range []struct{ period, firstDay, name, want string }{
		{"", "", "Europe/Berlin 04:00", ""},
		{"day", "", "Europe/Berlin 04:00", ""},
		{"week", "", "Europe/Berlin 04:00 week monday", ""},
		{"week", "sunday", "Europe/Berlin 04:00 week sunday", ""},
		{"month", "", "Europe/Berlin 04:00 month", ""},
		{"year", "", "", `period is "year", want day, week, month`},
		{"week", "Sunday", "", `first_day is "Sunday", want monday, tuesday, wednesday, thursday, friday, saturday, sunday`},
		{"month", "monday", "", `first_day is "monday", but only a week has a first day: set period to "week", or leave first_day out`},
		{"", "monday", "", `first_day is "monday", but only a week has a first day: set period to "week", or leave first_day out`},
	} {
		days := calendarOf(t, "Europe/Berlin", "04:00", "", "")
		calendar, err := days.Divide(test.period, test.firstDay)
		if err != nil || test.want != "" {
			if err == nil || err.Error() != test.want {
				t.Errorf("%q, %q: got %v\nwant %s", test.period, test.firstDay, err, test.want)
			}
			continue
		}
		if calendar.String() != test.name {
			t.Errorf("%q, %q: %s, want %s", test.period, test.firstDay, calendar, test.name)
		}
		var known calendars
		if again, err := known.find([]byte(test.name), nil); err != nil || again.unit != calendar.unit || again.firstDay != calendar.firstDay || again.resetAt != calendar.resetAt {
			t.Errorf("%s is read as %+v, %v", test.name, again, err)
		}
	}
}

func calendarOf(t *testing.T, zone, resetAt, period, firstDay string) *Calendar {
	t.Helper()
	calendar, err := (&Params{ResetAt: resetAt, Period: period, FirstDay: firstDay}).calendarIn(zone)
	must(t, err)
	return calendar
}

// checkPeriod checks the period of a time, and the periods before and after it.
func checkPeriod(t *testing.T, calendar *Calendar, at, start, end string) {
	t.Helper()
	unix := func(s string) int64 {
		at, err := time.Parse(time.RFC3339, s)
		must(t, err)
		return at.Unix()
	}
	want := Period{unix(start), unix(end)}
	for _, t0 := range []int64{unix(at), want.Start, want.End - 1} {
		calendar.recent.Store(nil)
		if got := calendar.PeriodOf(t0); got != want {
			t.Errorf("%s: the period of %d is %v, want %v", calendar, t0, got, want)
		}
	}
	if before, after := calendar.PeriodOf(want.Start-1), calendar.PeriodOf(want.End); before.End != want.Start || after.Start != want.End {
		t.Errorf("%s: %v and %v aren't next to %v", calendar, before, after, want)
	}
}
