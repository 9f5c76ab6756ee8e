package limits

import (
	"testing"
	"time"
)

// step is one message of a test, in seconds since the test's beginning.
type step struct {
	at    float64
	n     int64
	ok    bool
	retry float64 // seconds, where not ok; -1 means never
}

// epoch is the beginning of the tests: a Monday in winter, at midnight UTC.
var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

func nanos(seconds float64) int64 { return epoch.UnixNano() + int64(seconds*1e9+0.5) }

// newTestSet compiles limits per user.
func newTestSet(limits []Limit, strikes Strikes) (*Set, error) {
	sets, err := Compile(limits, strikes)
	return sets[PerUser], err
}

func (t *Table) judge(user string, q Request) (d Decision) {
	t.Judge(user, &q, &d)
	return d
}

func newTable(t testing.TB, limits ...Limit) *Table {
	t.Helper()
	set, err := newTestSet(limits, Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return NewTable(set, 1<<20)
}

func bucket(burst int64, refill time.Duration) Limit {
	return Limit{Params: Params{Name: "burst", Algorithm: "token-bucket", Burst: burst, Refill: refill}}
}

func daily(messages int64, timezone, resetAt string) Limit {
	return Limit{Params: Params{Name: "daily", Algorithm: "daily-window", Messages: messages, Timezone: timezone, ResetAt: resetAt}}
}

// run plays the steps of one user, and holds every promise about waiting: at the time named the message passes, 1 ns sooner it doesn't.
func run(t *testing.T, table *Table, steps []step) {
	t.Helper()
	for i, s := range steps {
		q := Request{At: nanos(s.at), Cost: max(s.n, 1)}
		d := table.judge("7", q)
		if d.Allowed != s.ok {
			t.Fatalf("step %d at %v s: allowed is %v, want %v", i, s.at, d.Allowed, s.ok)
		}
		if d.Allowed {
			continue
		}
		if s.retry < 0 {
			if d.RetryAt != Never {
				t.Fatalf("step %d: retry at %d, want never", i, d.RetryAt)
			}
			continue
		}
		if want := q.At + int64(s.retry*1e9+0.5); d.RetryAt != want {
			t.Fatalf("step %d at %v s: wait is %v, want %v s", i, s.at, time.Duration(d.RetryAt-q.At), s.retry)
		}
		if early := table.Peek("7", &Request{At: d.RetryAt - 1, Cost: q.Cost}); early.Allowed {
			t.Fatalf("step %d: allowed 1 ns before retry", i)
		}
		if then := table.Peek("7", &Request{At: d.RetryAt, Cost: q.Cost}); !then.Allowed {
			t.Fatalf("step %d: not allowed at retry", i)
		}
	}
}

func TestTokenBucket(t *testing.T) {
	tests := []struct {
		name  string
		steps []step
	}{
		{"three at once, then one per refill", []step{
			{at: 0, ok: true}, {at: 0, ok: true}, {at: 0, ok: true}, {at: 0, retry: 4},
			{at: 4, ok: true}, {at: 4, retry: 4}, {at: 12, ok: true},
		}},
		{"late messages count as of the last", []step{
			{at: 12, ok: true}, {at: 12, ok: true}, {at: 11.9, ok: true}, {at: 11.9, retry: 4.1},
		}},
		{"a cost above one", []step{
			{at: 0, n: 2, ok: true}, {at: 0, n: 2, retry: 4}, {at: 0, n: 3, retry: 8}, {at: 0, n: 4, retry: -1}, {at: 0, n: 1, ok: true},
		}},
		{"a throttled message spends nothing", []step{
			{at: 0, n: 3, ok: true}, {at: 1, retry: 3}, {at: 2, retry: 2}, {at: 3, retry: 1}, {at: 4, ok: true},
		}},
		{"it never holds more than burst", []step{
			{at: 0, ok: true}, {at: 1e6, n: 3, ok: true}, {at: 1e6, retry: 4},
		}},
		{"a jump back keeps a full debt and no more", []step{
			{at: 1000, n: 3, ok: true}, {at: 100, retry: 4}, {at: 104, ok: true}, {at: 104, retry: 4},
		}},
		{"a message exactly a minute late is late", []step{
			{at: 100, n: 3, ok: true}, {at: 40, retry: 64}, {at: 39.999, retry: 4},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { run(t, newTable(t, bucket(3, 4*time.Second)), test.steps) })
	}
}

func TestDailyWindow(t *testing.T) {
	const hour, day = 3600.0, 86400.0
	tests := []struct {
		name  string
		limit Limit
		steps []step
	}{
		{"a day's number, then none until midnight", daily(2, "UTC", ""), []step{
			{at: 10 * hour, ok: true}, {at: 11 * hour, ok: true}, {at: 12 * hour, retry: 12 * hour}, {at: day, ok: true},
		}},
		{"the day is the zone's", daily(1, "Europe/Berlin", ""), []step{
			{at: 22 * hour, ok: true}, {at: 22.5 * hour, retry: 0.5 * hour}, {at: 23 * hour, ok: true},
		}},
		{"it ends at reset_at", daily(1, "UTC", "06:30"), []step{
			{at: 6 * hour, ok: true}, {at: 6.25 * hour, retry: 0.25 * hour}, {at: 6.5 * hour, ok: true},
		}},
		{"a cost above the number never passes", daily(2, "UTC", ""), []step{{at: 0, n: 3, retry: -1}, {at: 0, n: 2, ok: true}}},
		{"a late message of yesterday counts today", daily(1, "UTC", ""), []step{
			{at: day, ok: true}, {at: day - 1, retry: day + 1},
		}},
		{"a jump back keeps the count", daily(2, "UTC", ""), []step{
			{at: 2*day + 1, n: 2, ok: true}, {at: day + hour, retry: 23 * hour}, {at: 2 * day, ok: true},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { run(t, newTable(t, test.limit), test.steps) })
	}
}

func TestLimitsTogether(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second), daily(4, "UTC", ""))
	run(t, table, []step{
		{at: 0, n: 3, ok: true},
		{at: 0, retry: 4},     // the bucket's wait
		{at: 4, ok: true},     // the day is full now
		{at: 4, retry: 86396}, // the day's wait is longer
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

func TestWaitIsLookedAtAgain(t *testing.T) {
	// When the bucket is full again, a transitional day has begun that has no room for two: they wait for the day after.
	const hour = 3600.0
	table := newTable(t, bucket(2, 13*time.Hour), daily(2, "UTC", ""))
	run(t, table, []step{{at: -0.5 * hour, n: 2, ok: true}})
	table.mustChange(t, hour, bucket(2, 13*time.Hour), daily(2, "Europe/Berlin", ""))
	run(t, table, []step{{at: 23.9 * hour, n: 2, retry: 47*hour - 23.9*hour}})
}

func TestTiesNameTheFirstLimit(t *testing.T) {
	second := bucket(1, 4*time.Second)
	second.Name = "second"
	table := newTable(t, bucket(1, 4*time.Second), second)
	table.judge("7", Request{At: nanos(0), Cost: 1})
	if d := table.judge("7", Request{At: nanos(0), Cost: 1}); d.Limit.place != 0 {
		t.Errorf("limit %s is named, want the first", d.Limit.Name())
	}
}

func TestRolesHaveOtherNumbers(t *testing.T) {
	const subscriber, vip = 2, 3
	limit := bucket(1, 4*time.Second)
	limit.Roles = map[uint8]Numbers{
		subscriber: {Burst: 2},
		vip:        {Burst: 5, Refill: 2 * time.Second},
	}
	table := newTable(t, limit)
	allowed := func(user string, roles uint8) (n int) {
		for ; n < 10; n++ {
			if d := table.judge(user, Request{At: nanos(0), Cost: 1, Roles: roles}); !d.Allowed {
				break
			}
		}
		return n
	}
	if got := [...]int{allowed("1", 0), allowed("2", 1<<subscriber), allowed("3", 1<<subscriber|1<<vip)}; got != [...]int{1, 2, 5} {
		t.Errorf("allowed %v at once, want [1 2 5]", got)
	}
}

func TestStrikes(t *testing.T) {
	table := newTable(t, bucket(1, 1000*time.Hour))
	table.judge("7", Request{At: nanos(0), Cost: 1})
	for _, s := range []struct {
		at      float64
		strikes int
		isNew   bool
	}{
		{1, 1, true}, {10.9, 1, false}, {11, 2, true}, {12, 2, false}, {11 + 1799.9, 3, true}, {11 + 1799.9 + 1800, 1, true},
		{3000, 1, false}, {3009, 1, false}, {3010, 2, true}, // the clock has jumped back since the last
	} {
		d := table.judge("7", Request{At: nanos(s.at), Cost: 1})
		if d.Allowed || d.Strikes != s.strikes || d.NewStrike != s.isNew {
			t.Errorf("at %v s: %+v, want strike %d, new %v", s.at, d, s.strikes, s.isNew)
		}
	}
}

func TestRefusedLimits(t *testing.T) {
	for want, limits := range map[string][]Limit{
		`limit "burst": burst is 0, want 1 or more`:                                                          {bucket(0, 1)},
		`limit "burst": burst is 2147483648, want 2147483647 or less`:                                        {bucket(1<<31, 1)},
		`limit "burst": refill is 0s, want more than 0s`:                                                     {bucket(1, 0)},
		`limit "burst": burst × refill is too long (2 × 1281023h53m38.427387904s), want less than 146 years`: {bucket(2, 1<<62)},
		`limit "daily": messages is -1, want 1 or more`:                                                      {daily(-1, "", "")},
		`limit "daily": unknown timezone "Mars/Olympus" (want an IANA name such as Europe/Berlin)`:           {daily(1, "Mars/Olympus", "")},
		`limit "daily": unknown timezone "Local" (want an IANA name such as Europe/Berlin)`:                  {daily(1, "Local", "")},
		`limit "daily": reset_at "24:00" is no time of day (want HH:MM, from 00:00 to 23:59)`:                {daily(1, "", "24:00")},
		`limit "daily": reset_at "6:00" is no time of day (want HH:MM, from 00:00 to 23:59)`:                 {daily(1, "", "6:00")},
		`limit "burst": the name is taken by another limit`:                                                  {bucket(1, 1), bucket(2, 2)},
		`limit "a.b": a name is up to 64 letters, digits, - and _`:                                           {{Params: Params{Name: "a.b"}}},
		`limit 1 has no name`: {{Params: Params{Algorithm: "token-bucket", Burst: 1, Refill: 1}}},
		`limit "x": unknown algorithm "dice" (known: token-bucket, leaky-bucket, fixed-window, daily-window, user-window, sliding-window, sliding-log)`: {{Params: Params{Name: "x", Algorithm: "dice"}}},
		`limit "x": token-bucket has no "messages" (it takes burst, refill)`:                                                                            {{Params: Params{Name: "x", Algorithm: "token-bucket", Burst: 1, Refill: 1, Messages: 1}}},
	} {
		if _, err := newTestSet(limits, Strikes{}); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}
