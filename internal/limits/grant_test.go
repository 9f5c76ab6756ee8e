package limits

import (
	"testing"
	"time"
)

func TestGrant_Until(t *testing.T) {
	// The user sends a message at 9:00 and gets a grant of two at 10:00. This is when the grant
	// ends.
	const tenOClock = 10 * hour
	// week ends with day 20,459 since the Unix epoch; 5 January 2026 is day 20,458.
	week := window("fixed-window", 3, 10*24*time.Hour)
	user := window("user-window", 3, 5*time.Hour)
	for _, test := range []struct {
		name   string
		limits []Limit
		limit  string
		unseen bool
		until  float64
	}{
		{"the day's end", []Limit{dailyLimit(3, "UTC", "")}, "daily", false, day},
		{"the day's end in its zone", []Limit{dailyLimit(3, "Europe/Berlin", "12:30")}, "daily", false, 11.5 * hour},
		{"the first daily window unless named", []Limit{bucket(3, time.Hour), dailyLimit(3, "UTC", "18:00"), dailyLimit(3, "UTC", "").withName("second")}, "", false, 18 * hour},
		{"of a daily window that is named", []Limit{dailyLimit(3, "UTC", "18:00"), dailyLimit(3, "UTC", "").withName("second")}, "second", false, day},
		{"a window's end", []Limit{week, dailyLimit(3, "UTC", "")}, "fixed-window", false, 2 * day},
		{"a user's window's end", []Limit{user, dailyLimit(3, "UTC", "")}, "user-window", false, 14 * hour},
		{"no window is open", []Limit{user, dailyLimit(3, "UTC", "18:00")}, "user-window", true, 18 * hour},
		{"no window, no day", []Limit{user}, "user-window", true, 34 * hour},
		{"a bucket's next day", []Limit{bucket(3, 100*time.Hour), dailyLimit(3, "UTC", "18:00")}, "burst", false, 18 * hour},
		{"a bucket alone", []Limit{bucket(3, 100*time.Hour)}, "burst", false, 34 * hour},
		{"a log alone", []Limit{window("sliding-log", 3, 100*time.Hour)}, "sliding-log", false, 34 * hour},
		{"a sliding window alone", []Limit{window("sliding-window", 3, 100*time.Hour)}, "sliding-window", false, 34 * hour},
		{"a queue alone", []Limit{leakyLimit(100*time.Hour, 2)}, "leaky", false, 34 * hour},
	} {
		table := newTable(t, test.limits...)
		if !test.unseen {
			table.send(9*hour, 1)
		}
		until, err := table.Grant("7", test.limit, 2, nanos(tenOClock))
		if err != nil || until != nanos(test.until) {
			t.Errorf("%s: valid until %v h, want %v h", test.name, float64(until-nanos(0))/1e9/hour, test.until/hour)
		}
	}
}

func TestGrant_UnknownLimit(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	for _, limit := range []string{"", "other"} {
		if _, err := table.Grant("7", limit, 1, nanos(0)); err != ErrNoLimit {
			t.Errorf("granted in limit %q, which there isn't", limit)
		}
	}
}

func TestGrant_FirstToLapseIsUsedFirst(t *testing.T) {
	table := newTable(t, bucket(1, 1000*time.Hour))
	run(t, table, []step{{at: 0, ok: true}})
	table.Grant("7", "burst", 1, nanos(hour)) // until 25 h
	table.Grant("7", "burst", 1, nanos(0))    // until 24 h
	run(t, table, []step{{at: 2 * hour, ok: true}, {at: 24 * hour, ok: true}, {at: 24 * hour, retry: 976 * hour}})
}
