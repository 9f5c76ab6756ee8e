package limits

import (
	"testing"
	"time"
)

func TestJudge_SeveralLimits(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second), dailyLimit(4, "UTC", ""))
	run(t, table, []step{
		{at: 0, n: 3, ok: true},
		{at: 0, retry: 4},     // the wait for the bucket
		{at: 4, ok: true},     // now the day is full
		{at: 4, retry: 86396}, // the wait for the day is longer
		{at: 5, n: 4, retry: -1},
	})
	d := table.judge("7", Request{At: nanos(5), Cost: 1})
	if name := d.Limit.Name(); name != "daily" || d.Remaining != 0 || d.ResetAt != nanos(86400) {
		t.Errorf("throttled by %s with %d left, reset at %d", name, d.Remaining, d.ResetAt)
	}
	if d := table.judge("7", Request{At: nanos(86400), Cost: 3}); !d.Allowed {
		t.Error("what the day throttled has spent tokens of the bucket")
	}
}

func TestJudge_RechecksWait(t *testing.T) {
	// By the time the bucket is full again, a transitional day has begun without room for two, so
	// they wait for the day after.
	table := newTable(t, bucket(2, 13*time.Hour), dailyLimit(2, "UTC", ""))
	run(t, table, []step{{at: -0.5 * hour, n: 2, ok: true}})
	table.mustChange(t, hour, bucket(2, 13*time.Hour), dailyLimit(2, "Europe/Berlin", ""))
	run(t, table, []step{{at: 23.9 * hour, n: 2, retry: 47*hour - 23.9*hour}})
}

func TestJudge_RechecksWaitIfGrantLapses(t *testing.T) {
	// The grant would suffice for one limit, but has lapsed by the time the other has room.
	table := newTable(t, bucket(1, 100*time.Hour), bucket(1, 30*time.Hour).withName("second"))
	run(t, table, []step{{at: 0, ok: true}})
	if until, err := table.Grant("7", "burst", 1, nanos(0)); err != nil || until != nanos(day) {
		t.Fatalf("granted until %d, %v", until, err)
	}
	run(t, table, []step{{at: 0, retry: 100 * hour}})
	if d := table.send(0, 1); d.Limit.Name() != "burst" {
		t.Errorf("limit %s is named", d.Limit.Name())
	}
}

func TestJudge_NamesLongestWait(t *testing.T) {
	short, long := bucket(2, 4*time.Second), bucket(2, time.Minute).withName("long")
	for _, test := range []struct {
		name   string
		limits []Limit
		before int64 // messages spent
		cost   int64
		want   string
		retry  float64
	}{
		{"the longest wait", []Limit{short, long}, 2, 1, "long", 60},
		{"wherever it stands", []Limit{long, short}, 2, 1, "long", 60},
		{"of equal waits the first", []Limit{short, short.withName("same")}, 2, 1, "burst", 4},
		{"never beats any wait", []Limit{long.withName("wait"), bucket(1, time.Second).withName("never")}, 1, 2, "never", -1},
		{"wherever it stands, too", []Limit{bucket(1, time.Second).withName("never"), long.withName("wait")}, 1, 2, "never", -1},
		{"of two nevers the first", []Limit{short, long, short.withName("same")}, 0, 3, "burst", -1},
		{"the only one without room", []Limit{short, bucket(1, 4*time.Second).withName("full")}, 1, 1, "full", 4},
		{"ties of different algorithms", []Limit{window("user-window", 1, time.Minute), bucket(1, time.Minute)}, 1, 1, "user-window", 60},
	} {
		table := newTable(t, test.limits...)
		if test.before > 0 {
			run(t, table, []step{{at: 0, n: test.before, ok: true}})
		}
		if d := table.send(0, test.cost); d.Allowed || d.Limit.Name() != test.want {
			t.Errorf("%s: limit %s is named, want %s", test.name, d.Limit.Name(), test.want)
		}
		run(t, table, []step{{at: 0, n: test.cost, retry: test.retry}})
	}
}

func TestJudge_ThrottledSpendsNothing(t *testing.T) {
	// One limit has no room for two. The others, of every algorithm, are unaffected.
	limits := sevenLimits()
	for i := range limits {
		mixed := sevenLimits()
		mixed[i].Burst, mixed[i].Messages = min(mixed[i].Burst, 1), min(mixed[i].Messages, 1)
		if mixed[i].Algorithm == "leaky-bucket" {
			mixed[i].Queue = 0
		}
		table := newTable(t, mixed...)
		if d := table.send(0, 2); d.Allowed || d.Limit.Name() != mixed[i].Name || d.RetryAt != Never {
			t.Fatalf("%s: %+v", mixed[i].Name, d)
		}
		for _, l := range limits {
			if used := table.usage(t, 0, l.Name); used != 0 {
				t.Errorf("throttled by %s: %d of %s are used", mixed[i].Name, used, l.Name)
			}
		}
	}
}

func TestJudge_FiveWindows(t *testing.T) {
	table := newTable(t,
		window("fixed-window", 300, time.Minute).withName("minute"),
		window("fixed-window", 15_750, time.Hour).withName("hour"),
		dailyLimit(300_000, "UTC", "").withName("day"),
		window("fixed-window", 1_500_000, 7*24*time.Hour).withName("week"),
		window("fixed-window", 6_000_000, 30*24*time.Hour).withName("month"),
	)
	// 52 minutes with 300 messages and one with 150 fill an hour. After 19 hours the day has room
	// for 750 more.
	for h := range 19 {
		at := float64(h) * hour
		for minute := range 52 {
			run(t, table, []step{{at: at + 60*float64(minute), n: 300, ok: true}})
		}
		run(t, table, []step{{at: at + 52*60, n: 151, retry: 8 * 60}, {at: at + 52*60, n: 150, ok: true}})
	}
	at := 19 * hour
	run(t, table, []step{
		{at: at, n: 300, ok: true}, {at: at, retry: 60}, {at: at, n: 301, retry: -1},
		{at: at + 60, n: 300, ok: true}, {at: at + 120, n: 151, retry: 5*hour - 120},
	})
	if used := table.usage(t, at+120, "minute"); used != 0 {
		t.Errorf("%d of the minute are used by a message that the day throttled", used)
	}
	run(t, table, []step{{at: at + 120, n: 150, ok: true}, {at: at + 120, retry: 5*hour - 120}})
	for _, want := range []struct {
		limit string
		used  int64
	}{{"minute", 150}, {"hour", 750}, {"day", 300_000}, {"week", 300_000}, {"month", 300_000}} {
		if used := table.usage(t, at+120, want.limit); used != want.used {
			t.Errorf("%d of the %s are used, want %d", used, want.limit, want.used)
		}
	}
}

func TestObserve_NeverBlocks(t *testing.T) {
	table := newTable(t, bucket(4, time.Hour), window("user-window", 2, time.Minute).withObserves())
	for i, want := range []struct {
		n            int64
		ok, observed bool
		limit        string
		retry        float64 // seconds; -1 means never
		burst, watch int64   // used afterwards
	}{
		{1, true, false, "burst", 0, 1, 1},       // the other has less left, which is ignored
		{2, true, true, "user-window", 60, 3, 1}, // no room for both: spends nothing
		{1, true, false, "burst", 0, 4, 2},
		{1, false, false, "burst", hour, 4, 2}, // full too, but that doesn't count
		{5, false, false, "burst", -1, 4, 2},
	} {
		d := table.send(0, want.n)
		if d.Allowed != want.ok || d.Observed != want.observed || d.Limit.Name() != want.limit {
			t.Errorf("step %d: %+v by %s, want %+v", i, d, d.Limit.Name(), want)
		}
		if (!want.ok || want.observed) && want.retry >= 0 && d.RetryAt != nanos(want.retry) {
			t.Errorf("step %d: retry in %v, want %v s", i, time.Duration(d.RetryAt-nanos(0)), want.retry)
		}
		if want.observed && (d.Strikes != 0 || d.NewStrike || d.Taken != want.n) {
			t.Errorf("step %d: %+v, want %d taken and no strike", i, d, want.n)
		}
		if burst, watch := table.usage(t, 0, "burst"), table.usage(t, 0, "user-window"); burst != want.burst || watch != want.watch {
			t.Errorf("step %d: %d and %d are used, want %d and %d", i, burst, watch, want.burst, want.watch)
		}
	}
	table = newTable(t, bucket(4, time.Hour), window("user-window", 2, time.Minute).withObserves())
	if d := table.send(0, 3); !d.Allowed || !d.Observed || d.RetryAt != Never {
		t.Errorf("what an observing limit can never hold: %+v", d)
	}
	if table.usage(t, 0, "user-window") != 0 {
		t.Error("what it can never hold was spent")
	}
}

func TestObserve_ThrottledSpendsNothing(t *testing.T) {
	table := newTable(t, bucket(1, time.Hour), window("user-window", 5, time.Minute).withObserves())
	run(t, table, []step{{at: 0, ok: true}, {at: 0, retry: hour}, {at: 0, retry: hour}})
	if used := table.usage(t, 0, "user-window"); used != 1 {
		t.Errorf("%d are used, want 1", used)
	}
}

func TestObserve_PolicyPractices(t *testing.T) {
	// All limits decide, so that practice shows what enforcing would be like.
	table := newTableWithStrikes(t, Strikes{Every: 10 * time.Second, Practice: true}, bucket(4, time.Hour), window("user-window", 2, time.Minute).withObserves())
	run(t, table, []step{{at: 0, n: 2, ok: true}, {at: 0, retry: 60}, {at: 60, n: 2, ok: true}})
	d := table.send(60, 1)
	if d.Allowed || d.Limit.Name() != "burst" || d.RetryAt != nanos(hour) || d.Strikes != 2 || !d.NewStrike {
		t.Errorf("%+v, want the bucket to throttle, which has a token at 1 h, and the second strike", d)
	}
	if used := table.usage(t, 60, "burst"); used != 4 {
		t.Errorf("%d tokens are used, want 4", used)
	}
}

func TestCountThrottled_Counts(t *testing.T) {
	minute := window("fixed-window", 5, time.Minute).withCountThrottled()
	for _, test := range []struct {
		name   string
		limits []Limit
		limit  string // the limit whose usage is checked
		steps  []step
		used   []int64
	}{
		{"whoever throttled them, up to the capacity", []Limit{bucket(1, 10*time.Second), minute}, "fixed-window", []step{
			{at: 0, ok: true}, {at: 0, retry: 10}, {at: 0, retry: 10}, {at: 0, retry: 10},
			{at: 0, retry: 60}, // the fifth fills the minute
			{at: 0, retry: 60}, {at: 59, n: 3, retry: -1}, {at: 60, ok: true},
		}, []int64{1, 2, 3, 4, 5, 5, 5, 1}},
		{"n of each", []Limit{bucket(1, 10*time.Second), minute}, "fixed-window", []step{
			{at: 0, ok: true}, {at: 0, n: 3, retry: -1}, {at: 0, n: 6, retry: -1},
		}, []int64{1, 4, 5}},
		{"not where they aren't said to", []Limit{bucket(1, 10*time.Second).withCountThrottled(), minute}, "burst", []step{
			{at: 0, ok: true}, {at: 4, retry: 10},
		}, []int64{1, 1}},
		{"a bucket is full at most", []Limit{bucket(3, 4*time.Second).withCountThrottled()}, "burst", []step{
			{at: 0, n: 3, ok: true}, {at: 0, retry: 4}, {at: 1, retry: 4}, {at: 2, n: 2, retry: 8}, {at: 3, retry: 4}, {at: 7, ok: true}, {at: 7, retry: 4},
		}, []int64{3, 3, 3, 3, 3, 3, 3}},
		{"a bucket that has some room", []Limit{bucket(3, 4*time.Second).withCountThrottled()}, "burst", []step{
			{at: 0, n: 2, ok: true}, {at: 0, n: 2, retry: 8}, {at: 0, n: 4, retry: -1},
		}, []int64{2, 3, 3}},
		{"a queue is full at most", []Limit{leakyLimit(time.Second, 2).withCountThrottled()}, "leaky", []step{
			{at: 0, n: 3, ok: true}, {at: 0.5, retry: 1}, {at: 1, retry: 1}, {at: 2, ok: true},
		}, []int64{3, 3, 3, 3}},
		{"a log keeps its newest", []Limit{window("sliding-log", 3, 10*time.Second).withCountThrottled()}, "sliding-log", []step{
			{at: 0, ok: true}, {at: 1, ok: true}, {at: 2, ok: true},
			{at: 3, retry: 8},        // 1, 2, 3 are left
			{at: 4, retry: 8},        // 2, 3, 4
			{at: 5, n: 2, retry: 10}, // 4, 5, 5: two expire at 15 s
			{at: 6, n: 9, retry: -1}, // 6, 6, 6
			{at: 6, retry: 10}, {at: 16, n: 3, ok: true},
		}, []int64{1, 2, 3, 3, 3, 3, 3, 3, 3}},
		{"a user's window", []Limit{window("user-window", 3, time.Minute).withCountThrottled()}, "user-window", []step{
			{at: 0, n: 2, ok: true}, {at: 10, n: 2, retry: 50}, {at: 10, retry: 50}, {at: 60, n: 3, ok: true},
		}, []int64{2, 3, 3, 3}},
		{"a day", []Limit{dailyLimit(3, "UTC", "").withCountThrottled()}, "daily", []step{
			{at: 0, n: 2, ok: true}, {at: 10, n: 2, retry: day - 10}, {at: 10, retry: day - 10}, {at: day, n: 3, ok: true},
		}, []int64{2, 3, 3, 3}},
		{"a sliding window", []Limit{window("sliding-window", 5, 10*time.Second).withCountThrottled()}, "sliding-window", []step{
			{at: 8, n: 4, ok: true}, {at: 8, n: 2, retry: 6}, // 5 × 0.6 + 2 = 5 at 14 s
			{at: 8, n: 6, retry: -1}, {at: 12, ok: true},
		}, []int64{4, 5, 5, 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := newTable(t, test.limits...)
			for i, s := range test.steps {
				runCounting(t, table, i, s)
				if used := table.usage(t, s.at, test.limit); used != test.used[i] {
					t.Errorf("step %d: %d are used, want %d", i, used, test.used[i])
				}
			}
		})
	}
}

// runCounting plays a step. It checks what passes at the given time without counting the check
// itself.
func runCounting(t *testing.T, table *Table, i int, s step) {
	t.Helper()
	d := table.send(s.at, max(s.n, 1))
	want := nanos(s.at) + int64(s.retry*1e9+0.5)
	if s.retry < 0 {
		want = Never
	}
	if d.Allowed != s.ok || !s.ok && d.RetryAt != want {
		t.Fatalf("step %d at %v s: allowed is %v, retry in %v; want %+v", i, s.at, d.Allowed, time.Duration(d.RetryAt-nanos(s.at)), s)
	}
	if s.ok || s.retry < 0 {
		return
	}
	early, then := table.Peek("7", &Request{At: want - 1, Cost: max(s.n, 1)}), table.Peek("7", &Request{At: want, Cost: max(s.n, 1)})
	if early.Allowed || !then.Allowed {
		t.Fatalf("step %d: allowed 1 ns before retry: %v; then: %v", i, early.Allowed, then.Allowed)
	}
}

func TestUpTo_Takes(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second), dailyLimit(6, "UTC", ""), window("fixed-window", 1, time.Hour).withObserves())
	for i, want := range []struct {
		at    float64
		n     int64
		taken int64
		retry float64
	}{
		{0, 2, 2, 0},              // room for all
		{0, 10, 1, 0},             // as many as the bucket has
		{0, 10, 0, 4},             // none: one fits in 4 s
		{8, MaxMessages, 2, 0},    // two have returned
		{1000, 10, 1, 0},          // as many as the day has left
		{1000, 10, 0, day - 1000}, // and then none
		{day, 10, 3, 0}, {day, 1, 0, 4},
	} {
		q := Request{At: nanos(want.at), Cost: want.n, UpTo: true}
		peeked := table.Peek("7", &q)
		d := table.judge("7", q)
		if d.Allowed != (want.taken > 0) || d.Taken != want.taken {
			t.Errorf("step %d: %d of %d are taken, want %d", i, d.Taken, want.n, want.taken)
		}
		if want.taken == 0 && d.RetryAt != nanos(want.at+want.retry) {
			t.Errorf("step %d: retry in %v, want %v s", i, time.Duration(d.RetryAt-q.At), want.retry)
		}
		if peeked.Taken != d.Taken || peeked.RetryAt != d.RetryAt {
			t.Errorf("step %d: peeked at %+v, decided %+v", i, peeked, d)
		}
	}
}

func TestUpTo_UsesGrants(t *testing.T) {
	table := newTable(t, dailyLimit(3, "UTC", ""))
	table.Grant("7", "daily", 2, nanos(0))
	if d := table.judge("7", Request{At: nanos(0), Cost: 10, UpTo: true}); d.Taken != 5 || d.Remaining != 0 {
		t.Errorf("%d are taken and %d left, want 5 and 0", d.Taken, d.Remaining)
	}
}

func TestPeek_SpendsNothing(t *testing.T) {
	table := newTable(t, sevenLimits()...)
	for range 10 {
		if d := table.Peek("7", &Request{At: nanos(0), Cost: 2}); !d.Allowed || d.Taken != 2 {
			t.Fatalf("%+v", d)
		}
	}
	if table.Users() != 0 {
		t.Error("who is looked at has a row")
	}
	run(t, table, []step{{at: 0, n: 3, ok: true}})
	table.allDirty().Confirm()
	for range 10 {
		table.Peek("7", &Request{At: nanos(0), Cost: 1})
		table.Peek("7", &Request{At: nanos(-2 * hour), Cost: 1})
	}
	if rows := table.allDirty().Rows; len(rows) != 0 {
		t.Errorf("rows %v have changed", rows)
	}
	if s := table.standing(0); s.Strikes != 0 {
		t.Error("a look gave a strike")
	}
}

func TestJump_AllAlgorithms(t *testing.T) {
	// After the clock was ahead and has jumped back, nothing is refunded. A user is locked out for
	// no longer than after a message that is sent now.
	for _, limit := range sevenLimits() {
		most := time.Minute
		if limit.Algorithm == "daily-window" {
			most = 24 * time.Hour
		}
		if limit.Algorithm == "sliding-window" {
			most = 2 * time.Minute
		}
		for _, back := range []float64{61, hour, 30 * day, epoch.Sub(time.Unix(0, 0)).Seconds()} {
			table := newTable(t, limit)
			run(t, table, []step{{at: 0, n: 3, ok: true}})
			d := table.send(-back, 1)
			if d.Allowed || d.RetryAt > nanos(-back)+int64(most) {
				t.Errorf("%s, %v s back: allowed is %v, wait %v", limit.Name, back, d.Allowed, time.Duration(d.RetryAt-nanos(-back)))
			}
			if then := table.judge("7", Request{At: d.RetryAt, Cost: 1}); !then.Allowed {
				t.Errorf("%s, %v s back: not allowed at retry", limit.Name, back)
			}
		}
	}
}

// A message that doesn't fit a limit that only observes is still the user's last use. At that use,
// the limit's old usage has expired. A clock that jumps back doesn't revive the old usage.
func TestJump_ExpiredStaysExpired(t *testing.T) {
	for _, limit := range sevenLimits() {
		for _, back := range []float64{8 * day, 10*day - 10, 12 * day} {
			table := newTable(t, limit.withObserves())
			run(t, table, []step{{at: 0, n: 3, ok: true}, {at: 10 * day, n: 8, ok: true}})
			if used := table.usage(t, 10*day-back, limit.Name); used != 0 {
				t.Errorf("%s, %v s back: %d are used, want none", limit.Name, back, used)
			}
		}
	}
}

// The second message uses a grant. At its time, the first message counts in the previous window.
// The first message stays in that window after a jump back: its share expires a second later, not
// two.
func TestJump_SlidingWindowWithGrant(t *testing.T) {
	table := newTable(t, window("sliding-window", 1, time.Second))
	run(t, table, []step{{at: 100, ok: true}})
	table.Grant("7", "sliding-window", 1, nanos(100))
	run(t, table, []step{{at: 101, ok: true}})
	table.Refund("7", Refund{At: nanos(101), N: 1}, nanos(101)) // the window was not used
	run(t, table, []step{{at: 40, retry: 1}, {at: 41, ok: true}})
}

func TestLateMessage_AllAlgorithms(t *testing.T) {
	for _, limit := range sevenLimits() {
		table := newTable(t, limit)
		run(t, table, []step{{at: 90, n: 2, ok: true}})
		now := table.Peek("7", &Request{At: nanos(90), Cost: 2})
		late := table.Peek("7", &Request{At: nanos(30), Cost: 2}) // a minute late
		if now.Allowed || late.Allowed || late.RetryAt != now.RetryAt {
			t.Errorf("%s: retry at %d, for a late message %d", limit.Name, now.RetryAt, late.RetryAt)
		}
		run(t, table, []step{{at: 30, ok: true}})
		if used := table.usage(t, 90, limit.Name); used != 3 {
			t.Errorf("%s: %d are used after a late message, want 3", limit.Name, used)
		}
	}
}

func TestJudge_NoLimitsAllowsAll(t *testing.T) {
	table := newTable(t)
	for _, n := range []int64{1, MaxMessages, Never} {
		if d := table.send(0, n); !d.Allowed || d.Limit != nil || d.Taken != n {
			t.Errorf("%+v", d)
		}
	}
}
