package limits

import "slices"

// Place is a row that a message uses in addition to its author's row in the channel.
type Place struct {
	Table *Table
	User  string // not of a row of repeated text
	Text  Hash   // of a row of repeated text
	// Order maps names of limits to their index in the policy; nil means the order in which they
	// were compiled.
	Order map[string]int
}

// Judge judges a message of the user by the limits of the table and of the other places, and stores
// the effects. All calls must pass the places in the same order, so that no two decisions deadlock.
// If the table is closed, Judge does nothing and returns false. The tables of the other places must
// not be closed before this one.
func (t *Table) Judge(user string, q *Request, d *Decision, others ...Place) bool {
	key, numeric := numericKey(user)
	if !numeric || len(others) > 0 {
		return t.judgeAny(user, q, d, others)
	}
	// Nearly every message takes this way: no place is filled in, and few functions are called.
	hash := hash(key)
	s := t.shard(hash)
	if s.mu.Lock(); s.state == open {
		if slot, found := s.find(key, 0, hash, ""); found {
			if row := s.row(slot); s.set.isPlain(row, q) {
				if s.set.judgePlain(row, q, d) {
					s.touch(slot, row)
				}
				s.mu.Unlock()
				return true
			}
		}
	}
	s.mu.Unlock()
	return t.judgeAny(user, q, d, nil)
}

// judgeAny is Judge for any user and any limits.
func (t *Table) judgeAny(user string, q *Request, d *Decision, others []Place) (open bool) {
	var p place
	if !t.lock(user, &p) {
		return false
	}
	if len(others) > 0 {
		p.judgeWith(q, d, others)
	} else {
		p.find()
		p.judge(q, d)
	}
	p.shard.mu.Unlock()
	return true
}

// prepare makes the missing row of a message's author. It returns false if no row is needed,
// because the message is exempt: then it decides that.
func (p *place) prepare(q *Request, d *Decision) bool {
	if p.found {
		return true
	}
	if q.Exempt {
		d.setAllowed(p.shard.set, q.At)
		d.Exempt = true
		return false
	}
	p.make(q.At)
	return true
}

// judge judges a message whose author's row has been looked up.
func (p *place) judge(q *Request, d *Decision) {
	if !p.prepare(q, d) {
		return
	}
	if s, row := p.shard, p.shard.row(p.slot); s.set.isPlain(row, q) {
		if s.set.judgePlain(row, q, d) {
			s.touch(p.slot, row)
		}
		return
	}
	var accounts [1]account
	p.open(&accounts[0], q)
	var h hearing // set by field: faster than a struct copy
	h.accounts, h.request, h.decision = accounts[:], q, d
	h.judge()
	p.recordChange(&accounts[0])
}

// judgeWith judges with the limits of the other places, whose shards it locks one after another.
func (p *place) judgeWith(q *Request, d *Decision, others []Place) {
	if len(others) < fewPlaces {
		var places [fewPlaces - 1]place
		p.judgeIn(places[:len(others)], q, d, others)
		return
	}
	var places [MaxSets - 1]place
	p.judgeIn(places[:len(others)], q, d, others)
}

// fewPlaces is how many rows most messages use at most. More need more memory, which takes time to
// clear.
const fewPlaces = 4

// judgeIn is judgeWith in memory for the other places. It first locks all shards, so that it then
// waits for memory once instead of once for each row.
func (p *place) judgeIn(places []place, q *Request, d *Decision, others []Place) {
	for i := range others {
		others[i].lock(&places[i])
	}
	p.prefetch()
	for i := range places {
		places[i].prefetch()
	}
	if p.find(); p.prepare(q, d) {
		for i := range places {
			places[i].find()
		}
		if !p.judgePlainWith(places, q, d) {
			p.hear(places, q, d, others)
		}
	}
	for i := range places {
		places[i].shard.mu.Unlock()
	}
}

// hear judges by all rows, which have been looked up, whatever their limits are.
func (p *place) hear(places []place, q *Request, d *Decision, others []Place) {
	var accounts [MaxSets]account
	var h hearing
	h.accounts, h.places, h.request, h.decision = accounts[:1+len(places)], places, q, d
	p.open(&accounts[0], q)
	for i := range places {
		places[i].openOrNew(&accounts[i+1], q)
		accounts[i+1].order = others[i].Order
	}
	h.judge()
	p.recordChange(&accounts[0])
	for i := range places {
		places[i].recordChange(&accounts[i+1])
	}
}

// Peek returns the decision that Judge would make, and changes nothing.
func (t *Table) Peek(user string, q *Request, others ...Place) (d Decision) {
	h := t.dryRun(user, q, &d, others)
	h.judge()
	return d
}

// dryRun returns a hearing that judges by copies of the rows, so its decision has no effects.
func (t *Table) dryRun(user string, q *Request, d *Decision, others []Place) *hearing {
	h := &hearing{request: q, decision: d, accounts: []account{Place{Table: t, User: user}.copy(q)}}
	for _, other := range others {
		h.accounts = append(h.accounts, other.copy(q))
	}
	return h
}

// lock is Table.lock for the row.
func (o *Place) lock(p *place) (open bool) {
	if o.Table.isText() {
		o.Table.fillText(o.Text, p)
		return o.Table.lockPlace(p)
	}
	return o.Table.lock(o.User, p)
}

// copy returns an account that can be changed without effect.
func (o Place) copy(q *Request) (a account) {
	var p place
	if o.lock(&p) {
		defer p.shard.mu.Unlock()
		p.find()
	}
	if !p.found {
		set := p.shard.set
		return account{set: set, row: slices.Clone(set.newRow()), rules: set.rulesIn(q.Zone, q.Roles.in(set.roles)), order: o.Order}
	}
	p.open(&a, q)
	a.order = o.Order
	a.row = slices.Clone(a.row)
	if a.personal != nil {
		a.personal = &personal{Own: a.personal.Own, grants: slices.Clone(a.personal.grants)}
	}
	return a
}
