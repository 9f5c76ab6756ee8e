package limits

// isPlain reports whether judgePlain can decide about a request that uses only the row and the set:
// all limits decide, none delays messages or counts throttled ones, the user has no personal
// record, the whole cost is judged, a throttled message gives a strike, and the clock wasn't set
// back.
func (s *Set) isPlain(row []uint64, q *Request) bool {
	return !s.special && !hasFlag(row, personalFlag) && !q.UpTo && !q.Try && !q.isBack(int64(row[wordLast]))
}

// judgePlain does the same as hearing.judge in the most frequent case, with much less work. It
// reports whether the row has changed.
func (s *Set) judgePlain(row []uint64, q *Request, d *Decision) (changed bool) {
	d.setAllowed(s, q.At)
	if q.Exempt {
		d.Exempt = true
		return false
	}
	d.At = max(q.At, int64(row[wordLast]))
	roles := q.Roles.in(s.roles)
	rules := s.rulesIn(q.Zone, roles)
	blocking, until := findPlainBlock(rules, row, d.At, q.Cost)
	if blocking == nil {
		d.spendPlain(rules, row, q.Cost)
		row[wordLast] = uint64(d.At)
		s.setRoles(row, roles)
		if s.unsent > 0 {
			s.noteUnsent(row, d.At, q.Cost, 0, q.Zone)
		}
		return true
	}
	level := blocking.level(blocking, blocking.state(row), d.At)
	d.Allowed, d.Limit, d.RetryAt = false, blocking, until
	d.Remaining, d.ResetAt = level.remaining(), level.resetAt
	return s.strikeOrPreview(row, q, d)
}

// findPlainBlock returns the limit that blocks the message for longest, and the first time at which
// all limits allow the cost. It returns nil if no limit blocks the message.
func findPlainBlock(rules []Rule, row []uint64, at, cost int64) (blocking *Rule, until int64) {
	until = at
	for {
		before := blocking
		at = until
		for i := range rules {
			r := &rules[i]
			if r == before {
				continue // it allows the message from that time on
			}
			if t := r.next(r, r.state(row), at, cost); t > until {
				blocking, until = r, t
			}
		}
		if blocking == before || until == Never {
			return blocking, until
		}
	}
}

// spendPlain spends the cost in all limits, and reports the one with the least remaining.
func (d *Decision) spendPlain(rules []Rule, row []uint64, cost int64) {
	d.Taken = cost
	for i := range rules {
		r := &rules[i]
		level := r.spend(r, r.state(row), d.At, cost)
		if remaining := level.remaining(); d.Limit == nil || remaining < d.Remaining {
			d.Limit, d.Remaining, d.ResetAt = r, remaining, level.resetAt
		}
	}
}

// judgePlainWith does the same as hearing.judge for most messages that also use rows of repeated
// text: isPlain is true for all rows, and the limits on repeated text allow the message. Otherwise
// it does nothing and returns false.
func (p *place) judgePlainWith(texts []place, q *Request, d *Decision) bool {
	s, row := p.shard, p.shard.row(p.slot)
	if !s.set.isPlain(row, q) {
		return false
	}
	for i := range texts {
		if !texts[i].allowsPlain(q) {
			return false
		}
	}
	if s.set.judgePlain(row, q, d) {
		s.touch(p.slot, row)
	}
	if d.Taken > 0 {
		for i := range texts {
			texts[i].spendPlain(q)
		}
	}
	return true
}

// allowsPlain reports whether the row, which may be missing, is one of repeated text for which
// isPlain is true, and its limits allow the message.
func (p *place) allowsPlain(q *Request) bool {
	set := p.shard.set
	row := set.newRow()
	if p.found {
		row = p.shard.row(p.slot)
	}
	if set.text == nil || !set.isPlain(row, q) {
		return false
	}
	rules, at := set.rulesIn(q.Zone, q.Roles.in(set.roles)), max(q.At, int64(row[wordLast]))
	for i := range rules {
		if r := &rules[i]; r.next(r, r.state(row), at, q.Cost) > at {
			return false
		}
	}
	return true
}

// spendPlain spends the cost in all limits of a row for which allowsPlain is true.
func (p *place) spendPlain(q *Request) {
	if !p.found {
		p.make(q.At)
	}
	s, row := p.shard, p.shard.row(p.slot)
	roles, at := q.Roles.in(s.set.roles), max(q.At, int64(row[wordLast]))
	rules := s.set.rulesIn(q.Zone, roles)
	for i := range rules {
		r := &rules[i]
		r.spend(r, r.state(row), at, q.Cost)
	}
	row[wordLast] = uint64(at)
	s.set.setRoles(row, roles)
	if s.set.unsent > 0 {
		s.set.noteUnsent(row, at, q.Cost, 0, q.Zone)
	}
	s.touch(p.slot, row)
}
