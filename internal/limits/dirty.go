package limits

import (
	"math/bits"
	"slices"
	"sync"
)

// Batch is the rows that a store has received and not confirmed yet.
type Batch struct {
	table *Table
	taken []takenRow
	named []string // the IDs of the taken users with names, in the order of taken
	lows  []uint64 // the rest of the keys of the taken texts, in the order of taken
	last  int64
}

// takenRow is a row at the time it was taken.
type takenRow struct {
	key     uint64 // see identityOf
	version uint32
}

// Last returns the latest time at which a user in the batch has spent something, or 0 if the batch
// is empty.
func (b *Batch) Last() int64 { return b.last }

// CountDirty returns how many rows Dirty would pass to put now.
func (t *Table) CountDirty() (count int) {
	if !t.touched.Load() {
		return 0
	}
	t.forEach(func(s *shard) {
		s.eachDirty(func(row []uint64) { count += s.countParts(row) })
	})
	return count
}

// Dirty takes the rows that changed since they were last confirmed, in no particular order, and
// passes them to put, a few at a time. put may keep the rows, but not the slice. Call Confirm or
// Release afterwards. Only one batch may be open at a time. Dirty returns nil if no row has
// changed.
func (t *Table) Dirty(put func([]StateRow)) *Batch {
	t.stored.Store(true)
	if !t.touched.Swap(false) { // a later change goes to this batch or the next
		return nil
	}
	b := &Batch{table: t}
	e := encoders.Get().(*encoder)
	for s := t.lockFrom(0); s != nil; s = t.lockFrom(s.end()) {
		b.take(s, e)
		s.mu.Unlock()
		rows := e.finish()
		put(rows)
		clear(rows)
	}
	encoders.Put(e)
	return b
}

// encoder encodes the rows of one shard after another.
type encoder struct {
	rows   []StateRow
	buffer []byte // the rows' bytes
}

// encoders is a pool, so that encoding many small tables needs no new memory for each table.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// DirtyAll marks all rows as dirty, including confirmed ones.
func (t *Table) DirtyAll() {
	t.forEach(func(s *shard) {
		for slot := range s.len() {
			if s.inUse(slot) {
				s.touch(slot, s.row(slot))
			}
		}
	})
}

// take takes the dirty rows of a shard and encodes them.
func (b *Batch) take(s *shard, e *encoder) {
	s.free()
	b.taken = slices.Grow(b.taken, s.countDirty())
	s.eachDirty(func(row []uint64) {
		key := row[wordUser]
		b.taken = append(b.taken, takenRow{identityOf(key), version(row)})
		user := s.idOf(row)
		switch {
		case s.set.low > 0:
			b.lows = append(b.lows, row[s.set.low])
		case key&namedKey != 0:
			b.named = append(b.named, user)
		}
		b.last = max(b.last, int64(row[wordLast]))
		e.rows, e.buffer = s.encode(e.rows, e.buffer, user, row)
	})
	clear(s.dirty)
}

// finish returns the encoded rows. Their bytes are copied, so that the encoder can be used again.
func (e *encoder) finish() []StateRow {
	own := slices.Clone(e.buffer)
	rows, start := e.rows, 0
	for i := range rows {
		end := start + len(rows[i].Data)
		rows[i].Data = own[start:end:end]
		start = end
	}
	e.rows, e.buffer = rows[:0], e.buffer[:0]
	return rows
}

// countDirty returns how many rows must be passed to a store.
func (s *slots) countDirty() (count int) {
	for _, word := range s.dirty {
		count += bits.OnesCount64(word)
	}
	return count
}

// eachDirty calls do with every row that must be passed to a store.
func (s *slots) eachDirty(do func(row []uint64)) {
	for k, word := range s.dirty {
		for ; word != 0; word &= word - 1 {
			do(s.row(64*k + bits.TrailingZeros64(word)))
		}
	}
}

// Confirm marks the rows as stored. Rows that changed in the meantime stay dirty.
func (b *Batch) Confirm() { b.giveBack(true) }

// Release marks the rows as not stored: all of them stay dirty.
func (b *Batch) Release() { b.giveBack(false) }

func (b *Batch) giveBack(kept bool) {
	if b == nil {
		return
	}
	var s *shard // locked
	named := b.named
	for i, taken := range b.taken {
		name, low := "", uint64(0)
		switch {
		case b.lows != nil:
			low = b.lows[i]
		case taken.key&namedKey != 0:
			name, named = named[0], named[1:]
		}
		if s = b.table.lockNext(s, hash(taken.key)); s == nil {
			return // the table is closed
		}
		slot, ok := s.find(taken.key, low, hash(taken.key), name)
		if !ok {
			continue // dropped in the meantime
		}
		if row := s.row(slot); !kept || version(row) != taken.version {
			s.markDirty(slot)
		} else {
			row[wordMeta] &^= dirtyFlag | pinnedFlag
		}
	}
	if s != nil {
		s.mu.Unlock()
	}
}
