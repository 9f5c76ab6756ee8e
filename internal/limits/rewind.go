package limits

import "runtime"

// Rewind brings all rows to a clock that jumped back to at. Without it, a row whose last spending now lies in the future by less than a minute would
// take its author's messages for late ones, all sent at that time. It goes from shard to shard, so that a decision waits for a part of the rows only.
func (t *Table) Rewind(at int64) {
	t.each(func(_ int, s *shard) {
		s.mu.Lock()
		defer runtime.Gosched() // whoever has waited for the shard goes on before the next one
		defer s.mu.Unlock()
		for slot := range s.len() {
			if row := s.row(slot); s.inUse(slot) && int64(row[wordLast]) > at {
				p := place{shard: s, slot: slot, key: row[wordUser]}
				var a account
				p.open(&a, rolesOf(row))
				a.rewind(at)
				p.keep(&a)
			}
		}
	})
}
