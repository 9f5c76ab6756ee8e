package limits

import "math/bits"

// Batch is state of rows that a store has not confirmed yet.
type Batch struct {
	Rows  []StateRow // in no particular order
	table *Table
	taken [shardCount][]takenRow
}

// takenRow is a row as it was when it was taken.
type takenRow struct {
	key     uint64
	version uint32
}

// Dirty takes the rows that changed since they were last confirmed. Confirm or Release gives them back; one batch at a time.
func (t *Table) Dirty() *Batch {
	t.stored.Store(true)
	b := &Batch{table: t}
	t.each(b.take)
	return b
}

func (b *Batch) take(i int, s *shard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shrink()
	var buffer []byte
	for k, word := range s.dirty {
		s.dirty[k] = 0
		for ; word != 0; word &= word - 1 {
			row := s.row(64*k + bits.TrailingZeros64(word))
			b.taken[i] = append(b.taken[i], takenRow{row[wordUser], version(row)})
			b.Rows, buffer = s.encode(b.Rows, buffer, row)
		}
	}
}

// Confirm marks the rows as kept. What changed meanwhile stays dirty.
func (b *Batch) Confirm() { b.giveBack(true) }

// Release marks the rows as not kept: all of them stay dirty.
func (b *Batch) Release() { b.giveBack(false) }

func (b *Batch) giveBack(kept bool) {
	b.table.each(func(i int, s *shard) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, taken := range b.taken[i] {
			slot, ok := s.find(taken.key)
			if !ok {
				continue // dropped meanwhile
			}
			if row := s.row(slot); !kept || version(row) != taken.version {
				s.setDirty(slot)
			} else {
				row[wordMeta] &^= dirtyFlag | pinnedFlag
			}
		}
	})
}
