package limits

import "math"

// Stamp identifies a write of a row. No two writes of a row have the same stamp.
type Stamp struct {
	Seq    uint64 // higher than in any earlier write of the row that the writer knows
	Writer uint32 // random, for each process
}

// mark returns the part of the stamp's writer that later writes of the row remember. It is never 0.
func (s Stamp) mark() uint16 { return uint16(s.Writer) | 1 }

// Writes are the last write of a row, and the turns before it, each of which is successive writes
// by one writer. They let a node whose reply was lost tell later whether its write has happened.
type Writes struct {
	Stamp
	length uint32  // of the last turn
	before [3]turn // the latest first
}

// turn is successive writes by the same writer.
type turn struct {
	mark   uint16 // of the writer; 0 if the numbers were skipped
	length uint32 // 0 if nothing is known of these writes and earlier ones
}

// turns returns the turns before the last one that are known.
func (w *Writes) turns() []turn {
	n := 0
	for n < len(w.before) && w.before[n].length > 0 {
		n++
	}
	return w.before[:n]
}

// next returns the writes after another write, with that stamp.
func (w Writes) next(stamp Stamp) Writes {
	n := Writes{Stamp: stamp, length: 1}
	skipped := stamp.Seq - w.Seq - 1
	switch {
	case stamp == w.Stamp:
		return w
	case w.Seq == 0 || skipped > math.MaxUint32:
		return n
	case skipped == 0 && stamp.Writer == w.Writer && w.length < math.MaxUint32:
		w.Stamp, w.length = stamp, w.length+1
		return w
	}
	before := n.before[:0]
	if skipped > 0 {
		before = append(before, turn{length: uint32(skipped)})
	}
	before = append(before, turn{w.mark(), w.length})
	copy(n.before[len(before):], w.before[:])
	return n
}

// Include reports whether the write with a stamp is among the writes of the row. known is false if
// there were too many turns since to tell.
func (w Writes) Include(stamp Stamp) (included, known bool) {
	if w.Seq < stamp.Seq {
		return false, true
	}
	since := w.Seq - stamp.Seq
	if since < uint64(w.length) {
		return w.Writer == stamp.Writer, true
	}
	since -= uint64(w.length)
	for _, r := range w.before {
		if since < uint64(r.length) {
			return r.mark == stamp.mark(), true
		}
		since -= uint64(r.length)
	}
	return false, false
}
