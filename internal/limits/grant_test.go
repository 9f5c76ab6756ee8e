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

func TestGrant_UsedAfterRegularAllowance(t *testing.T) {
	table := newTable(t, dailyLimit(3, "UTC", ""))
	table.Grant("7", "", 2, nanos(0))
	for i, want := range []struct {
		n             int64
		ok            bool
		used, granted int64
		remaining     int64
	}{
		{2, true, 2, 2, 3},
		{4, false, 2, 2, 3}, // three are left
		{2, true, 3, 1, 1},  // one regular, one granted
		{2, false, 3, 1, 1},
		{1, true, 3, 0, 0},
		{1, false, 3, 0, 0},
	} {
		d := table.send(hour, want.n)
		if d.Allowed != want.ok || d.Remaining != want.remaining {
			t.Errorf("step %d: allowed is %v with %d left, want %+v", i, d.Allowed, d.Remaining, want)
		}
		if l := table.level(t, hour, "daily"); l.Used != want.used || l.Granted != want.granted || l.Remaining != want.remaining {
			t.Errorf("step %d: %+v, want %+v", i, l, want)
		}
	}
	run(t, table, []step{{at: day, n: 3, ok: true}, {at: day, retry: day}})
}

func TestGrant_Lapses(t *testing.T) {
	table := newTable(t, bucket(1, 100*time.Hour))
	run(t, table, []step{{at: 0, ok: true}})
	table.Grant("7", "burst", 2, nanos(0))
	run(t, table, []step{{at: day - 1, ok: true}})
	run(t, table, []step{{at: day, retry: 76 * hour}, {at: 100 * hour, ok: true}})
}

func TestGrant_LapsesDuringWait(t *testing.T) {
	// One of two would be granted, but by the time there is a token for the other, the grant has
	// lapsed.
	table := newTable(t, bucket(2, 100*time.Hour))
	run(t, table, []step{{at: 0, n: 2, ok: true}})
	table.Grant("7", "burst", 1, nanos(0))
	run(t, table, []step{{at: 0, n: 2, retry: 200 * hour}, {at: 90 * hour, n: 2, retry: 110 * hour}})
}

func TestGrant_MakesRoomForLargeCost(t *testing.T) {
	table := newTable(t, dailyLimit(3, "UTC", ""))
	table.Grant("7", "", 2, nanos(0))
	run(t, table, []step{{at: 0, n: 6, retry: -1}, {at: 0, n: 5, ok: true}, {at: 0, n: 5, retry: -1}, {at: 0, retry: day}})
}

func TestGrant_FirstToLapseIsUsedFirst(t *testing.T) {
	table := newTable(t, bucket(1, 1000*time.Hour))
	run(t, table, []step{{at: 0, ok: true}})
	table.Grant("7", "burst", 1, nanos(hour)) // until 25 h
	table.Grant("7", "burst", 1, nanos(0))    // until 24 h
	run(t, table, []step{{at: 2 * hour, ok: true}, {at: 24 * hour, ok: true}, {at: 24 * hour, retry: 976 * hour}})
}

func TestGrant_OneUserOneLimit(t *testing.T) {
	table := newTable(t, bucket(1, time.Hour), dailyLimit(1, "UTC", ""))
	table.Grant("7", "daily", 5, nanos(0))
	run(t, table, []step{{at: 0, ok: true}, {at: 0, retry: hour}})
	table.Grant("8", "burst", 5, nanos(0))
	run(t, table, []step{{at: 0, retry: hour}, {at: hour, ok: true}})
}

func TestGrant_SurvivesChange(t *testing.T) {
	table := newTable(t, bucket(1, 100*time.Hour))
	run(t, table, []step{{at: 0, ok: true}})
	table.Grant("7", "burst", 1, nanos(0))
	table.mustChange(t, 0, bucket(1, 200*time.Hour))
	run(t, table, []step{{at: 0, ok: true}, {at: 0, retry: 200 * hour}})
}

func TestGrant_UnseenUser(t *testing.T) {
	for _, user := range []string{"12", "anna"} {
		table := newTable(t, dailyLimit(1, "UTC", ""))
		if until, err := table.Grant(user, "", 1, nanos(0)); err != nil || until != nanos(day) {
			t.Errorf("granted until %d, %v", until, err)
		}
		for i, want := range []bool{true, true, false} {
			if d := table.judge(user, Request{At: nanos(0), Cost: 1}); d.Allowed != want {
				t.Errorf("message %d of %s: allowed is %v", i, user, d.Allowed)
			}
		}
	}
}
