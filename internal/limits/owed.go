package limits

import (
	"cmp"
	"slices"
)

// Spent is what messages have spent and a row doesn't include yet.
type Spent struct {
	At      int64     // when they counted; of several messages, the first
	N       int64     // cost of allowed messages
	Charged int64     // cost of throttled messages, for the limits that count these
	Roles   Roles     // of the author
	Zone    *Timezone // of the author; see Request
}

// IsZero reports whether nothing was spent.
func (s Spent) IsZero() bool { return s.N == 0 && s.Charged == 0 }

// Add adds what was spent later. It counts at the time of the first message, in the user's favour.
func (s *Spent) Add(later Spent) { s.N, s.Charged = s.N+later.N, s.Charged+later.Charged }

// Owed is what a node has allowed without the other nodes.
type Owed struct {
	// Since is the row that the node knew before the first message; nil if there was none. It must
	// have been read with the draft's set.
	Since *Row
	Paid  []Spent // what the draft's row includes already, in order
	Spent []Spent // what was spent after that, in order
}

// Owe spends what was allowed elsewhere at the same time as what others have spent in the row.
// Which of them came first isn't known. Owe counts what is certain, so a user whom one node would
// have refused nothing isn't refused anything afterwards. It returns by how much the limit with the
// least room is overdrawn.
//
// It is certain that a user who has spent what others count has spent here, too: the usage now is
// at least the sum of both. It is also certain how much everyone together has spent since a time:
// the usage is at least that of a user who has spent everything of the others at that time. This is
// the exact usage of a user who has always sent what the limits allow.
//
// Two things are weaker. A row that was written before version 5 doesn't tell how much was spent
// since a time, so only the sum of both counts. And where a user window begins depends on every
// message. A user whom one node would have refused nothing can be refused if the user has sent more
// than the window allows within a period of its length, across the end of a window.
func (d *Draft) Owe(o Owed, at int64) (overdrawn int64) {
	others, known := d.spentByOthers(&o)
	if known && others == 0 {
		for _, s := range o.Spent {
			overdrawn += d.Spend(s)
		}
		return overdrawn
	}
	here := d.newUser(nil, at)
	for _, s := range o.Spent {
		here.spendRoom(s)
	}
	var together *Draft
	if known {
		together = d.newUser(o.Since, at)
		first := Spent{N: others, Roles: Roles{d.set.roles, d.set.rolesOf(d.row)}}
		all := slices.Concat(together.firstOf(first, d.base.era), o.Paid, o.Spent)
		slices.SortStableFunc(all, func(a, b Spent) int { return cmp.Compare(a.At, b.At) })
		for _, s := range all {
			together.Spend(s)
		}
	}
	last := o.Spent[len(o.Spent)-1]
	overdrawn = d.add(here, together, last.Roles, last.Zone)
	for _, s := range o.Spent {
		d.note(s.At, s.N)
	}
	d.late = max(1, min(at, o.Spent[0].At))
	return overdrawn
}

// firstOf returns what others have spent after the draft's row was written, in an era, at the first
// time at which they may have. If that is before the row's last use, firstOf adds what certainly
// still counts then to the draft, and returns nothing.
func (d *Draft) firstOf(s Spent, e era) []Spent {
	last := d.base.lastUse()
	if d.base == nil {
		last = e.began * nanosPerMilli
	}
	if s.At = min(last, e.lateSince(d.base.Writes().Seq)); s.At == last || d.base == nil {
		return []Spent{s}
	}
	before := d.newUser(nil, s.At)
	before.Spend(s)
	d.add(before, nil, s.Roles, nil)
	return nil
}

// spentByOthers returns how much others have spent in the row since the owing node knew it. Since
// is set to nil if the row is another one. known is false if the row doesn't say how much.
func (d *Draft) spentByOthers(o *Owed) (n int64, known bool) {
	if d.base == nil {
		return 0, o.Since == nil
	}
	n = d.base.era.spent
	if o.Since != nil && o.Since.era.began == d.base.era.began {
		n -= o.Since.era.spent
	} else {
		o.Since = nil
	}
	for _, s := range o.Paid {
		n -= s.N
	}
	return n, n >= 0 && d.base.era.began > 0
}

// newUser returns a draft of a row, or of a new user, with the override of d's user.
func (d *Draft) newUser(row *Row, at int64) *Draft {
	n := NewDraft(d.set.origin(), row, at)
	if row == nil && d.personal != nil {
		n.personal = &personal{Own: d.personal.Own}
	}
	return n
}

func (r *Row) lastUse() int64 {
	if r == nil {
		return 0
	}
	return int64(r.words[wordLast])
}

// spendRoom spends as much as there is room for.
func (d *Draft) spendRoom(s Spent) {
	d.at = max(s.At, int64(d.row[wordLast]))
	roles := s.Roles.in(d.set.roles)
	d.rules = d.set.rulesOf(d.personal, s.Zone, roles)
	for i := range d.rules {
		r := &d.rules[i]
		n := s.N
		if r.countThrottled {
			n += s.Charged
		}
		if n = min(n, r.level(r, r.state(d.row), d.at).remaining()); n > 0 {
			r.overdraw(r, r.state(d.row), d.at, n)
		}
	}
	d.recordSpend(roles)
}

// add adds the usage of another row of the user, and raises it to that in least, which may be nil.
// It does so at the last use of both: the time of messages may be that of another clock than the
// store's. It returns by how much the limit with the least room is overdrawn.
func (d *Draft) add(other, least *Draft, of Roles, zone *Timezone) (overdrawn int64) {
	d.at = max(int64(d.row[wordLast]), int64(other.row[wordLast]))
	other.useRoomOf(d.set)
	if least != nil {
		least.useRoomOf(d.set)
	}
	roles := of.in(d.set.roles)
	d.rules = d.set.rulesOf(d.personal, zone, roles)
	for i := range d.rules {
		r := &d.rules[i]
		state, more := r.state(d.row), r.state(other.row)
		before, owed := r.level(r, state, d.at), r.level(r, more, d.at).used
		if r.observes && owed > before.remaining() {
			continue
		}
		if d.personal != nil && d.personal.hasGrant(r, d.at) {
			if n := owed - d.personal.draw(r, state, d.at, owed); n > 0 {
				r.overdraw(r, state, d.at, n)
			}
		} else {
			r.add(r, state, more, d.at)
		}
		if least != nil && r.raise != nil && !r.observes {
			r.raise(r, state, r.state(least.row), d.at)
			owed = max(owed, r.level(r, state, d.at).used-before.used)
		}
		overdrawn = max(overdrawn, owed-before.remaining())
	}
	d.recordSpend(roles)
	return overdrawn
}

// Join adds a row that another node has written, because the store had lost this one.
//
// If that node has begun the row, a change by hand in it was made after the loss. So its override
// is in force, and its grants are added. Strikes of both rows count. The row doesn't tell that
// usage was reset in it, an override removed, or a strike pardoned that only the lost row has; so
// these come back. The same goes for usage of limits that this node doesn't have: that of the lost
// row counts.
//
// If the node has gone on from an earlier version of the lost row, it isn't known how much both
// have in common. Then the one with more usage counts.
func (d *Draft) Join(written *Row, at int64) {
	if d.joined, d.changed = written, true; !written.BeganAfter(d.base) {
		d.raise(written)
		return
	}
	d.joinBegun(written, at)
}

// raise raises the usage to that in another version of the row, if it is of the same era.
func (d *Draft) raise(version *Row) {
	if version.era.began < d.base.era.began {
		return // most likely, a change by hand has begun the era of this row
	}
	other := NewDraft(d.set.origin(), version, 0)
	other.useRoomOf(d.set)
	d.at = max(int64(d.row[wordLast]), int64(other.row[wordLast]))
	roles := Roles{other.set.roles, other.set.rolesOf(other.row)}.in(d.set.roles)
	d.rules = d.set.rulesOf(d.personal, nil, roles)
	for i := range d.rules {
		r := &d.rules[i]
		state, more := r.state(d.row), r.state(other.row)
		if r.level(r, more, d.at).used > r.level(r, state, d.at).used {
			clear(state)
			r.copyState(state, more)
		}
	}
	d.recordSpend(roles)
	d.ImportStrikes(version)
	if more := version.era.spent - d.base.era.spent; more > 0 {
		d.note(version.lastUse(), more)
	}
}

// joinBegun is Join for a row that was begun.
func (d *Draft) joinBegun(begun *Row, at int64) {
	other := NewDraft(d.set.origin(), begun, at)
	switch own := begun.OwnAt(at); {
	case !own.IsZero():
		d.setOwn(own, at)
	case d.personal != nil && !d.personal.IsZero():
		other.setOwn(d.personal.Own, at)
	}
	d.add(other, nil, Roles{other.set.roles, other.set.rolesOf(other.row)}, nil)
	if p := begun.personal; p != nil {
		for _, g := range p.grants {
			d.personalRecord().addGrant(g)
		}
		if len(p.pardoned) > 0 {
			own := d.personalRecord()
			own.pardoned = slices.Clone(lastN(slices.Concat(own.pardoned, p.pardoned), remembered))
		}
	}
	d.addStrikes(begun)
	d.note(begun.lastUse(), begun.era.spent)
	if late := begun.era.lateSince(0); late != Never {
		d.late = max(1, late)
	}
}

// addStrikes adds the strikes of another row. Strikes that had lapsed before it was struck don't
// count.
func (d *Draft) addStrikes(of *Row) {
	more, struckAt := strikeCount(of.words), int64(of.words[wordStrikeAt])
	if more > 0 {
		had, _ := d.set.countStrikes(d.row, struckAt)
		if had == 0 {
			setSeries(d.row, seriesOf(of.words))
		}
		setStrikeCount(d.row, min(had+more, maxStrikes))
	}
	d.row[wordStrikeAt] = max(d.row[wordStrikeAt], of.words[wordStrikeAt])
	d.row[wordSilentUntil] = max(d.row[wordSilentUntil], of.words[wordSilentUntil])
}

// Adopt replaces the draft's contents by a row that was decided without the store, based on the
// draft's row. spent is what was spent in it since. Adopt returns by how much that overdraws the
// limit with the least room. ok is false, and nothing changes, if the row was decided under another
// set.
func (d *Draft) Adopt(decided *Row, spent []Spent, at int64) (overdrawn int64, ok bool) {
	if decided.asked != d.asked && decided.set.origin() != d.asked.noted {
		return 0, false
	}
	at = max(at, int64(decided.words[wordLast]))
	d.useRoomOf(decided.set)
	if d.personal = nil; decided.personal != nil {
		d.personal = decided.personal.copy()
	}
	rules := d.set.rulesOf(d.personal, nil, decided.set.rolesOf(decided.words))
	for i := range rules {
		r := &rules[i]
		state, next := r.state(d.row), decided.set.rules[i].state(decided.words)
		if l := r.level(r, next, at); l.used > l.capacity && !r.observes {
			overdrawn = max(overdrawn, l.used-max(l.capacity, r.level(r, state, at).used))
		}
		clear(state)
		r.copyState(state, next)
	}
	d.row[wordLast], d.row[wordStrikeAt], d.row[wordSilentUntil] = decided.words[wordLast], decided.words[wordStrikeAt], decided.words[wordSilentUntil]
	setStrikeCount(d.row, strikeCount(decided.words))
	setSeries(d.row, seriesOf(decided.words))
	d.set.setRoles(d.row, decided.set.rolesOf(decided.words))
	for _, s := range spent {
		d.note(s.At, s.N)
	}
	d.changed = true
	return overdrawn, true
}

// note counts what was spent in the row's era.
func (d *Draft) note(at, n int64) {
	if d.spent == 0 || at < d.first {
		d.first = at
	}
	d.spent += n
}

// edit notes a change by hand, with which a new era begins.
func (d *Draft) edit() { d.changed, d.edited = true, true }

// era returns the era of the draft's row, written at the given time with that number.
func (d *Draft) era(seq uint64, at int64) (e era) {
	switch {
	case d.edited:
		return era{began: at / nanosPerMilli}
	case d.base == nil && d.spent > 0:
		e = era{began: min(at, d.first) / nanosPerMilli, spent: d.spent}
	case d.base == nil:
		e.began = at / nanosPerMilli
	case d.base.era.began > 0: // otherwise it was written by an earlier version
		e = era{d.base.era.began, addCapped(d.base.era.spent, d.spent, maxEra), d.base.era.late}
	}
	if d.late > 0 {
		e.add(seq, d.late)
	}
	return e
}

// BeganAfter reports whether the row's era began after that of another row.
func (r *Row) BeganAfter(other *Row) bool {
	return r.era.began > other.era.began && other.era.began > 0
}

// StruckSince reports whether the row has a strike that an earlier version of it didn't have.
func (r *Row) StruckSince(earlier *Row) bool {
	return r.words[wordStrikeAt] != 0 && (earlier == nil || r.words[wordStrikeAt] != earlier.words[wordStrikeAt])
}
