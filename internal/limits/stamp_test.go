package limits

import "testing"

// writesOf returns the writes of a row with these stamps.
func writesOf(stamps ...Stamp) (w Writes) {
	for _, s := range stamps {
		w = w.next(s)
	}
	return w
}

// A row tells whether a write is among its last ones.
func TestWrites_Include(t *testing.T) {
	ours, other := uint32(0x12345), uint32(0x54321)
	w := writesOf(Stamp{1, other}, Stamp{2, ours}, Stamp{3, other}, Stamp{5, other}, Stamp{6, ours})
	for _, c := range []struct {
		stamp           Stamp
		included, known bool
	}{
		{Stamp{7, ours}, false, true}, {Stamp{6, ours}, true, true}, {Stamp{6, other}, false, true}, {Stamp{5, other}, true, true},
		{Stamp{5, ours}, false, true}, {Stamp{4, ours}, false, true}, {Stamp{3, other}, true, true}, {Stamp{2, ours}, false, false},
	} {
		if included, known := w.Include(c.stamp); included != c.included || known != c.known {
			t.Errorf("%+v: included %v, known %v, want %v, %v", c.stamp, included, known, c.included, c.known)
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
