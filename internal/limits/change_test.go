package limits

import (
	"strconv"
	"testing"
	"time"
)

func (t *Table) mustChange(tb testing.TB, at float64, limits ...Limit) {
	tb.Helper()
	set, err := newTestSet(limits, Strikes{})
	if err != nil {
		tb.Fatal(err)
	}
	t.Change(set, nanos(at))
}

func TestChangeKeepsTokensUsed(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second))
	run(t, table, []step{{at: 0, n: 2, ok: true}})
	table.mustChange(t, 0, bucket(3, 10*time.Second))
	run(t, table, []step{{at: 0, n: 2, retry: 10}, {at: 0, ok: true}, {at: 0, retry: 10}})
	table.mustChange(t, 5, bucket(3, 1*time.Second)) // 2.5 tokens are missing
	run(t, table, []step{{at: 5, retry: 0.5}, {at: 5.5, ok: true}})
	table.mustChange(t, 5.5, bucket(1, 1*time.Second)) // less capacity doesn't erase debt
	run(t, table, []step{{at: 5.5, retry: 3}})
	table.mustChange(t, 5.5, bucket(5, 1*time.Second))
	run(t, table, []step{{at: 5.5, n: 2, ok: true}, {at: 5.5, retry: 1}})
}

func TestChangeKeepsTheDaysCount(t *testing.T) {
	table := newTable(t, daily(10, "UTC", ""))
	run(t, table, []step{{at: 3600, n: 8, ok: true}})
	table.mustChange(t, 3600, daily(9, "UTC", ""))
	run(t, table, []step{{at: 3600, n: 2, retry: 82800}, {at: 3600, ok: true}})
	table.mustChange(t, 3600, daily(5, "UTC", ""))
	run(t, table, []step{{at: 3600, retry: 82800}})
}

func TestChangeOfLimitsKeepsThoseThatStay(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour), daily(10, "UTC", ""))
	run(t, table, []step{{at: 0, n: 3, ok: true}})
	other := bucket(4, time.Hour)
	other.Name = "other"
	table.mustChange(t, 0, daily(10, "UTC", ""), other)
	run(t, table, []step{{at: 0, n: 4, ok: true}, {at: 0, n: 4, retry: 86400}}) // 3 + 4 of the day are used
	if d := table.Peek("7", &Request{At: nanos(4 * 3600), Cost: 3}); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the day has %d left after 3 more, want 0: %+v", d.Remaining, d)
	}
}

func TestNewZoneBuysNothing(t *testing.T) {
	// The UTC day goes on to its end. Berlin's next midnight is 23 h after that, so 23/24 of the allowance are for that time.
	const hour, day = 3600.0, 86400.0
	table := newTable(t, daily(48, "UTC", ""))
	run(t, table, []step{{at: 12 * hour, n: 48, ok: true}})
	table.mustChange(t, 12*hour, daily(48, "Europe/Berlin", ""))
	run(t, table, []step{
		{at: 12 * hour, retry: 12 * hour},
		{at: 23.5 * hour, retry: 0.5 * hour}, // midnight in Berlin has passed
		{at: 23.5 * hour, n: 48, retry: 23.5 * hour},
		{at: day, n: 46, ok: true}, {at: day, retry: 23 * hour},
		{at: day + 23*hour, n: 48, ok: true}, {at: day + 23*hour, retry: day},
	})
}

func TestNewZoneHasAtLeastHalfADay(t *testing.T) {
	const hour = 3600.0
	table := newTable(t, daily(48, "UTC", ""))
	run(t, table, []step{{at: hour, ok: true}})
	table.mustChange(t, 2*hour, daily(48, "UTC", "06:00"))
	run(t, table, []step{{at: 24 * hour, n: 48, ok: true}, {at: 24 * hour, retry: 30 * hour}}) // 06:00 is 6 h away: the one after that
	table = newTable(t, daily(1, "UTC", ""))
	run(t, table, []step{{at: hour, ok: true}})
	table.mustChange(t, 2*hour, daily(1, "UTC", "18:00"))
	run(t, table, []step{{at: 18 * hour, retry: 6 * hour}, {at: 24 * hour, ok: true}, {at: 24 * hour, retry: 42 * hour}}) // a single message needs 24 h
}

func TestZoneChangedBackChangesNothing(t *testing.T) {
	table := newTable(t, daily(2, "UTC", ""))
	run(t, table, []step{{at: 0, n: 2, ok: true}})
	table.mustChange(t, 1, daily(2, "Europe/Berlin", ""))
	table.mustChange(t, 2, daily(2, "UTC", ""))
	run(t, table, []step{{at: 3, retry: 86397}, {at: 86400, n: 2, ok: true}, {at: 86400, retry: 86400}})
}

func TestStrikesForPracticeLapse(t *testing.T) {
	sets := map[bool]*Set{}
	for _, practice := range []bool{true, false} {
		set, err := newTestSet([]Limit{bucket(1, time.Hour)}, Strikes{Every: 10 * time.Second, Practice: practice})
		if err != nil {
			t.Fatal(err)
		}
		sets[practice] = set
	}
	strikes := func(table *Table, at float64) int {
		d := table.judge("7", Request{At: nanos(at), Cost: 1})
		return d.Strikes
	}
	for _, test := range []struct {
		before, after bool
		want          int
	}{{true, false, 1}, {true, true, 2}, {false, false, 2}, {false, true, 2}} {
		live := NewTable(sets[test.before], 1<<20)
		strikes(live, 0)
		strikes(live, 1)
		stored := live.Dirty()
		stored.Confirm()

		live.Change(sets[test.after], nanos(2))
		if lapsed := test.want == 1; lapsed != (len(live.Dirty().Rows) > 0) {
			t.Errorf("%+v: whether the store hears of it isn't %v", test, lapsed)
		}
		if got := strikes(live, 20); got != test.want {
			t.Errorf("%+v: %d strikes after a change", test, got)
		}
		restarted := NewTable(sets[test.after], 1<<20)
		for _, row := range stored.Rows {
			if err := restarted.Restore(row, nanos(2)); err != nil {
				t.Fatal(err)
			}
		}
		if got := strikes(restarted, 20); got != test.want {
			t.Errorf("%+v: %d strikes after a restart", test, got)
		}
	}
}

func TestChangeKeepsWhatARoleHasUsed(t *testing.T) {
	const subscriber = 2
	limit := func(refill, theirs time.Duration) Limit {
		l := bucket(3, refill)
		l.Roles = map[uint8]Numbers{subscriber: {Burst: 5, Refill: theirs}}
		return l
	}
	wait := func(table *Table, at float64) float64 {
		d := table.Peek("7", &Request{At: nanos(at), Cost: 5, Roles: 1 << subscriber})
		return float64(d.RetryAt-nanos(at)) / 1e9
	}
	table := newTable(t, limit(4*time.Second, 2*time.Second))
	table.judge("7", Request{At: nanos(0), Cost: 2, Roles: 1 << subscriber})
	stored := table.Dirty()
	for _, test := range []struct {
		limit Limit
		want  float64
	}{{limit(16*time.Second, 2*time.Second), 4}, {limit(16*time.Second, 60*time.Second), 120}} {
		table.mustChange(t, 0, test.limit)
		if got := wait(table, 0); got != test.want {
			t.Errorf("after a change: all five in %v s, want %v s", got, test.want)
		}
		restarted := newTable(t, test.limit)
		for _, row := range stored.Rows {
			if err := restarted.Restore(row, nanos(0)); err != nil {
				t.Fatal(err)
			}
		}
		if got := wait(restarted, 0); got != test.want {
			t.Errorf("after a restart: all five in %v s, want %v s", got, test.want)
		}
	}
}

func TestRestartsInNewZonesBuyNothing(t *testing.T) {
	// Every hour a restart in the next zone to the west, everywhere with as many messages as pass.
	zones := []string{"Asia/Tokyo", "Asia/Dhaka", "Europe/Berlin", "Atlantic/Azores", "America/Lima", "America/Denver", "Pacific/Apia"}
	const hour, messages = 3600.0, 100
	table := newTable(t, daily(messages, zones[0], ""))
	sent := 0
	for i := range 24 {
		at := float64(i) * hour
		for table.allows(at) {
			sent++
		}
		next := newTable(t, daily(messages, zones[(i+1)%len(zones)], ""))
		for _, row := range table.Dirty().Rows {
			if err := next.Restore(row, nanos(at)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range next.shards {
			if s := next.shards[i].Load(); s != nil {
				for slot := range s.len() {
					if s.inUse(slot) {
						s.touch(slot, s.row(slot)) // each restart is written whole
					}
				}
			}
		}
		table = next
	}
	if most := 3 * messages; sent > most || sent < messages {
		t.Errorf("%d messages in a day of restarts, want %d at most", sent, most)
	}
}

// allows spends a message of user 7.
func (t *Table) allows(at float64) bool {
	d := t.judge("7", Request{At: nanos(at), Cost: 1})
	return d.Allowed
}

func TestScaleUp(t *testing.T) {
	for _, test := range [][4]int64{
		{10, 3, 4, 8}, {8, 3, 4, 6}, {1, 1, 1 << 61, 1}, {1 << 61, 1 << 61, 1, MaxTime - 1}, {1 << 61, 4, 1, MaxTime - 1}, {1 << 61, 1 << 61, 1 << 61, 1 << 61},
	} {
		if got := scaleUp(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("%d × %d ÷ %d is %d, want %d", test[0], test[1], test[2], got, test[3])
		}
	}
}

func TestUsersKeepTheirOwnRows(t *testing.T) {
	// Enough users for every shard to grow, with IDs that look alike, and some that are no numbers.
	table := newTable(t, bucket(1, time.Hour))
	ids := func(i int) []string {
		n := strconv.Itoa(i)
		return []string{n, "0" + n, "u" + n, n + "000000000000000000"}
	}
	for round, want := range []bool{true, false} {
		for i := range 5000 {
			for _, id := range ids(i) {
				if d := table.judge(id, Request{At: nanos(0), Cost: 1}); d.Allowed != want {
					t.Fatalf("round %d: user %q is allowed: %v", round, id, d.Allowed)
				}
			}
		}
		if round == 0 {
			table.mustChange(t, 0, bucket(1, time.Hour), daily(5, "", ""))
		}
	}
}
