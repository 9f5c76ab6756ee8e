package limits

import "testing"

// writesOf returns the writes of a row with these stamps.
func writesOf(stamps ...Stamp) (w Writes) {
	for _, s := range stamps {
		w = w.next(s)
	}
	return w
}

// A row tells whether a node's last write is among its writes, as long as it remembers the node.
func TestWrites_Include(t *testing.T) {
	ours, other, none := uint32(0x12345), uint32(0x54321), uint32(0x77777)
	w := writesOf(Stamp{1, other}, Stamp{2, ours}, Stamp{3, other}, Stamp{5, other}, Stamp{6, ours})
	many := w
	for i := range uint64(maxWriters - 2) {
		many = many.next(Stamp{7 + i, 100 + 2*uint32(i)})
	}
	for _, c := range []struct {
		writes          Writes
		stamp           Stamp
		included, known bool
	}{
		{w, Stamp{7, ours}, false, true}, {w, Stamp{6, ours}, true, true}, {w, Stamp{6, other}, false, true}, {w, Stamp{5, other}, true, true},
		{w, Stamp{6, none}, false, true}, {w, Stamp{1, none}, false, true},
		{many, Stamp{6, ours}, true, true}, {many, Stamp{5, other}, true, true}, {many, Stamp{6, other}, false, true}, {many, Stamp{6, none}, false, true},
		{many, Stamp{5, none}, false, false}, // a writer that it may have forgotten
		{many.next(Stamp{99, none}), Stamp{5, other}, false, false}, {many.next(Stamp{99, none}), Stamp{6, ours}, true, true},
	} {
		if included, known := c.writes.Include(c.stamp); included != c.included || known != c.known {
			t.Errorf("%+v of %+v: included %v, known %v, want %v, %v", c.stamp, c.writes, included, known, c.included, c.known)
		}
	}
}

// A node learns what became of its write, however often another node has written since.
func TestWrites_ManyByAnother(t *testing.T) {
	ours, other := Stamp{2, 0x12345}, uint32(0x54321)
	for _, missing := range []bool{false, true} {
		w := writesOf(Stamp{1, other}, ours)
		if missing { // the other node has not seen it, and uses its number
			w = writesOf(Stamp{1, other}, Stamp{2, other})
		}
		for seq := range uint64(1000) {
			w = w.next(Stamp{3 + seq, other})
		}
		if included, known := w.Include(ours); !known || included == missing {
			t.Errorf("missing %v: included %v, known %v", missing, included, known)
		}
	}
}
