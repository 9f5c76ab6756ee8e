package limits

// Place is a row that a message draws on beside that of its author in the channel.
type Place struct {
	Table *Table
	User  string
}

// Judge decides on a message of the user, with the limits of the other places too, and keeps the consequences. The order of the places must
// always be the same, so that no two decisions wait for each other.
func (t *Table) Judge(user string, q *Request, d *Decision, others ...Place) {
	p := t.place(user)
	p.shard.mu.Lock()
	defer p.shard.mu.Unlock()
	if q.Exempt {
		if p.find(); !p.found {
			exempt(p.shard.set, q, d)
			return
		}
	}
	p.make(q.At)
	if len(others) > 0 {
		p.judgeWith(others, q, d)
		return
	}
	p.judge(q, d)
}

// judge decides with the limits of the place itself.
func (p *place) judge(q *Request, d *Decision) {
	var accounts [1]account
	p.open(&accounts[0], q.Roles)
	h := hearing{Request: q, accounts: accounts[:], decision: d}
	h.judge()
	p.keep(&accounts[0])
}

// judgeWith decides with the limits of the other places, which are locked one after another.
func (p *place) judgeWith(others []Place, q *Request, d *Decision) {
	var accounts [Scopes]account
	var places [Scopes]place
	places[0] = *p
	p.open(&accounts[0], q.Roles)
	for i, other := range others {
		o := other.Table.place(other.User)
		o.shard.mu.Lock()
		defer o.shard.mu.Unlock()
		o.make(q.At)
		o.open(&accounts[i+1], q.Roles)
		places[i+1] = o
	}
	h := hearing{Request: q, accounts: accounts[:1+len(others)], decision: d}
	h.judge()
	for i := range h.accounts {
		places[i].keep(&accounts[i])
	}
}

// Peek returns what Judge would, and changes nothing.
func (t *Table) Peek(user string, q *Request, others ...Place) (d Decision) {
	h := hearing{Request: q, decision: &d}
	for _, place := range append([]Place{{t, user}}, others...) {
		h.accounts = append(h.accounts, place.copy(q.Roles))
	}
	h.judge()
	return d
}

// copy returns an account that can be changed without consequences.
func (p Place) copy(roles uint8) account {
	found := p.Table.place(p.User)
	s := found.shard
	s.mu.Lock()
	defer s.mu.Unlock()
	if found.find(); !found.found {
		row := make([]uint64, s.set.width)
		copy(row, s.fresh)
		return account{set: s.set, row: row, rules: s.set.rulesFor(roles)}
	}
	var a account
	found.open(&a, roles)
	a.row = append([]uint64(nil), a.row...)
	if a.personal != nil {
		a.personal = &personal{Own: a.personal.Own, grants: append([]grant(nil), a.personal.grants...)}
	}
	return a
}

func exempt(s *Set, q *Request, d *Decision) {
	*d = Decision{Set: s, Allowed: true, Exempt: true, RetryAt: q.At, LeaveAt: q.At}
}
