package limits

// Batch is the state of rows that a store has not confirmed yet.
type Batch struct {
	Rows  []StateRow // in no particular order
	table *Table
	taken [shardCount][]takenRow
}

type takenRow struct{ number, version uint32 }

// Dirty takes the rows that changed since they were last confirmed. Confirm or Release gives them back; one batch at a time.
func (t *Table) Dirty() *Batch {
	b := &Batch{table: t}
	t.each(b.take)
	return b
}

func (b *Batch) take(i int, s *shard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.dirty) == 0 {
		return
	}
	var buffer []byte
	b.taken[i] = make([]takenRow, len(s.dirty))
	for k, number := range s.dirty {
		b.taken[i][k] = takenRow{number, version(s.row(number))}
		b.Rows, buffer = s.encode(b.Rows, buffer, number)
	}
	s.dirty = s.dirty[:0]
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
			if row := s.row(taken.number); kept && version(row) == taken.version {
				row[wordMeta] &^= dirtyFlag
			} else {
				s.dirty = append(s.dirty, taken.number)
			}
		}
	})
}
