package limits

// UserRow is a user's state as a Row.
type UserRow struct {
	User string
	Row  *Row
}

// Rows passes the state of all users to put as rows with that stamp, written at the given time. It
// leaves out users whose state has no effect any more. put gets the rows of one shard at a time,
// and may keep them. Rows stops when put returns false.
func (t *Table) Rows(stamp Stamp, at int64, put func([]UserRow) bool) {
	for s := t.lockFrom(0); s != nil; s = t.lockFrom(s.end()) {
		rows := make([]UserRow, 0, s.count)
		for slot := range s.len() {
			if s.inUse(slot) {
				words := s.row(slot)
				if row := s.draft(words).Row(stamp, at); row.until > at {
					rows = append(rows, UserRow{s.idOf(words), row})
				}
			}
		}
		s.mu.Unlock()
		if !put(rows) {
			return
		}
	}
}

// draft returns a copy of a user's row.
func (s *shard) draft(words []uint64) *Draft {
	d := NewDraft(s.set, nil, 0)
	copy(d.row, words)
	d.row[wordUser], d.row[wordMeta] = 0, 0
	if s.set.low > 0 {
		d.row[s.set.low] = 0
	}
	s.set.setRoles(d.row, s.set.rolesOf(words))
	setSeries(d.row, seriesOf(words))
	setStrikeCount(d.row, strikeCount(words))
	if p := s.personal[words[wordUser]]; p != nil && hasFlag(words, personalFlag) {
		d.row[wordMeta] |= personalFlag
		d.personal = p.copy()
	}
	return d
}
