package limits

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// growing is a table that grows from one shard to many, with a table for each of its users alone.
// Those never split, so they are the oracle. What a store keeps is restored at the end.
type growing struct {
	rt     *rapid.T
	table  *Table
	alone  map[string]*Table
	users  []string
	now    int64
	set    *Set
	open   *testBatch // taken, not confirmed yet
	stored map[storedKey]StateRow
}

type storedKey struct{ user, limit string }

// TestGrowth_MatchesTablesOfOne plays random messages and changes of many users. Whatever happens
// while the table grows, each user's state stays what it would be in a table of their own, and a
// store gets all of it.
func TestGrowth_MatchesTablesOfOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := &growing{rt: rt, alone: map[string]*Table{}, now: nanos(0), set: growingSet(rt, 1), stored: map[storedKey]StateRow{}}
		g.table = NewTable(g.set, 1<<30, new(Dropped))
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			g.step()
		}
		g.growDuringBatch()
		g.finish()
	})
}

// growDuringBatch makes the table grow while a batch is open.
func (g *growing) growDuringBatch() {
	if g.open == nil {
		g.saveOrConfirm()
	}
	before := g.table.shards.Load()
	for g.table.shards.Load() == before {
		g.arrive(crowd)
	}
	g.saveOrConfirm()
}

// growingSet returns limits that differ only in numbers.
func growingSet(rt *rapid.T, factor int64) *Set {
	return mustCompile(rt, []Limit{
		bucket(3*factor, time.Duration(factor)*time.Hour), window("sliding-log", 4*factor, 1000*time.Hour), dailyLimit(5*factor, "UTC", ""),
	}, Strikes{Every: 10 * time.Second, Forget: time.Hour})[PerUser]
}

func (g *growing) step() {
	g.now += rapid.Int64Range(0, int64(time.Minute)).Draw(g.rt, "pause")
	switch rapid.IntRange(0, 9).Draw(g.rt, "what happens") {
	case 0:
		g.set = growingSet(g.rt, rapid.Int64Range(1, 2).Draw(g.rt, "factor"))
		g.forAll(func(t *Table) { t.Change(g.set, g.now) })
	case 1:
		g.forAll(func(t *Table) { t.Rewind(g.now) })
	case 2, 3:
		g.saveOrConfirm()
	case 4:
		g.table.DirtyAll()
	case 5:
		g.amend()
	default:
		g.arrive(rapid.IntRange(1, 300).Draw(g.rt, "new users"))
		g.send(rapid.IntRange(1, 100).Draw(g.rt, "messages"))
	}
}

func (g *growing) forAll(do func(*Table)) {
	do(g.table)
	for _, alone := range g.alone {
		do(alone)
	}
}

// arrive lets new users send their first messages.
func (g *growing) arrive(n int) {
	for i := range n {
		user := strconv.Itoa(1000 + len(g.users))
		if i%3 == 0 {
			user = "somebody" + user
		}
		g.users = append(g.users, user)
		g.alone[user] = NewTable(g.set, 1<<30, new(Dropped))
		g.judge(user, int64(1+i%4))
	}
}

func (g *growing) drawUser() string { return rapid.SampledFrom(g.users).Draw(g.rt, "user") }

// send judges messages of known users in batches.
func (g *growing) send(n int) {
	cases := make([]Case, n)
	for i := range cases {
		cases[i] = Case{User: g.drawUser(), Request: Request{At: g.now, Cost: int64(1 + i%3)}}
	}
	if judged := g.table.JudgeAll(cases); judged != n {
		g.rt.Fatalf("%d of %d messages were judged", judged, n)
	}
	for i := range cases {
		g.compare(cases[i].User, cases[i].Decision, g.alone[cases[i].User].judge(cases[i].User, cases[i].Request))
	}
}

func (g *growing) judge(user string, cost int64) {
	q := Request{At: g.now, Cost: cost}
	g.compare(user, g.table.judge(user, q), g.alone[user].judge(user, q))
}

func (g *growing) compare(user string, got, want Decision) {
	g.rt.Helper()
	if got, want := formatGrowing(got), formatGrowing(want); got != want {
		g.rt.Fatalf("%s of %d:\n got %s\nwant %s", user, len(g.users), got, want)
	}
}

func formatGrowing(d Decision) string {
	name := ""
	if d.Limit != nil {
		name = d.Limit.Name()
	}
	return formatDecision(d, name)
}

// amend changes a single user.
func (g *growing) amend() {
	if len(g.users) == 0 {
		return
	}
	user := g.drawUser()
	own := Own{Numbers: map[string]Numbers{"burst": {Burst: rapid.Int64Range(1, 9).Draw(g.rt, "burst")}}}
	what := rapid.IntRange(0, 3).Draw(g.rt, "amendment")
	for _, table := range []*Table{g.table, g.alone[user]} {
		var err error
		switch what {
		case 0:
			_, err = table.Grant(user, "daily", 2, g.now)
		case 1:
			err = table.SetOwn(user, own, g.now)
		case 2:
			table.Reset(user)
		case 3:
			table.Refund(user, Refund{At: g.now, N: 1}, g.now)
		}
		if err != nil {
			g.rt.Fatal(err)
		}
	}
}

// saveOrConfirm takes a batch, or ends the one that is open.
func (g *growing) saveOrConfirm() {
	switch {
	case g.open == nil:
		g.open = g.table.allDirty()
		return
	case rapid.Bool().Draw(g.rt, "stored"):
		for _, row := range g.open.Rows {
			g.stored[storedKey{row.User, row.Limit}] = row
		}
		g.open.Confirm()
	default:
		g.open.Release()
	}
	g.open = nil
}

// finish saves the rest, and compares all users once more, also with what a store restores.
func (g *growing) finish() {
	if g.open != nil {
		g.open.Release()
	}
	for _, row := range g.table.allDirty().Rows {
		g.stored[storedKey{row.User, row.Limit}] = row
	}
	restored := NewTable(g.set, 1<<30, new(Dropped))
	rows := make([]StateRow, 0, len(g.stored))
	for _, row := range g.stored {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b StateRow) int { return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Limit, b.Limit)) })
	restored.mustRestore(g.rt, rows, g.now)
	for _, user := range g.users {
		q := Request{At: g.now, Cost: 2}
		want := g.alone[user].Peek(user, &q)
		g.compare(user, g.table.Peek(user, &q), want)
		g.compare(user, restored.Peek(user, &q), want)
		if got, want := g.table.OwnOf(user, g.now), g.alone[user].OwnOf(user, g.now); fmt.Sprint(got) != fmt.Sprint(want) {
			g.rt.Fatalf("%s has %+v, want %+v", user, got, want)
		}
	}
	g.table.forEach(func(s *shard) {
		for slot := range s.len() {
			if s.inUse(slot) && version(s.row(slot)) > s.version {
				g.rt.Fatalf("a row of shard %d has a version that a later change may have again", s.number)
			}
		}
	})
	if g.table.Users() > len(g.users) {
		g.rt.Fatalf("%d users, counted as %d", len(g.users), g.table.Users())
	}
}

// TestGrowth_ByBatches checks that a table grows if all messages are judged in batches.
func TestGrowth_ByBatches(t *testing.T) {
	table := newTable(t, bucket(1, time.Hour))
	cases := make([]Case, 20*crowd)
	for i := range cases {
		cases[i] = Case{User: strconv.Itoa(i), Request: Request{At: nanos(0), Cost: 1}}
	}
	table.JudgeAll(cases)
	table.JudgeAll(cases[:batchSize])
	if n := table.shards.Load(); n < 8 || table.Users() != len(cases) {
		t.Errorf("%d shards for %d users", n, table.Users())
	}
}

// TestGrowth_ConcurrentIsExact sends from several goroutines while the table grows from one shard
// to many, while rows go to a store and while the limits change. Each user gets exactly the limit.
func TestGrowth_ConcurrentIsExact(t *testing.T) {
	const users, capacity = 1500, 3
	table := newTable(t, bucket(capacity, 1e6*time.Second))
	name := func(i int) string {
		if i%2 == 0 {
			return "anna" + strconv.Itoa(i)
		}
		return strconv.Itoa(i)
	}
	var allowed [users]atomic.Int64
	var talking, others sync.WaitGroup
	var done atomic.Bool
	for g := range 3 {
		talking.Go(func() {
			cases := make([]Case, 5)
			for i := 0; i < users; i++ {
				if table.judge(name(i), Request{At: nanos(0), Cost: 1}).Allowed {
					allowed[i].Add(1)
				}
				for k := range cases {
					cases[k] = Case{User: name((i + g*k) % users), Request: Request{At: nanos(0), Cost: 1}}
				}
				table.JudgeAll(cases)
				for k := range cases {
					allowed[(i+g*k)%users].Add(cases[k].Decision.Taken)
				}
			}
		})
	}
	for _, do := range []func(i int){
		func(i int) {
			if b := table.allDirty(); i%2 == 0 {
				b.Confirm()
			} else {
				b.Release()
			}
		},
		func(int) { table.mustChange(t, 0, bucket(capacity, 1e6*time.Second)) },
		func(i int) { table.Owns(nanos(0)); table.Peek(name(i%users), &Request{At: nanos(0), Cost: 1}) },
	} {
		others.Go(func() {
			for i := 0; i < 20 || !done.Load(); i++ {
				do(i)
			}
		})
	}
	talking.Wait()
	done.Store(true)
	others.Wait()
	for i := range users {
		for range capacity {
			if table.judge(name(i), Request{At: nanos(0), Cost: 1}).Allowed {
				allowed[i].Add(1)
			}
		}
		if n := allowed[i].Load(); n != capacity {
			t.Errorf("user %s was allowed %d messages, want %d", name(i), n, capacity)
		}
	}
	if n := table.shards.Load(); n < 8 {
		t.Errorf("%d shards for %d users", n, users)
	}
}
