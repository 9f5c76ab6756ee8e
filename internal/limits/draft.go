package limits

import "slices"

// Draft is a working copy of a Row. JudgeDrafts and the methods of Draft change it as the methods
// of Table change a table's row. It is for one goroutine. Create one with NewDraft.
type Draft struct {
	account
	base  *Row
	asked *Set     // see Row
	room  *rowRoom // holds the draft's words, and memory for Row; nil if they don't fit

	spent, first int64 // what messages have spent since base, and the time of the first
	late         int64 // time of the first message that Owe has added; 0 if there is none
	edited       bool  // changed by hand
	joined       *Row  // see Join
}

// rowRoom is the memory for a row of usual size.
type rowRoom struct {
	row   Row
	words [12]uint64
	data  [96]byte
}

// NewDraft returns a draft of a row, which must have been read with the same set, or be nil.
func NewDraft(set *Set, base *Row, at int64) *Draft {
	d := new(Draft)
	d.Load(set, base, at)
	return d
}

// Load makes d the draft that NewDraft would return.
func (d *Draft) Load(set *Set, base *Row, at int64) { d.load(set, base, at, nil) }

// load makes the draft a copy of a row, and uses the room for its words if they fit.
func (d *Draft) load(set *Set, base *Row, at int64, room []uint64) {
	asked := set
	if base != nil {
		set = base.set
	}
	var own *rowRoom
	if cap(room) < set.width {
		if set.width <= len(own.words) {
			own = new(rowRoom)
			room = own.words[:]
		} else {
			room = make([]uint64, set.width)
		}
	}
	*d = Draft{account: account{set: set, row: room[:set.width]}, base: base, asked: asked, room: own}
	if base == nil {
		clear(d.row)
		copy(d.row, set.fresh)
		setSeries(d.row, firstSeries(at))
		return
	}
	copy(d.row, base.words)
	if p := base.personal; p != nil {
		d.personal = p.copy()
	}
}

// firstSeries returns the number of the series before the first strike in a row. It changes about
// every second, so it probably differs from the series in an earlier row of the user.
func firstSeries(at int64) uint8 { return uint8(at >> 30) }

// Changed reports whether the draft differs from the row that it was made from.
func (d *Draft) Changed() bool { return d.changed }

// JudgeDrafts judges a message, as Table.Judge does. The first draft is the user's row in the
// channel. The orders are those of Place, one for each draft.
func JudgeDrafts(drafts []*Draft, orders []map[string]int, q *Request, d *Decision) {
	var accounts [MaxSets]account
	for i, draft := range drafts {
		draft.rules, draft.order, draft.pinned = draft.set.rulesOf(draft.personal, q.Zone, q.Roles.in(draft.set.roles)), orders[i], false
		accounts[i] = draft.account
	}
	h := hearing{accounts: accounts[:len(drafts)], request: q, decision: d}
	h.judge()
	for i, draft := range drafts {
		draft.changed = draft.changed || accounts[i].changed
		if d.Taken > 0 {
			draft.note(d.At, d.Taken)
		}
	}
}

// Spend spends what was allowed elsewhere, whether it fits or not. Limits that observe spend it
// only if it fits. A message before the row's last use counts at that use, however much earlier it
// is, and doesn't mean that a clock was set back. Spend returns by how much it overdraws the limit
// with the least room.
func (d *Draft) Spend(s Spent) (overdrawn int64) {
	d.at = max(s.At, int64(d.row[wordLast]))
	roles := s.Roles.in(d.set.roles)
	d.rules = d.set.rulesOf(d.personal, s.Zone, roles)
	for i := range d.rules {
		r := &d.rules[i]
		state, n := r.state(d.row), s.N
		if r.observes && d.next(r, d.at, n) > d.at {
			continue
		}
		if d.personal != nil {
			n -= d.personal.draw(r, state, d.at, n)
		}
		if n > 0 {
			overdrawn = max(overdrawn, n-r.level(r, state, d.at).remaining())
			r.overdraw(r, state, d.at, n)
		}
	}
	for i := range d.rules {
		if r := &d.rules[i]; r.countThrottled && s.Charged > 0 {
			r.charge(r, r.state(d.row), d.at, s.Charged)
		}
	}
	d.recordSpend(roles)
	d.note(s.At, s.N)
	return overdrawn
}

// Grant is Table.Grant for the draft.
func (d *Draft) Grant(limit string, n, at int64) (until int64, err error) {
	i := d.set.grantIndex(limit)
	if i < 0 {
		return 0, ErrNoLimit
	}
	d.edit()
	return d.grant(i, n, at), nil
}

// Reset is Table.Reset for the draft.
func (d *Draft) Reset() {
	d.edit()
	d.reset()
}

// Refund is Table.Refund for the draft.
func (d *Draft) Refund(f Refund, now int64) {
	if d.base != nil || d.changed {
		d.edit()
		d.refund(f, now)
	}
}

// SetOwn is Table.SetOwn for the draft.
func (d *Draft) SetOwn(own Own, at int64) error {
	if err := own.check(d.set); err != nil {
		return err
	}
	d.edit()
	d.setOwn(own, at)
	return nil
}

// OwnAt returns the user's override at that time.
func (d *Draft) OwnAt(at int64) Own {
	if d.personal == nil {
		return Own{}
	}
	return d.personal.activePart(at).clone()
}

// OwnAt returns the user's override at that time.
func (r *Row) OwnAt(at int64) Own {
	if r == nil || r.personal == nil {
		return Own{}
	}
	return r.personal.activePart(at).clone()
}

// PardonDrafts is Table.PardonAll for drafts, the first of which is the user's row in the channel.
func PardonDrafts(drafts []*Draft, offences []Offence, now int64) *Taken {
	if len(offences) == 0 {
		return nil
	}
	taken, undone := drafts[0].pardon(offences, now)
	if taken == nil {
		return nil
	}
	drafts[0].edit()
	for _, other := range drafts[1:] {
		other.edit()
		taken.rows = append(taken.rows, other.pardonShared(undone, now))
	}
	return taken
}

// UnpardonDrafts is Table.Unpardon for drafts.
func UnpardonDrafts(drafts []*Draft, taken *Taken, now int64) (done bool) {
	for i, draft := range drafts {
		if i < len(taken.rows) && taken.rows[i].set != nil {
			draft.useRoomOf(taken.rows[i].set)
		}
	}
	own := drafts[0]
	switch {
	case own.base != nil:
		done = own.unpardon(taken)
	case own.set == taken.rows[0].set && taken.leavesFresh():
		own.revive(taken)
		done = true
	}
	if !done {
		return false
	}
	own.edit()
	for i, other := range drafts[1:] {
		if i+1 < len(taken.rows) && taken.rows[i+1].set != nil {
			other.edit()
			other.recount(&taken.rows[i+1], taken.counted, now)
		}
	}
	return true
}

// useRoomOf makes the draft's row a row of a set that differs only in the room for its logs.
func (d *Draft) useRoomOf(set *Set) {
	if d.set == set || d.set.origin() != set.origin() {
		return
	}
	row := make([]uint64, set.width)
	copy(row, d.row[:set.head])
	for i := range set.rules {
		set.rules[i].copyState(set.rules[i].state(row), d.set.rules[i].state(d.row))
	}
	d.set, d.row = set, row
	if d.personal != nil {
		d.personal.rules = nil
	}
}

// ExplainDrafts is Table.Explain for drafts, which it changes.
func ExplainDrafts(drafts []*Draft, orders []map[string]int, q *Request) (d Decision, levels []Level, s Standing) {
	h := &hearing{request: q, decision: &d}
	for i, draft := range drafts {
		draft.rules, draft.order = draft.set.rulesOf(draft.personal, q.Zone, q.Roles.in(draft.set.roles)), orders[i]
		h.accounts = append(h.accounts, draft.account)
	}
	levels, s = h.explain()
	return d, levels, s
}

// forgottenOwn is how long a store keeps a changed row if it would have kept the row before the
// change forever.
const forgottenOwn = 7 * secondsPerDay * nanosPerSecond

// Row returns the draft as a row with that stamp, written at the given time. The draft must not be
// used afterwards.
func (d *Draft) Row(stamp Stamp, at int64) *Row {
	var row *Row
	var data []byte
	if d.room != nil {
		row, data = &d.room.row, d.room.data[:0]
	} else {
		row, data = new(Row), make([]byte, 0, 256)
	}
	*row = Row{set: d.set, asked: d.asked, words: d.row, personal: d.personal, writes: d.base.Writes().join(d.joined.Writes()).next(stamp), era: d.era(stamp.Seq, at), practice: d.set.strikes.isPractice()}
	for _, f := range d.base.foreignUsages() {
		if f.until > at {
			row.foreign = append(row.foreign, f)
		}
	}
	computed := max(row.computeUntil(), at)
	row.until = computed
	if kept := d.base.Until(); kept > computed {
		if kept == Never {
			kept = max(computed, at+forgottenOwn)
		}
		row.until = kept
	}
	row.data = row.append(data, computed)
	return row
}

func (r *Row) foreignUsages() []foreignUsage {
	if r == nil {
		return nil
	}
	return r.foreign
}

// ReadWith reports whether the row was read with that set. It returns true for a nil row.
func (r *Row) ReadWith(set *Set) bool { return r == nil || r.asked == set }

// After returns the set for use after the set old. A user without a row gets the state of a user
// who had none under the old set: a period that a change of unit has extended or shortened
// continues.
func (s *Set) After(old *Set, at int64) *Set {
	if old == nil {
		return s
	}
	return conversionOf(old, s, nil, at).set
}

// ImportStrikes copies the strikes and the silence of a row that was changed without the store, if
// its strikes are newer. A nil row has none.
func (d *Draft) ImportStrikes(from *Row) {
	if from == nil || from.words[wordStrikeAt] <= d.row[wordStrikeAt] {
		return
	}
	setStrikeCount(d.row, strikeCount(from.words))
	setSeries(d.row, seriesOf(from.words))
	d.row[wordStrikeAt] = from.words[wordStrikeAt]
	d.row[wordSilentUntil] = max(d.row[wordSilentUntil], from.words[wordSilentUntil])
	d.changed = true
}

// Copy returns a draft that can be changed without effect on this one.
func (d *Draft) Copy() *Draft {
	c := *d
	c.row, c.room = slices.Clone(d.row), nil
	if p := d.personal; p != nil {
		c.personal = p.copy()
	}
	return &c
}
