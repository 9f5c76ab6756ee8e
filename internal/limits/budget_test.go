package limits

import (
	"runtime"
	"strconv"
	"testing"
	"time"
)

// fill returns a table of a budget in which that many users have written.
func fill(b *Budget, set *Set, users int) *Table {
	table := NewTable(set, 1<<40, new(Dropped))
	table.ShareMemory(b)
	for i := range users {
		table.judge(strconv.Itoa(1_000_000+i), Request{At: nanos(0), Cost: 1})
	}
	return table
}

// bytes returns how many bytes the slots of a table take.
func (t *Table) bytes() (bytes int64) {
	t.forEach(func(s *shard) { bytes += int64(s.len() * s.width * 8) })
	return bytes
}

// A table whose users are replaced by those of another one frees their memory.
func TestBudget_FreesMemory(t *testing.T) {
	set := compileSets(t, Strikes{}, bucket(3, time.Hour))[PerUser]
	b := NewBudget(1 << 20)
	large := fill(b, set, 20_000)
	before := large.bytes()
	other := fill(b, set, 20_000)
	if after := large.bytes(); after > before*2/3 || other.bytes()+after > 1<<20*9/8 {
		t.Errorf("it takes %d bytes, before %d, and the other one %d", after, before, other.bytes())
	}
}

// A table that has left its budget takes nothing of it any more, and can be collected.
func TestBudget_Left(t *testing.T) {
	b := NewBudget(100)
	table := fill(b, compileSets(t, Strikes{}, bucket(3, time.Hour))[PerUser], 10)
	table.LeaveBudget()
	table.judge("7", Request{At: nanos(0), Cost: 1}) // a decision that was in progress
	if b.Used() != 0 || len(b.tables) != 0 || b.largest != nil {
		t.Errorf("%d bytes of %d tables, the largest %p", b.Used(), len(b.tables), b.largest)
	}
}

// The bytes counted for small tables match the growth of the heap.
func TestBudget_SmallTables(t *testing.T) {
	set := compileSets(t, Strikes{}, bucket(3, time.Hour))[PerUser]
	b := NewBudget(0)
	tables := make([]*Table, 2000)
	before := heap()
	for i := range tables {
		tables[i] = fill(b, set, 1)
	}
	got := heap() - before
	if ratio := float64(got) / float64(b.Used()); ratio < 0.8 || ratio > 1.25 {
		t.Errorf("%d bytes are taken for each table, %d counted", got/2000, b.Used()/2000)
	}
	runtime.KeepAlive(tables)
}
