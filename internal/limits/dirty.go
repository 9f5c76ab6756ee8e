package limits

import "math/bits"

// Batch is the rows that a store has received and not confirmed yet.
type Batch struct {
	table *Table
	taken [][]takenRow // by shard; nil if empty
}

// takenRow is a row at the time it was taken.
type takenRow struct {
	key     uint64
	version uint32
}

// CountDirty returns how many rows Dirty would pass to put now.
func (t *Table) CountDirty() (count int) {
	if !t.touched.Load() {
		return 0
	}
	t.forEach(func(_ int, s *shard) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eachDirty(func(row []uint64) { count += s.countParts(row) })
	})
	return count
}

// Dirty takes the rows that changed since they were last confirmed, in no particular order, and
// passes them to put, a few at a time. put may keep the rows, but not the slice. Call Confirm or
// Release afterwards. Only one batch may be open at a time.
func (t *Table) Dirty(put func([]StateRow)) *Batch {
	t.stored.Store(true)
	if !t.touched.Swap(false) { // a later change goes to this batch or the next
		return &Batch{table: t}
	}
	b := &Batch{table: t, taken: make([][]takenRow, shardCount)}
	var rows []StateRow
	var buffer []byte
	t.forEach(func(i int, s *shard) {
		rows, buffer = b.take(i, s, rows[:0], buffer[:0])
		copyBytes(rows)
		put(rows)
	})
	return b
}

// DirtyAll marks all rows as dirty, including confirmed ones.
func (t *Table) DirtyAll() {
	t.forEach(func(_ int, s *shard) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for slot := range s.len() {
			if s.inUse(slot) {
				s.touch(slot, s.row(slot))
			}
		}
	})
}

// take appends the shard's rows, whose bytes are in the buffer.
func (b *Batch) take(i int, s *shard, rows []StateRow, buffer []byte) ([]StateRow, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shrink()
	taken := make([]takenRow, 0, s.countDirty())
	s.eachDirty(func(row []uint64) {
		taken = append(taken, takenRow{row[wordUser], version(row)})
		rows, buffer = s.encode(rows, buffer, row)
	})
	clear(s.dirty)
	b.taken[i] = taken
	return rows, buffer
}

// copyBytes copies the rows' bytes, so that the buffer can be reused.
func copyBytes(rows []StateRow) {
	size := 0
	for i := range rows {
		size += len(rows[i].Data)
	}
	own := make([]byte, 0, size)
	for i := range rows {
		start := len(own)
		own = append(own, rows[i].Data...)
		rows[i].Data = own[start:len(own):len(own)]
	}
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
	if b.taken == nil {
		return
	}
	b.table.forEach(func(i int, s *shard) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, taken := range b.taken[i] {
			slot, ok := s.find(taken.key)
			if !ok {
				continue // dropped in the meantime
			}
			if row := s.row(slot); !kept || version(row) != taken.version {
				s.markDirty(slot)
			} else {
				row[wordMeta] &^= dirtyFlag | pinnedFlag
			}
		}
	})
}
