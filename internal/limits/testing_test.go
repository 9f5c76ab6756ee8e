package limits

import (
	"slices"
	"strconv"
	"testing"
	"time"
)

// step is one message of a test, in seconds since the beginning of the test.
type step struct {
	at    float64
	n     int64
	ok    bool
	retry float64 // seconds if not ok; -1 means never
}

// epoch is the beginning of the tests: a Monday in winter, at midnight UTC.
var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

const (
	hour = 3600.0 // seconds
	day  = 24 * hour
)

func nanos(seconds float64) int64 { return epoch.UnixNano() + int64(seconds*1e9+0.5) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testRoles is the list of roles of most tests. The roles of wideRoles have the same order and
// other bits, some of which don't fit in wordMeta.
var (
	testRoles = NewRoleList([]string{"owner", "moderator", "vip", "subscriber", "everyone", "new"}, "everyone")
	wideRoles = NewRoleList(append(manyRoles(33), "vip", "owner", "subscriber", "everyone"), "everyone")
)

// manyRoles returns names of n roles.
func manyRoles(n int) (names []string) {
	for i := range n {
		names = append(names, "role"+strconv.Itoa(i))
	}
	return names
}

func rolesOf(names ...string) Roles {
	roles := testRoles.Everyone()
	for _, name := range names {
		roles = roles.With(name)
	}
	return roles
}

// newTestSet compiles limits per user.
func newTestSet(limits []Limit, strikes Strikes) (*Set, error) {
	sets, err := Compile(limits, testRoles, strikes)
	return sets[PerUser], err
}

// compileSets compiles limits of any scope.
func compileSets(t testing.TB, strikes Strikes, limits ...Limit) Sets {
	t.Helper()
	sets, err := Compile(limits, testRoles, strikes)
	must(t, err)
	return sets
}

func (t *Table) judge(user string, q Request) (d Decision) {
	t.Judge(user, &q, &d)
	return d
}

// send judges a message of user 7.
func (t *Table) send(at float64, n int64) Decision {
	return t.judge("7", Request{At: nanos(at), Cost: n})
}

// level returns user 7's level in a limit.
func (t *Table) level(tb testing.TB, at float64, limit string) Level {
	tb.Helper()
	_, levels, _ := t.Explain("7", &Request{At: nanos(at), Cost: 1})
	i := slices.IndexFunc(levels, func(l Level) bool { return l.Limit.Name() == limit })
	if i < 0 {
		tb.Fatalf("there is no limit %s", limit)
	}
	return levels[i]
}

// usage returns user 7's usage of a limit.
func (t *Table) usage(tb testing.TB, at float64, limit string) int64 {
	tb.Helper()
	return t.level(tb, at, limit).Used
}

// standing returns user 7's state beyond the limits.
func (t *Table) standing(at float64) Standing {
	_, _, s := t.Explain("7", &Request{At: nanos(at), Cost: 1})
	return s
}

func newTable(t testing.TB, limits ...Limit) *Table {
	t.Helper()
	return newTableWithStrikes(t, Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute}, limits...)
}

func newTableWithStrikes(t testing.TB, strikes Strikes, limits ...Limit) *Table {
	t.Helper()
	return NewTable(compileSets(t, strikes, limits...)[PerUser], 1<<30, new(Dropped))
}

func bucket(burst int64, refill time.Duration) Limit {
	return Limit{Params: Params{Name: "burst", Algorithm: "token-bucket", Burst: burst, Refill: refill}}
}

func leakyLimit(every time.Duration, queue int64) Limit {
	return Limit{Params: Params{Name: "leaky", Algorithm: "leaky-bucket", Every: every, Queue: queue}}
}

func cascadeLimit(burst int64, refill time.Duration, extraBurst int64, extraRefill time.Duration) Limit {
	return Limit{Params: Params{Name: "cascade", Algorithm: "cascade", Burst: burst, Refill: refill, ExtraBurst: extraBurst, ExtraRefill: extraRefill}}
}

func dailyLimit(messages int64, timezone, resetAt string) Limit {
	return Limit{Params: Params{Name: "daily", Algorithm: "daily-window", Messages: messages, Timezone: timezone, ResetAt: resetAt}}
}

// window returns a limit of one of the other algorithms, named after the algorithm.
func window(algorithm string, messages int64, every time.Duration) Limit {
	return Limit{Params: Params{Name: algorithm, Algorithm: algorithm, Messages: messages, Every: every}}
}

func (l Limit) withName(name string) Limit  { l.Name = name; return l }
func (l Limit) withScope(scope Scope) Limit { l.Scope = scope; return l }
func (l Limit) withSlices(n int64) Limit    { l.Slices = n; return l }
func (l Limit) withObserves() Limit         { l.Observes = true; return l }
func (l Limit) withCountThrottled() Limit   { l.CountThrottled = true; return l }
func (l Limit) withRole(role string, n Numbers) Limit {
	l.Roles = map[string]Numbers{role: n}
	return l
}

// sevenLimits returns one limit of each algorithm except the cascade. Each has room for three
// messages. An unused limit is empty again within two minutes; daily is empty again at midnight
// UTC.
func sevenLimits() []Limit {
	return []Limit{
		bucket(3, 4*time.Second),
		leakyLimit(4*time.Second, 2),
		window("fixed-window", 3, time.Minute),
		dailyLimit(3, "UTC", ""),
		window("user-window", 3, time.Minute),
		window("sliding-window", 3, time.Minute),
		window("sliding-log", 3, time.Minute),
	}
}

// countDropped returns how many rows were dropped.
func (t *Table) countDropped() (fresh, evicted, held int64) {
	return t.dropped.Fresh.Load(), t.dropped.Evicted.Load(), t.dropped.Held.Load()
}

// testBatch is a batch with its rows.
type testBatch struct {
	*Batch
	Rows []StateRow
}

// allDirty returns all rows of Dirty at once.
func (t *Table) allDirty() *testBatch {
	b := &testBatch{}
	b.Batch = t.Dirty(func(rows []StateRow) { b.Rows = append(b.Rows, rows...) })
	return b
}

// sameShard returns n user IDs, numeric or with a prefix, whose rows are in one shard.
func (t *Table) sameShard(n int, prefix string) (users []string) {
	first := t.shardOf(prefix + "1")
	for i := 1; len(users) < n; i++ {
		if user := prefix + strconv.Itoa(i); t.shardOf(user) == first {
			users = append(users, user)
		}
	}
	return users
}

func (t *Table) shardOf(user string) *shard {
	var p place
	t.fillPlace(user, &p)
	return p.shard
}

// run plays the steps of one user, and checks all waiting times: a throttled message passes at its
// retry time, and not 1 ns sooner.
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
