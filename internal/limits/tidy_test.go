package limits

import (
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/turntest"
)

// has reports whether a user has a row.
func (t *Table) has(user string) bool {
	var p place
	t.fillPlace(user, &p)
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	p.find()
	return p.found
}

// sweep adds enough new users for tidy to check every row of the shard. The shard has at most 8
// slots.
func (t *Table) sweep(at int64, users []string) {
	for _, user := range users[:4] {
		t.judge(user, Request{At: at, Cost: 1})
	}
}

func TestTidy_DropsFreshRows(t *testing.T) {
	// The numbers say when each algorithm has forgotten a message of second 1. A day is remembered
	// for another one.
	for i, forgotten := range []float64{5, 5, 60, 2 * day, 61, 120, 61} {
		limit := sevenLimits()[i]
		for late, want := range map[int64]bool{-1: true, 0: false} {
			table := newTable(t, limit)
			users := table.sameShard(5, "1")
			table.judge(users[0], Request{At: nanos(1), Cost: 1})
			table.sweep(nanos(forgotten+60)+late, users[1:])
			if got := table.has(users[0]); got != want {
				t.Errorf("%s: a minute and %d ns after it has forgotten, the row is there: %v", limit.Name, late, got)
			}
			if fresh, evicted, held := table.countDropped(); fresh != map[bool]int64{true: 0, false: 1}[want] || evicted+held != 0 {
				t.Errorf("%s: dropped %d, %d, %d", limit.Name, fresh, evicted, held)
			}
		}
	}
}

func TestTidy_KeepsOtherRows(t *testing.T) {
	long := Strikes{Every: 10 * time.Second, Forget: 30 * time.Minute, Ladder: []int64{0, 2 * 3600 * nanosPerSecond}}
	for _, test := range []struct {
		name  string
		make  func(t *testing.T, table *Table, user string)
		stays float64 // the row may be dropped a minute after this time; -1: never
	}{
		{"a message", func(*testing.T, *Table, string) {}, 4},
		{"strikes", func(_ *testing.T, table *Table, user string) {
			table.judge(user, Request{At: nanos(0), Cost: 4})
		}, 1800},
		{"silence", func(_ *testing.T, table *Table, user string) {
			table.judge(user, Request{At: nanos(0), Cost: 4})
			table.judge(user, Request{At: nanos(10), Cost: 4})
		}, 10 + 2*hour},
		{"a grant", func(_ *testing.T, table *Table, user string) { table.Grant(user, "burst", 1, nanos(0)) }, day},
		{"something of their own", func(t *testing.T, table *Table, user string) {
			must(t, table.SetOwn(user, ownBurst(9), nanos(0)))
		}, -1},
		{"what was their own once", func(t *testing.T, table *Table, user string) {
			for _, own := range []Own{ownBurst(9), {}} {
				must(t, table.SetOwn(user, own, nanos(0)))
			}
		}, 4},
	} {
		for _, gone := range []bool{false, true} {
			table := newTableWithStrikes(t, long, bucket(3, 4*time.Second))
			users := table.sameShard(5, "anna")
			table.judge(users[0], Request{At: nanos(0), Cost: 1})
			test.make(t, table, users[0])
			table.allDirty().Confirm()
			at := nanos(test.stays + 60)
			switch {
			case test.stays < 0:
				at = nanos(1000 * day)
			case !gone:
				at--
			}
			table.sweep(at, users[1:])
			if got, want := table.has(users[0]), !gone || test.stays < 0; got != want {
				t.Errorf("%s: the row is there: %v, want %v", test.name, got, want)
			}
		}
	}
}

func TestTidy_KeepsTransitionalDays(t *testing.T) {
	table := newTable(t, dailyLimit(48, "UTC", ""))
	users := table.sameShard(13, "1")
	table.judge(users[0], Request{At: nanos(hour), Cost: 1})
	table.mustChange(t, 2*hour, dailyLimit(48, "Europe/Berlin", "")) // the transitional day ends at 47 h
	table.judge(users[0], Request{At: nanos(day), Cost: 1})
	table.sweep(nanos(71*hour+60)-1, users[1:])
	if !table.has(users[0]) {
		t.Error("a row has gone within a day of its transitional day")
	}
	table.sweep(nanos(71*hour+60), users[5:])
	table.sweep(nanos(71*hour+60), users[9:])
	if table.has(users[0]) {
		t.Error("a row has stayed for more than a day after its transitional day")
	}
}

func TestTidy_KeepsPinnedUntilStored(t *testing.T) {
	table := newTable(t, bucket(3, 4*time.Second))
	users := table.sameShard(13, "1")
	table.judge(users[0], Request{At: nanos(0), Cost: 3})
	table.allDirty().Confirm()
	table.Reset(users[0]) // the stored row differs
	table.sweep(nanos(hour), users[1:])
	if !table.has(users[0]) {
		t.Fatal("a reset that isn't stored has gone")
	}
	b := table.allDirty()
	table.sweep(nanos(2*hour), users[5:])
	b.Release()
	if !table.has(users[0]) {
		t.Fatal("a reset that couldn't be stored has gone")
	}
	table.allDirty().Confirm()
	table.sweep(nanos(3*hour), users[9:])
	if table.has(users[0]) {
		t.Error("a reset that is stored has stayed")
	}
}

// memoryFor returns how many bytes that many users with numeric IDs take.
func (s *Set) memoryFor(users int64) int64 {
	return (users + spareRows*shardsFor(users)) * userBytes(s.width)
}

// fullTable returns a full table with 7 users of one shard, who last spent at seconds 1 to 7, and
// more IDs.
func fullTable(t *testing.T) (table *Table, users []string) {
	t.Helper()
	set, err := newTestSet([]Limit{bucket(3, 1000*time.Hour)}, Strikes{Every: 10 * time.Second})
	must(t, err)
	table = NewTable(set, set.memoryFor(7), new(Dropped))
	users = table.sameShard(20, "1")
	for i, user := range users[:7] {
		table.judge(user, Request{At: nanos(float64(i + 1)), Cost: 1})
	}
	table.allDirty().Confirm()
	return table, users
}

func TestEvict_LeastRecentlyUsed(t *testing.T) {
	table, users := fullTable(t)
	table.judge(users[0], Request{At: nanos(8), Cost: 1})
	for i, next := range []int{1, 2, 3} {
		table.judge(users[7+i], Request{At: nanos(float64(9 + i)), Cost: 1})
		if table.has(users[next]) || table.Users() != 7 {
			t.Errorf("new user %d: %d users, and the least recently used is there: %v", i, table.Users(), table.has(users[next]))
		}
	}
	if fresh, evicted, held := table.countDropped(); fresh != 0 || evicted != 3 || held != 0 {
		t.Errorf("dropped %d, %d, %d", fresh, evicted, held)
	}
}

func TestEvict_HeldGoLast(t *testing.T) {
	table, users := fullTable(t)
	table.judge(users[0], Request{At: nanos(8), Cost: 9}) // a strike
	table.judge(users[1], Request{At: nanos(8), Cost: 2}) // all is used
	table.Grant(users[2], "burst", 1, nanos(3))
	table.allDirty().Confirm()
	for i := range 4 { // the four users who have only sent messages are evicted first
		table.judge(users[7+i], Request{At: nanos(20), Cost: 3})
	}
	for i, user := range users[:7] {
		if want := i < 3; table.has(user) != want {
			t.Errorf("user %d is there: %v", i, !want)
		}
	}
	if _, evicted, held := table.countDropped(); evicted != 4 || held != 0 {
		t.Errorf("dropped %d, of which held %d", evicted, held)
	}
	table.judge(users[11], Request{At: nanos(21), Cost: 3}) // all are held
	if table.has(users[2]) {
		t.Error("of those who are held, the least recently used is there")
	}
	if _, evicted, held := table.countDropped(); evicted != 5 || held != 1 {
		t.Errorf("dropped %d, of which held %d", evicted, held)
	}
}

// A period that a change of unit has extended protects a row while it continues, although hardly
// any of it is used.
func TestEvict_HoldsExtendedPeriod(t *testing.T) {
	table := newTable(t, periodLimit(20, "day"))
	run(t, table, []step{{at: 2 * day, ok: true}})
	isHeld := func(at int64) bool {
		var p place
		table.lock("7", &p)
		defer p.shard.mu.Unlock()
		p.find()
		return p.shard.isHeld(p.shard.row(p.slot), at)
	}
	if isHeld(nanos(2.5 * day)) {
		t.Error("a usual day protects the row")
	}
	table.mustChange(t, 2.5*day, periodLimit(70, "week")) // it is extended to a week of 5 days
	if !isHeld(nanos(7*day) - 1) {
		t.Error("the row isn't protected in the extended period")
	}
	if isHeld(nanos(7 * day)) {
		t.Error("the row is still protected after the extended period")
	}
}

func TestEvict_KeepsOverrides(t *testing.T) {
	table, users := fullTable(t)
	must(t, table.SetOwn(users[0], ownBurst(5), nanos(1)))
	table.allDirty().Confirm()
	for i := range 13 {
		// in the end all are held
		table.judge(users[7+i], Request{At: nanos(20 + float64(i)), Cost: 3})
	}
	if own := table.OwnOf(users[0], nanos(0)); own.IsZero() || table.Users() != 7 {
		t.Errorf("%+v, %d users", own, table.Users())
	}
}

func TestTidy_OneWrongClockDropsNobody(t *testing.T) {
	table := newTable(t, bucket(3, time.Hour))
	users := table.sameShard(20, "1")
	for _, user := range users[:3] {
		table.judge(user, Request{At: nanos(0), Cost: 3})
	}
	table.judge(users[3], Request{At: nanos(3650 * day), Cost: 1})
	for _, user := range users[4:] {
		table.judge(user, Request{At: nanos(10), Cost: 1})
	}
	for _, user := range users[:3] {
		if d := table.judge(user, Request{At: nanos(10), Cost: 1}); d.Allowed {
			t.Errorf("user %s has got away by another's clock", user)
		}
	}
}

func TestTidy_InventedUsersAreBounded(t *testing.T) {
	const most = 5000
	set, err := newTestSet([]Limit{bucket(3, 1000*time.Hour)}, Strikes{Every: 10 * time.Second})
	must(t, err)
	for _, prefix := range []string{"", "anna"} {
		memory := set.memoryFor(most)
		if prefix != "" {
			memory += most * nameBytes(len(prefix+"12345"))
		}
		table := NewTable(set, memory, new(Dropped))
		for i := range 40_000 {
			table.judge(prefix+strconv.Itoa(10_000+i), Request{At: nanos(float64(i) / 100), Cost: int64(1 + i%5)})
			if n := table.Users(); n > most {
				t.Fatalf("%d users after %d messages, want %d at most", n, i, most)
			}
		}
		users, text, slots := 0, 0, 0
		table.forEach(func(s *shard) {
			users += s.count
			slots += s.len()
			text += cap(s.names.text)
		})
		if users < most*98/100 || table.Users() != users {
			t.Errorf("%d rows, counted as %d", users, table.Users())
		}
		if prefix == "" && text != 0 || text > 2*most*len(prefix+"12345") || slots > 2*most {
			t.Errorf("%d bytes for names, and room for %d rows", text, slots)
		}
	}
}

func TestTidy_ReturningRowIsNotStored(t *testing.T) {
	for _, prefix := range []string{"1", "anna"} {
		table := newTable(t, bucket(3, 4*time.Second))
		users := table.sameShard(6, prefix)
		table.judge(users[0], Request{At: nanos(0), Cost: 1})
		b := table.allDirty()
		table.sweep(nanos(hour), users[1:])
		if table.has(users[0]) {
			t.Fatal("the row is still there")
		}
		table.judge(users[0], Request{At: nanos(hour), Cost: 2})
		b.Confirm()
		stored := false
		for _, row := range table.allDirty().Rows {
			stored = stored || row.User == users[0]
		}
		if !stored {
			t.Errorf("what %s has spent since isn't given to the store", users[0])
		}
	}
}

func TestTidy_JumpKeepsNobodyForever(t *testing.T) {
	for _, stored := range []bool{false, true} {
		table := newTable(t, bucket(3, 4*time.Second))
		if stored {
			table.allDirty().Confirm()
		}
		for i := range 2000 {
			table.judge(strconv.Itoa(1000+i), Request{At: nanos(1000), Cost: 1})
		}
		for i := range 2000 {
			table.judge(strconv.Itoa(1000+i), Request{At: nanos(0), Cost: 1})
		}
		if stored {
			table.allDirty().Confirm()
		}
		for i := range 4000 {
			table.judge(strconv.Itoa(100_000+i), Request{At: nanos(5000), Cost: 1})
		}
		if n := table.Users(); n > 4500 {
			t.Errorf("with a store %v: %d users are remembered, of whom 4,000 are new", stored, n)
		}
	}
}

func TestRestore_AsFullAsAnother(t *testing.T) {
	turntest.Expensive(t)
	grown := newTable(t, bucket(3, time.Hour))
	for i := range 100_000 {
		grown.judge(strconv.Itoa(1_000_000+i), Request{At: nanos(0), Cost: 1})
	}
	restored := newTable(t, bucket(3, time.Hour))
	restored.mustRestore(t, grown.allDirty().Rows, nanos(1))
	restored.allDirty().Confirm()
	for range 2 { // then it grows like any other
		restored.forEach(func(s *shard) {
			if used := float64(s.count) / float64(s.len()); used < 0.8 {
				t.Errorf("shard %d has %d slots for %d users", s.number, s.len(), s.count)
			}
		})
		for i := range 50_000 {
			restored.judge(strconv.Itoa(5_000_000+i), Request{At: nanos(2), Cost: 1})
		}
	}
}
