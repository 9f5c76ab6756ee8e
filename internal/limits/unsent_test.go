package limits

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

// newNotedTable returns a table that counts what is unsent.
func newNotedTable(t *testing.T, limits ...Limit) *Table {
	t.Helper()
	table := newTable(t, limits...)
	table.CountUnsent()
	return table
}

// takeUnsent takes what is unsent in all shards.
func takeUnsent(table *Table) (unsent []Unsent) {
	for shard := 0; shard >= 0; {
		unsent, shard = table.TakeUnsent(shard, unsent)
	}
	return unsent
}

// A table that counts what is unsent decides as any other, and counts exactly what was spent, while
// rows move, shards split and limits change.
func TestTakeUnsent(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	noted, plain := newNotedTable(t, sevenLimits()...), newTable(t, sevenLimits()...)
	spent, taken := map[string]int64{}, map[string]int64{}
	take := func() {
		for _, u := range takeUnsent(noted) {
			taken[u.User] += u.N
		}
	}
	at := nanos(0)
	for i := range 60_000 {
		at += random.Int64N(int64(100 * time.Millisecond))
		user := strconv.Itoa(random.IntN(3000))
		if i%2 == 0 {
			user = "name" + user
		}
		q := Request{At: at, Cost: 1 + random.Int64N(2)}
		got, want := noted.judge(user, q), plain.judge(user, q)
		if got.Allowed != want.Allowed || got.Remaining != want.Remaining || got.RetryAt != want.RetryAt {
			t.Fatalf("message %d: got %+v, want %+v", i, got, want)
		}
		spent[user] += got.Taken
		if i == 20_000 {
			more := sevenLimits()
			more[0].Burst, more[6].Messages = 6, 9
			noted.Change(mustSet(t, more...), at)
			plain.Change(mustSet(t, more...), at)
		}
		if i%7000 == 0 {
			take()
		}
		if i%5 == 0 {
			u, _ := noted.TakeUnsentOf(user)
			taken[user] += u.N
		}
	}
	take()
	for user, n := range spent {
		if taken[user] != n {
			t.Fatalf("%d taken of %s, who spent %d", taken[user], user, n)
		}
	}
}

// However much throttled messages cost, what they charge stays, and so does their zone.
func TestTakeUnsent_HighCharge(t *testing.T) {
	tokyo := TimezoneOf("Asia/Tokyo")
	for _, costs := range [][]int64{{zoneCount + 1}, {zoneCount, 1}, {1 << 60, 1 << 60}} {
		table := newNotedTable(t, dailyLimit(10, "UTC", "").withCountThrottled())
		for _, cost := range costs {
			table.sendIn("Asia/Tokyo", 12*hour, cost)
		}
		if u, ok := table.TakeUnsentOf("7"); !ok || u.Charged != zoneCount || u.Zone != tokyo {
			t.Errorf("%d: %+v, want the highest count", costs, u)
		}
	}
}

// A row that comes back replaces what was sent, and keeps what was spent since.
func TestImport(t *testing.T) {
	for _, limit := range sevenLimits() {
		table := newNotedTable(t, limit)
		set := table.set
		table.judge("7", Request{At: nanos(0), Cost: 1})
		sent, ok := table.TakeUnsentOf("7")
		if !ok || sent.N != 1 || sent.At != nanos(0) {
			t.Fatalf("%s: %+v, %v", limit.Name, sent, ok)
		}
		table.judge("7", Request{At: nanos(0.5), Cost: 1}) // while it is sent
		d := NewDraft(set, nil, nanos(0))
		d.Spend(Spent{At: nanos(0), N: 1}) // on another node
		d.Spend(sent.Spent)
		must(t, table.Import("7", d.Row(Stamp{Seq: 2}, nanos(0.6)), nanos(0.6)))
		if got := levelAt(table, nanos(0.6)); got.Used != 3 || got.Remaining != 0 {
			t.Errorf("%s: %+v, want 3 used: two on this node and one on another", limit.Name, got)
		}
		rest := takeUnsent(table)
		if len(rest) != 1 || rest[0].N != 1 {
			t.Errorf("%s: %+v is unsent, want one message", limit.Name, rest)
		}
	}
}

// Strikes and overrides come along; newer strikes from here stay until they are sent.
func TestImport_StrikesAndOverride(t *testing.T) {
	table := newTableWithStrikes(t, Strikes{Every: time.Second, Forget: time.Hour}, bucket(1, time.Hour))
	table.CountUnsent()
	d := NewDraft(table.set, nil, nanos(0))
	for i := range 3 {
		d.judge(nanos(float64(2*i)), 1)
	}
	must(t, d.SetOwn(Own{Numbers: map[string]Numbers{"burst": {Burst: 2}}}, nanos(5)))
	row := d.Row(Stamp{Seq: 1}, nanos(5))
	must(t, table.Import("7", row, nanos(5)))
	_, levels, standing := table.Explain("7", &Request{At: nanos(5), Cost: 1})
	if standing.Strikes != 2 || !levels[0].Own || levels[0].Capacity != 2 || !table.HasOwn() {
		t.Errorf("after the row came in: %+v, %+v", standing, levels)
	}
	for i := range 3 {
		table.judge("7", Request{At: nanos(float64(10 + 2*i)), Cost: 1})
	}
	must(t, table.Import("7", row, nanos(20)))
	if _, _, standing := table.Explain("7", &Request{At: nanos(20), Cost: 1}); standing.Strikes != 4 {
		t.Errorf("%d strikes after an older row came in, want 4: two of them are newer", standing.Strikes)
	}
	if users := slices.Collect(func(yield func(string) bool) {
		for user := range table.Owns(nanos(20)) {
			yield(user)
		}
	}); len(users) != 1 {
		t.Errorf("%v have an override, want one user", users)
	}
	if _, ok := table.TakeUnsentOf("7"); !ok {
		t.Fatal("nothing is unsent")
	}
	empty, _, err := EmptyRow(row.Bytes(), 1, nanos(20), nanos(5000))
	must(t, err)
	reset := mustRead(t, table.set, empty)
	must(t, table.Import("7", reset, nanos(20)))
	if _, levels, standing := table.Explain("7", &Request{At: nanos(20), Cost: 1}); standing.Strikes != 0 || levels[0].Used != 0 || table.HasOwn() {
		t.Errorf("after the user was deleted elsewhere: %+v, %+v", standing, levels)
	}
}
