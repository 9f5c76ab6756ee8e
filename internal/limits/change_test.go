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

func TestChange_KeepsTokensUsed(t *testing.T) {
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

func TestChange_KeepsDailyCount(t *testing.T) {
	table := newTable(t, dailyLimit(10, "UTC", ""))
	run(t, table, []step{{at: 3600, n: 8, ok: true}})
	table.mustChange(t, 3600, dailyLimit(9, "UTC", ""))
	run(t, table, []step{{at: 3600, n: 2, retry: 82800}, {at: 3600, ok: true}})
	table.mustChange(t, 3600, dailyLimit(5, "UTC", ""))
	run(t, table, []step{{at: 3600, retry: 82800}})
}

func TestChange_KeepsRemainingLimits(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour), dailyLimit(10, "UTC", ""))
	run(t, table, []step{{at: 0, n: 3, ok: true}})
	other := bucket(4, time.Hour)
	other.Name = "other"
	table.mustChange(t, 0, dailyLimit(10, "UTC", ""), other)
	// 3 + 4 of the day are used
	run(t, table, []step{{at: 0, n: 4, ok: true}, {at: 0, n: 4, retry: 86400}})
	if d := table.Peek("7", &Request{At: nanos(4 * 3600), Cost: 3}); !d.Allowed || d.Remaining != 0 {
		t.Errorf("the day has %d left after 3 more, want 0: %+v", d.Remaining, d)
	}
}

func TestChange_PracticeStrikesLapse(t *testing.T) {
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
		live := NewTable(sets[test.before], 1<<30, new(Dropped))
		strikes(live, 0)
		strikes(live, 1)
		stored := live.allDirty()
		stored.Confirm()

		live.Change(sets[test.after], nanos(2))
		if lapsed := test.want == 1; lapsed != (len(live.allDirty().Rows) > 0) {
			t.Errorf("%+v: whether the store hears of it isn't %v", test, lapsed)
		}
		if got := strikes(live, 20); got != test.want {
			t.Errorf("%+v: %d strikes after a change", test, got)
		}
		restarted := NewTable(sets[test.after], 1<<30, new(Dropped))
		restarted.mustRestore(t, stored.Rows, nanos(2))
		if got := strikes(restarted, 20); got != test.want {
			t.Errorf("%+v: %d strikes after a restart", test, got)
		}
	}
}

func TestChange_KeepsUsageOfRoles(t *testing.T) {
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
	stored := table.allDirty()
	for _, test := range []struct {
		limit Limit
		want  float64
	}{{limit(16*time.Second, 2*time.Second), 4}, {limit(16*time.Second, 60*time.Second), 120}} {
		table.mustChange(t, 0, test.limit)
		if got := wait(table, 0); got != test.want {
			t.Errorf("after a change: all five in %v s, want %v s", got, test.want)
		}
		restarted := newTable(t, test.limit)
		restarted.mustRestore(t, stored.Rows, nanos(0))
		if got := wait(restarted, 0); got != test.want {
			t.Errorf("after a restart: all five in %v s, want %v s", got, test.want)
		}
	}
}

// spendOne spends a message of user 7 and reports whether it passed.
func (t *Table) spendOne(at float64) bool {
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

func TestChange_UsersKeepTheirRows(t *testing.T) {
	// There are enough users for every shard to grow, with similar IDs and some that are not
	// numbers.
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
			table.mustChange(t, 0, bucket(1, time.Hour), dailyLimit(5, "", ""))
		}
	}
}

func TestChange_EveryAlgorithmKeepsUsage(t *testing.T) {
	minute, hourly := window("fixed-window", 3, time.Minute), window("fixed-window", 3, time.Hour)
	user, sliding, log := window("user-window", 3, time.Minute), window("sliding-window", 5, 10*time.Second), window("sliding-log", 3, 10*time.Second)
	for _, test := range []struct {
		name    string
		limit   Limit
		before  []step
		at      float64
		changed Limit
		after   []step
	}{
		{"a bucket refills faster", bucket(3, 4*time.Second), []step{{at: 0, n: 2, ok: true}}, 0, bucket(3, time.Second), []step{{at: 0, n: 2, retry: 1}, {at: 0, n: 3, retry: 2}}},
		{"a bucket with a part of a token", bucket(3, 4*time.Second), []step{{at: 0, n: 2, ok: true}}, 2, bucket(3, 8*time.Second), []step{{at: 2, n: 2, retry: 4}, {at: 2, ok: true}}},
		{"a queue drains faster", leakyLimit(4*time.Second, 2), []step{{at: 0, n: 2, ok: true}}, 0, leakyLimit(time.Second, 2), []step{{at: 0, n: 2, retry: 1}, {at: 0, ok: true}, {at: 0, retry: 1}}},
		{"a queue is shorter", leakyLimit(4*time.Second, 2), []step{{at: 0, n: 3, ok: true}}, 0, leakyLimit(4*time.Second, 0), []step{{at: 0, retry: 12}}},
		{"a longer window", minute, []step{{at: 10, n: 2, ok: true}}, 10, hourly, []step{{at: 10, n: 2, retry: 3590}, {at: 10, ok: true}, {at: 70, retry: 3530}}},
		{"a longer window, when the old one is over", minute, []step{{at: 10, n: 2, ok: true}}, 70, hourly, []step{{at: 70, n: 3, ok: true}}},
		{"a shorter window", hourly, []step{{at: 10, n: 2, ok: true}}, 130, minute, []step{{at: 130, n: 2, retry: 50}, {at: 130, ok: true}, {at: 180, n: 3, ok: true}}},
		{"a window with fewer messages", minute, []step{{at: 10, n: 3, ok: true}}, 10, window("fixed-window", 2, time.Minute), []step{{at: 10, retry: 50}}},
		{"a window with more messages", minute, []step{{at: 10, n: 3, ok: true}}, 10, window("fixed-window", 5, time.Minute), []step{{at: 10, n: 2, ok: true}, {at: 10, retry: 50}}},
		{"a user's window with more messages", user, []step{{at: 10, n: 3, ok: true}}, 30, window("user-window", 4, time.Minute), []step{{at: 30, ok: true}, {at: 30, retry: 40}}},
		{"a user's window that is over", user, []step{{at: 10, n: 3, ok: true}}, 70, window("user-window", 3, time.Hour), []step{{at: 70, n: 3, ok: true}, {at: 70, retry: 3600}}},
		{"a sliding window with more messages", sliding, []step{{at: 8, n: 5, ok: true}}, 12, window("sliding-window", 6, 10*time.Second), []step{{at: 12, n: 2, ok: true}, {at: 12, retry: 2}}},
		// four count at 12 s
		{"a sliding window of another length", sliding, []step{{at: 8, n: 5, ok: true}}, 12, window("sliding-window", 5, 20*time.Second),
			// 4 × ¾ + 2 = 5 at 25 s; 5 × ⅘ + 1 = 5 at 24 s
			[]step{{at: 12, n: 2, retry: 8 + 5}, {at: 12, ok: true}, {at: 12, retry: 8 + 4}}},
		{"a log with more messages", log, []step{{at: 0, ok: true}, {at: 4, ok: true}, {at: 8, ok: true}}, 8, window("sliding-log", 4, 10*time.Second), []step{{at: 8, ok: true}, {at: 8, retry: 2}}},
		{"a log with fewer messages", log, []step{{at: 0, ok: true}, {at: 4, ok: true}, {at: 8, ok: true}}, 8, window("sliding-log", 1, 10*time.Second), []step{{at: 8, retry: 10}}},
		{"a log that is over", log, []step{{at: 0, n: 3, ok: true}}, 10, window("sliding-log", 3, time.Hour), []step{{at: 10, n: 3, ok: true}, {at: 10, retry: 3600}}},
		{"a day with more messages", dailyLimit(3, "UTC", ""), []step{{at: hour, n: 3, ok: true}}, hour, dailyLimit(5, "UTC", ""), []step{{at: hour, n: 2, ok: true}, {at: hour, retry: 23 * hour}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := newTable(t, test.limit)
			run(t, live, test.before)
			stored := rowsOf(live.allDirty())
			live.mustChange(t, test.at, test.changed)
			run(t, live, test.after)
			restarted := newTable(t, test.changed)
			restarted.mustRestore(t, stored, nanos(test.at))
			run(t, restarted, test.after)
		})
	}
}

func TestChange_EveryLengthKeepsCount(t *testing.T) {
	// Right after a change, usage is the same as before it, and no window takes longer than its
	// length to expire.
	for _, every := range []time.Duration{1, time.Second, 59 * time.Second, time.Minute, time.Hour, 1000 * time.Hour} {
		for _, limit := range sevenLimits() {
			if limit.Algorithm == "daily-window" {
				continue
			}
			table := newTable(t, limit)
			run(t, table, []step{{at: 30, ok: true}, {at: 31, ok: true}})
			before := table.usage(t, 32, limit.Name)
			changed := limit
			longest := every
			switch {
			case limit.Refill > 0:
				changed.Refill, longest = every, 3*every
			case limit.Algorithm == "leaky-bucket":
				changed.Every, longest = every, 3*every
			case limit.Algorithm == "sliding-window":
				changed.Every, longest = every, 2*every
			default:
				changed.Every = every
			}
			table.mustChange(t, 32, changed)
			l := table.level(t, 32, limit.Name)
			if l.Used != before {
				t.Errorf("%s of %s: %d are used, want %d", limit.Name, every, l.Used, before)
			}
			if wait := time.Duration(l.ResetAt - nanos(32)); wait <= 0 || wait > longest {
				t.Errorf("%s of %s: it forgets after %v", limit.Name, every, wait)
			}
		}
	}
}

func TestSlidingLog_NeverShrinks(t *testing.T) {
	table := newTable(t, window("sliding-log", 5, time.Hour))
	run(t, table, []step{{at: 0, n: 3, ok: true}, {at: 1, n: 2, ok: true}})
	table.mustChange(t, 2, window("sliding-log", 1, time.Hour))
	run(t, table, []step{{at: 2, retry: 3599}})
	table.mustChange(t, 3, window("sliding-log", 6, time.Hour))
	run(t, table, []step{{at: 3, ok: true}, {at: 3, n: 3, retry: 3597}, {at: 3600, n: 3, ok: true}, {at: 3600, retry: 1}})
}

func TestChange_PolicyOrder(t *testing.T) {
	a, b := bucket(2, time.Hour).withName("a"), bucket(2, time.Hour).withName("b")
	table := newTable(t, a, b, dailyLimit(5, "UTC", ""))
	run(t, table, []step{{at: 0, n: 2, ok: true}, {at: 0, retry: hour}})
	table.mustChange(t, 0, dailyLimit(5, "UTC", ""), b, a)
	if d := table.send(0, 1); d.Allowed || d.Limit.Name() != "b" {
		t.Errorf("throttled by %s, want the one that is first now", d.Limit.Name())
	}
	for name, want := range map[string]int64{"a": 2, "b": 2, "daily": 2} {
		if used := table.usage(t, 0, name); used != want {
			t.Errorf("%d of %s are used, want %d", used, name, want)
		}
	}
}

func TestChange_AlgorithmStartsFresh(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	run(t, table, []step{{at: 0, n: 3, ok: true}})
	table.mustChange(t, 0, window("fixed-window", 3, time.Hour).withName("burst"))
	run(t, table, []step{{at: 0, n: 3, ok: true}, {at: 0, retry: hour}})
	table.mustChange(t, 0, dailyLimit(3, "UTC", ""))
	run(t, table, []step{{at: 0, n: 3, ok: true}})
}

// When its limit shrinks, a log keeps its old messages and the room for them.
func TestSlidingLog_KeepsRoomAfterChange(t *testing.T) {
	table := newTable(t, window("sliding-log", 1000, time.Hour))
	run(t, table, []step{{at: 0, n: 8, ok: true}})
	table.mustChange(t, 1, window("sliding-log", 5, time.Hour))
	if r := table.set.rules[0]; r.end-r.start != 1+8 {
		t.Errorf("room for %d, want what the longest log holds: 8", r.end-r.start-1)
	}
	run(t, table, []step{{at: 2, retry: 3598}})
	table.mustChange(t, 3, window("sliding-log", 10, time.Hour))
	run(t, table, []step{{at: 4, n: 3, retry: 3596}, {at: 4, n: 2, ok: true}})
}

// A message at the first possible instant has the time 0. It still counts after the log gets less
// room.
func TestSlidingLog_NarrowerKeepsTimeZero(t *testing.T) {
	table := newTable(t, window("sliding-log", 3, time.Minute))
	for range 3 {
		table.judge("7", Request{Cost: 1})
	}
	for _, messages := range []int64{1, 5} {
		set, err := newTestSet([]Limit{window("sliding-log", messages, time.Minute)}, Strikes{})
		if err != nil {
			t.Fatal(err)
		}
		table.Change(set, 0)
	}
	if _, levels, _ := table.Explain("7", &Request{Cost: 1}); levels[0].Used != 3 {
		t.Errorf("%d of 3 messages count", levels[0].Used)
	}
}
