package limits

import "slices"

// CountUnsent makes the table count what its users spend, for TakeUnsent. Call it before the table
// is used.
func (t *Table) CountUnsent() {
	t.notes = true
	t.set = t.set.noted
	t.first.set, t.first.width = t.set, t.set.width
	t.first.makeUnsent()
}

// makeUnsent makes the slots remember which rows have something unsent, if the set has words for
// that.
func (s *shard) makeUnsent() {
	if s.set.unsent > 0 {
		s.unsent = make(slotBits, len(s.dirty))
	}
}

// Unsent is what a user has spent since the last TakeUnsent.
type Unsent struct {
	User string
	Spent
	// Row is the user's row. It includes the imported row whose stamp has the ID Imported; 0 if
	// none was imported. It has no bytes.
	Row      *Row
	Imported uint64
	Strikes  bool // Row has strikes that weren't sent yet
}

// TakeUnsent appends what the users of a shard have spent since the last call. The first shard is
// 0; next is negative after the last one.
func (t *Table) TakeUnsent(shard int, unsent []Unsent) (all []Unsent, next int) {
	s := t.lockFrom(shard)
	if s == nil {
		return unsent, -1
	}
	defer s.mu.Unlock()
	return s.takeAllUnsent(unsent), s.end()
}

// takeAllUnsent appends what the shard's rows have that wasn't sent yet.
func (s *shard) takeAllUnsent(all []Unsent) []Unsent {
	for k, word := range s.unsent {
		if word == 0 {
			continue
		}
		for slot := 64 * k; slot < min(64*k+64, s.len()); slot++ {
			if !s.unsent.has(slot) {
				continue
			}
			if u, ok := s.takeUnsent(slot); ok {
				all = append(all, u)
			}
		}
		s.unsent[k] = 0
	}
	return all
}

// takeUnsent returns what the row of a slot has that wasn't sent yet. It returns false if there is
// nothing.
func (s *shard) takeUnsent(slot int) (u Unsent, ok bool) {
	row := s.row(slot)
	if !s.set.hasUnsent(row) {
		return u, false
	}
	u = Unsent{User: s.idOf(row), Spent: s.set.unsentOf(row), Row: &Row{set: s.set, words: slices.Clone(row)}, Imported: row[s.set.unsent+4], Strikes: s.set.hasUnsentStrikes(row)}
	if hasFlag(row, personalFlag) {
		u.Row.personal = s.personal[row[wordUser]].copy()
	}
	row[s.set.unsent], row[s.set.unsent+1], row[s.set.unsent+2], row[s.set.unsent+3] = 0, 0, row[wordStrikeAt], 0
	return u, true
}

// noteUnsent adds what a user in a zone has spent at a time, and what throttled messages have
// counted, to what wasn't sent yet.
func (s *Set) noteUnsent(row []uint64, at, n, charged int64, zone *Timezone) {
	if row[s.unsent+3] == 0 {
		row[s.unsent+3] = uint64(at)
	}
	row[s.unsent] += uint64(n)
	sum := addCapped(int64(row[s.unsent+1]&zoneCount), charged, zoneCount)
	row[s.unsent+1] = withZone(uint64(sum), zone)
}

// unsentOf returns the usage in a row that wasn't sent yet.
func (s *Set) unsentOf(row []uint64) Spent {
	charged := row[s.unsent+1]
	return Spent{At: int64(row[s.unsent+3]), N: int64(row[s.unsent]), Charged: int64(charged & zoneCount), Roles: Roles{s.roles, s.rolesOf(row)}, Zone: zoneIn(charged)}
}

// ImportOwn is Import for a row that has nothing but what TakeUnsent has returned, with these fields.
// It does nothing and returns false if the user's row isn't based on the same imported row any
// more, or none was imported yet.
func (t *Table) ImportOwn(user string, imported uint64, row *Row) bool {
	var p place
	if imported == 0 || !t.lock(user, &p) {
		return false
	}
	defer p.shard.mu.Unlock()
	if p.find(); !p.found {
		return false
	}
	is := &p.shard.row(p.slot)[p.shard.set.unsent+4]
	if *is != imported {
		return false
	}
	*is = row.Writes().ID()
	return true
}

// TakeUnsentOf is TakeUnsent for one user. It returns false if the user has spent nothing since the
// last call.
func (t *Table) TakeUnsentOf(user string) (u Unsent, ok bool) {
	var p place
	if !t.lock(user, &p) {
		return u, false
	}
	defer p.shard.mu.Unlock()
	if p.find(); !p.found || !p.shard.unsent.has(p.slot) {
		return u, false
	}
	p.shard.unsent.clear(p.slot)
	return p.shard.takeUnsent(p.slot)
}

// Import replaces a user's row by one that includes everything that TakeUnsent has returned, and
// adds what the user has spent since. Strikes that were given here since and are newer stay.
func (t *Table) Import(user string, row *Row, at int64) error {
	if row == nil {
		return nil
	}
	t.mu.Lock() // for the personal records
	defer t.mu.Unlock()
	var p place
	if !t.lock(user, &p) {
		return ErrClosed
	}
	defer p.shard.mu.Unlock()
	s := p.shard
	next := row
	if row.set.noted != s.set { // its limits have another layout
		var err error
		if next, err = ReadRow(s.set, 0, row.Bytes()); err != nil {
			return err
		}
	}
	if p.find(); !p.found {
		if next.until <= at {
			return nil // as good as none
		}
		p.make(at)
	}
	p.importRow(next)
	return nil
}

// importRow is Import for the row of the place.
func (p *place) importRow(next *Row) {
	s, here := p.shard, p.shard.row(p.slot)
	words, given := next.words, next.personal
	if s.unsent.has(p.slot) { // otherwise next includes all of it, or somebody has removed it
		d := NewDraft(next.set, next, int64(here[wordLast]))
		if spent := s.set.unsentOf(here); !spent.IsZero() {
			d.Spend(spent)
		}
		if s.set.hasUnsentStrikes(here) {
			d.ImportStrikes(&Row{words: here})
		}
		words, given = d.row, d.personal
	} else if given != nil {
		given = given.copy()
	}
	rules, own := s.set.rules, next.set.rules
	for i := range rules {
		state := rules[i].state(here)
		clear(state)
		rules[i].copyState(state, own[i].state(words))
	}
	here[wordLast] = max(here[wordLast], words[wordLast])
	here[wordStrikeAt], here[wordSilentUntil] = words[wordStrikeAt], words[wordSilentUntil]
	here[s.set.unsent+2], here[s.set.unsent+4] = next.words[wordStrikeAt], next.writes.ID()
	setStrikeCount(here, strikeCount(words))
	setSeries(here, seriesOf(words))
	s.set.setRoles(here, next.set.rolesOf(words))
	p.importPersonal(given)
	s.touch(p.slot, here)
	if !s.set.hasUnsent(here) {
		s.unsent.clear(p.slot)
	}
}

// copyState copies a state of the limit that may have more room. It copies as much of a log as
// fits.
func (r *Rule) copyState(state, from []uint64) {
	if r.isLog && len(from) > len(state) {
		setLog(state, lastN(logTimes(from), len(state)-1))
		return
	}
	copy(state, from)
}

// importPersonal replaces the personal record of the place's row.
func (p *place) importPersonal(own *personal) {
	s, row := p.shard, p.shard.row(p.slot)
	had := hasFlag(row, personalFlag)
	switch {
	case own != nil && !had:
		row[wordMeta] |= personalFlag
		s.table.personals.Add(1)
	case own == nil && had:
		row[wordMeta] &^= personalFlag
		s.table.personals.Add(-1)
		delete(s.personal, row[wordUser])
		return
	case own == nil:
		return
	}
	own.rules = nil
	s.setPersonal(row[wordUser], own)
}
