package limits

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// heap returns the number of bytes in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection empties pools
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// The bytes calculated for a user match the growth of the heap.
func TestMemory_PerUser(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory")
	}
	const users = 50_000
	for _, test := range []struct {
		name  string
		limit Limit
		id    func(i int) string
	}{
		{"a number", bucket(3, time.Hour), func(i int) string { return strconv.Itoa(1_000_000 + i) }},
		{"a short name", bucket(3, time.Hour), func(i int) string { return "u" + strconv.Itoa(i) }},
		{"a long name", bucket(3, time.Hour), func(i int) string { return fmt.Sprintf("%0250d", i) }},
		{"a log of 100", window("sliding-log", 100, time.Hour), func(i int) string { return strconv.Itoa(1_000_000 + i) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := NewTable(compileSets(t, Strikes{}, test.limit)[PerUser], 1<<40, new(Dropped))
			before := heap()
			for i := range users {
				table.judge(test.id(i), Request{At: nanos(0), Cost: 1})
			}
			got, counted := heap()-before, table.bytesFor(users, table.set.width)
			if ratio := float64(got) / float64(counted); ratio < 0.85 || ratio > 1.1 {
				t.Errorf("%d bytes are taken for each, %d counted", got/users, counted/users)
			}
			runtime.KeepAlive(table)
		})
	}
}

// For any row width and any IDs, a table stays within its memory and keeps as many users as fit.
func TestMemory_Bounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory")
	}
	for _, limit := range []Limit{bucket(3, time.Hour), window("sliding-log", maxLog, time.Hour)} {
		for _, prefix := range []string{"1", "somebody"} {
			t.Run(limit.Name+" "+prefix, func(t *testing.T) {
				set := compileSets(t, Strikes{}, limit)[PerUser]
				// far more than the first slots of all shards
				memory := max(8<<20, 2*set.memoryFor(8*shardCount))
				table := NewTable(set, memory, new(Dropped))
				before := heap()
				fit := set.UsersIn(memory)
				for i := range 2 * fit {
					table.judge(prefix+strconv.FormatInt(1_000_000+i, 10), Request{At: nanos(0) + i, Cost: 1})
				}
				least := fit * 95 / 100
				if prefix != "1" {
					least = (memory - set.memoryFor(0)) / (userBytes(set.width) + nameBytes(len("somebody1234567"))) * 95 / 100
				}
				got, users := heap()-before, int64(table.Users())
				most := memory / userBytes(set.width) // fit is less, because it estimates the spare rows
				if got > memory*105/100 || users < least || users > most {
					t.Errorf("%d bytes are taken for %d users, want %d, and %d to %d", got, users, memory, least, most)
				}
				if _, evicted, _ := table.countDropped(); evicted != 2*fit-users {
					t.Errorf("%d rows had to go, want %d", evicted, 2*fit-users)
				}
			})
		}
	}
}

// useText calls use with the place of the row of a text.
func (t *Table) useText(n uint64, use func(p *place)) {
	var p place
	t.fillText(Hash{n * 0x9E3779B97F4A7C15 &^ namedKey, n<<1 | 1}, &p)
	p.shard = t.lockHash(p.hash)
	defer p.shard.mu.Unlock()
	p.find()
	use(&p)
}

// judgeText judges a message that uses only the row of a text.
func (t *Table) judgeText(n uint64, at int64) {
	t.useText(n, func(p *place) { p.judge(&Request{At: at, Cost: 1}, new(Decision)) })
}

// A million texts fit into 100 MB. With less memory, and 100,000 new texts a second, the last ones
// are remembered.
func TestMemory_Texts(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory")
	}
	const texts, most = 1_000_000, 100_000_000
	var set *Set // the widest rows are the last
	for _, limit := range []Limit{bucket(2, time.Minute), window("user-window", 3, time.Minute), window("sliding-log", 3, time.Minute)} {
		narrower := set
		set = compileSets(t, Strikes{}, limit.withScope(PerText))[PerUserText]
		if counted := NewTable(set, most, new(Dropped)).bytesFor(texts, set.width); counted > most || narrower != nil && narrower.width > set.width {
			t.Errorf("%s: %d bytes are counted, for rows of %d words", limit.Name, counted, set.width)
		}
	}
	table := NewTable(set, most, new(Dropped))
	before := heap()
	for i := range uint64(texts) {
		table.judgeText(i, nanos(0))
	}
	if got := heap() - before; got > most || table.Users() != texts {
		t.Errorf("%d texts take %d bytes", table.Users(), got)
	}
	runtime.KeepAlive(table)

	table = NewTable(set, most/100, new(Dropped))
	const written = texts / 20
	for i := range uint64(written) {
		table.judgeText(i, nanos(0)+int64(i)*10_000)
	}
	_, evicted, held := table.countDropped()
	if users := table.Users(); users < texts/100 || int64(users)+evicted != written || held != 0 {
		t.Errorf("%d texts are remembered; %d evicted, of which %d held", users, evicted, held)
	}
	last := 0
	for i := range uint64(1000) {
		table.useText(written-1000+i, func(p *place) {
			if p.found {
				last++
			}
		})
	}
	if last < 990 { // samples decide which one is evicted
		t.Errorf("%d of the last 1000 texts are remembered", last)
	}
}

// A change to wider rows keeps as many users as fit. It keeps throttled users first, and then the
// users who wrote most recently.
func TestMemory_WiderRows(t *testing.T) {
	const memory, users = 64 << 20, 50_000
	table := NewTable(compileSets(t, Strikes{}, bucket(2, 1000*time.Hour))[PerUser], memory, new(Dropped))
	before := heap()
	for i := range int64(users) {
		cost := int64(1)
		if i%100 == 0 { // uses the whole allowance
			cost = 2
		}
		table.judge(strconv.FormatInt(1_000_000+i, 10), Request{At: nanos(0) + i, Cost: cost})
	}
	wide := compileSets(t, Strikes{}, bucket(2, 1000*time.Hour), window("sliding-log", maxLog, time.Hour))[PerUser]
	fit := wide.UsersIn(memory)
	table.Change(wide, nanos(1))
	if got, kept := heap()-before, int64(table.Users()); got > memory*110/100 || kept < fit*95/100 || kept > fit+shardCount {
		t.Fatalf("%d bytes are taken for %d users, want %d, and %d", got, kept, memory, fit)
	}
	for i := range users {
		id := strconv.Itoa(1_000_000 + i)
		if wanted := i%100 == 0 || i > users-2000; wanted && !table.has(id) {
			t.Errorf("user %d, who wrote last or is throttled, has gone", i)
		} else if i%100 != 0 && i < users/2 && table.has(id) {
			t.Errorf("user %d is there", i)
		}
	}
	if _, evicted, held := table.countDropped(); evicted != users-int64(table.Users()) || held != 0 {
		t.Errorf("%d rows had to go, of which %d held", evicted, held)
	}
}

// TestMemory_Restored checks that a store restores no more users than fit. The first user of each
// shard is an exception, because the shard has no other user to evict.
func TestMemory_Restored(t *testing.T) {
	set := compileSets(t, Strikes{}, bucket(3, 1000*time.Hour))[PerUser]
	full, small := NewTable(set, 1<<40, new(Dropped)), NewTable(set, set.memoryFor(5000), new(Dropped))
	for i := range 20_000 {
		full.judge(strconv.Itoa(i), Request{At: nanos(float64(i)), Cost: 1})
	}
	small.mustRestore(t, full.allDirty().Rows, nanos(20_000))
	if n := small.Users(); n < 5000*98/100 || n > 5000+shardCount {
		t.Errorf("%d users are restored, want 5000", n)
	}
}
