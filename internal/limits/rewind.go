package limits

// Rewind adjusts all rows to a clock that jumped back to at. Without Rewind, if the last use in a
// row is now less than a minute in the future, the user's next messages would count as late. They
// would all count at the time of the last use. Rewind locks one shard at a time, so a decision
// waits for only part of the rows.
func (t *Table) Rewind(at int64) {
	t.forEach(func(s *shard) {
		for slot := range s.len() {
			if row := s.row(slot); s.inUse(slot) && int64(row[wordLast]) > at {
				p := place{shard: s, slot: slot, key: row[wordUser]}
				var a account
				p.open(&a, &Request{Roles: Roles{s.set.roles, s.set.rolesOf(row)}})
				a.rewind(at)
				p.recordChange(&a)
			}
		}
	})
}
