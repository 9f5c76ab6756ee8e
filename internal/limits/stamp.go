package limits

import (
	"cmp"
	"math"
	"slices"
)

// Stamp identifies a write of a row. No two writes of a row have the same stamp.
type Stamp struct {
	Seq    uint64 // higher than in any earlier write of the row that the writer knows
	Writer uint32 // random, for each process
}

// maxSeq is the highest Seq that a row may have. Writes never reach it, so a row with a higher one
// was written by another program: it can't be read, and each node decides by itself.
const maxSeq = 1 << 62

// ID returns the stamp as a number, which is practically unique; 0 for the zero value.
func (s Stamp) ID() uint64 { return uint64(s.Writer)<<32 | s.Seq&math.MaxUint32 }

// mark returns the part of the stamp's writer that later writes of the row remember. It is never 0.
func (s Stamp) mark() uint16 { return uint16(s.Writer) | 1 }

// Writes are the last write of a row, and the last one by each of the writers before. They let a
// node whose reply was lost tell later whether its write has happened. This works because a node
// has only one write of a row in flight.
type Writes struct {
	Stamp
	before [maxWriters - 1]lastWrite // the latest first
}

// maxWriters is how many writers a row remembers.
const maxWriters = 8

// lastWrite is the last write by a writer. seq is 0 if there is none.
type lastWrite struct {
	mark uint16 // of the writer; 0 if nothing is known of this write and earlier ones
	seq  uint64
}

// writers returns the writers before the last one.
func (w *Writes) writers() []lastWrite {
	n := 0
	for n < len(w.before) && w.before[n].seq > 0 {
		n++
	}
	return w.before[:n]
}

// next returns the writes after another write, with that stamp.
func (w Writes) next(stamp Stamp) Writes {
	if w.Seq == 0 || stamp.Writer == w.Writer {
		w.Stamp = stamp
		return w
	}
	n := Writes{Stamp: stamp, before: [maxWriters - 1]lastWrite{{w.mark(), w.Seq}}}
	at := 1
	for _, b := range w.writers() {
		if b.mark != stamp.mark() && at < len(n.before) {
			n.before[at] = b
			at++
		}
	}
	return n
}

// join returns the writes of a row that includes those of another one, too.
func (w Writes) join(other Writes) Writes {
	if other.Seq == 0 {
		return w
	}
	all := slices.Concat([]lastWrite{{w.mark(), w.Seq}, {other.mark(), other.Seq}}, w.writers(), other.writers())
	slices.SortFunc(all, func(a, b lastWrite) int { return cmp.Compare(b.seq, a.seq) })
	if other.Seq > w.Seq {
		w.Stamp = other.Stamp
	}
	known := 0
	clear(w.before[:])
	for i, l := range all {
		if l.mark != w.mark() && known < len(w.before) && !slices.ContainsFunc(all[:i], func(a lastWrite) bool { return a.mark == l.mark }) {
			w.before[known] = l
			known++
		}
	}
	return w
}

// Include reports whether the write with a stamp is among the writes of the row. known is false if
// the row has forgotten the writer, because there were too many others since. A node that restores
// a lost row forgets its tries to write it: the store has lost these, and Include would return true
// for them, because the restored row has a higher number.
func (w Writes) Include(stamp Stamp) (included, known bool) {
	switch {
	case w.Seq < stamp.Seq:
		return false, true
	case w.Writer == stamp.Writer:
		return true, true
	case w.mark() == stamp.mark(): // of two writers
		return false, false
	}
	writers := w.writers()
	for _, b := range writers {
		if b.mark == stamp.mark() || b.mark == 0 {
			return b.seq >= stamp.Seq, b.mark != 0 || b.seq < stamp.Seq
		}
	}
	// The row has forgotten only writes before those that it remembers.
	return false, len(writers) < len(w.before) || writers[len(writers)-1].seq < stamp.Seq
}
