package simulate

import (
	"hash/maphash"

	"github.com/chatguard/chatguard"
)

// mostPrints is the maximum number of prints in a printTable.
const mostPrints = 1 << 19

// prints are the prints of a sequence of texts, each different one only once. If there are more
// than mostPrints, the oldest are forgotten, up to as many. So the memory is bounded. The zero
// value is empty.
type prints struct {
	most  int         // of each table; 0 means mostPrints
	old   *printTable // nil until new was full
	new   *printTable // nil until the first text
	start int         // number of the first text in new
	known int         // number of the first text in old
}

// of returns what to remember of a print, for get. number is that of the text, and rises.
func (p *prints) of(print *chatguard.TextPrint, number int) (reference uint32) {
	if print.IsZero() {
		return 0
	}
	most := p.most
	if most == 0 {
		most = mostPrints
	}
	if p.new == nil || len(p.new.list) == most && p.new.slots[p.new.find(print)] == 0 {
		p.old, p.new = p.new, newPrintTable()
		p.known, p.start = p.start, number
	}
	return p.new.index(print) + 1
}

// get returns the print of the text with a number. It is nil if there is none, or if it was
// forgotten.
func (p *prints) get(reference uint32, number int) *chatguard.TextPrint {
	switch {
	case reference == 0 || number < p.known:
		return nil
	case number < p.start:
		return &p.old.list[reference-1]
	}
	return &p.new.list[reference-1]
}

// bytes returns the approximate memory.
func (p *prints) bytes() (n int) {
	const ofPrint, ofSlot = 38, 4
	for _, t := range []*printTable{p.old, p.new} {
		if t != nil {
			n += cap(t.list)*ofPrint + len(t.slots)*ofSlot
		}
	}
	return n
}

// printTable has different prints, which a hash table with open addressing finds.
type printTable struct {
	list  []chatguard.TextPrint
	slots []uint32 // indexes in list, plus 1; 0 means free. At most half of them are in use.
	seed  maphash.Seed
}

func newPrintTable() *printTable {
	return &printTable{slots: make([]uint32, 1<<10), seed: maphash.MakeSeed()}
}

// index returns the index of a print. It adds the print if it is new.
func (t *printTable) index(print *chatguard.TextPrint) uint32 {
	slot := t.find(print)
	if n := t.slots[slot]; n > 0 {
		return n - 1
	}
	if 2*len(t.list) == len(t.slots) {
		t.slots = make([]uint32, 2*len(t.slots))
		for i := range t.list {
			t.slots[t.find(&t.list[i])] = uint32(i + 1)
		}
		slot = t.find(print)
	}
	t.list = append(t.list, *print)
	t.slots[slot] = uint32(len(t.list))
	return uint32(len(t.list) - 1)
}

// find returns the slot of a print, or the free one where it belongs.
func (t *printTable) find(print *chatguard.TextPrint) int {
	mask := len(t.slots) - 1
	for slot := int(maphash.Comparable(t.seed, *print)) & mask; ; slot = (slot + 1) & mask {
		if n := t.slots[slot]; n == 0 || t.list[n-1] == *print {
			return slot
		}
	}
}
