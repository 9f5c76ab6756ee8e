package limits

// Refund is a message to refund.
type Refund struct {
	At    int64 // when it counted
	N     int64 // what it spent
	Roles Roles // its author's roles at that time
	// Observed means that an observing limit had no room for it. Such a limit may have spent
	// nothing, so no observing limit refunds anything.
	Observed bool
	// Shared means that the message may have counted later than At, because it shares a row with
	// other messages.
	Shared bool
}

// Refund refunds, in each limit, the part of a message that still counts. It never makes the user's
// state better than that of a new user. now is the present.
func (t *Table) Refund(user string, f Refund, now int64) {
	t.amend(user, func(a *account) { a.refund(f, now) })
}

// Refund is Table.Refund for the row.
func (o *Place) Refund(f Refund, now int64) { o.amend(func(a *account) { a.refund(f, now) }) }

// refund is Table.Refund for one row.
func (a *account) refund(f Refund, now int64) {
	back := spentMessage{at: f.At, n: f.N, later: f.Shared}
	rules := a.set.rulesOf(a.personal, nil, f.Roles.in(a.set.roles))
	a.giveBack(rules, back, changeTime(a.row, now), func(r *Rule) bool { return !f.Observed || !r.observes })
}

// giveBack refunds a message in the limits that applies selects.
func (a *account) giveBack(rules []Rule, back spentMessage, at int64, applies func(*Rule) bool) {
	back.latest = int64(a.row[wordLast]) <= back.at
	for i := range rules {
		if r := &rules[i]; applies(r) {
			r.refund(r, r.state(a.row), back, at)
		}
	}
}

// Reset removes the user's usage, strikes and grants, as if the user had never been seen. The
// user's override stays, and a day, week or month continues to its end.
func (t *Table) Reset(user string) {
	t.amend(user, (*account).reset)
}

// reset is Table.Reset for one row.
func (a *account) reset() {
	rules := a.spentRules()
	for i := range rules {
		r := &rules[i]
		if state := r.state(a.row); r.calendar != nil {
			loadPeriod(state).withoutCount().store(state)
		} else {
			clear(state)
		}
	}
	clearStrikes(a.row)
	if a.personal != nil {
		a.personal.grants = nil
	}
}

func clearStrikes(row []uint64) {
	setStrikeCount(row, 0)
	row[wordStrikeAt], row[wordSilentUntil] = 0, 0
}

// amend calls change with the user's account. It does nothing for a user without a row.
func (t *Table) amend(user string, change func(a *account)) {
	(&Place{Table: t, User: user}).amend(change)
}

// amend is Table.amend for the row.
func (o *Place) amend(change func(a *account)) {
	var p place
	if !o.lock(&p) {
		return
	}
	defer p.shard.mu.Unlock()
	if p.find(); p.found {
		p.change(change)
	}
}

// changeTime returns the time at which a change made now counts in a row: never before the last
// use.
func changeTime(row []uint64, now int64) int64 { return max(now, int64(row[wordLast])) }
