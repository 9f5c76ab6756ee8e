package limits

// Request is the input for a decision on a message.
type Request struct {
	// At is in nanoseconds since the Unix epoch. It is at least 0 and less than MaxTime.
	At int64
	// Latest is the latest time at which a row can have been last used, unless a clock was set back
	// since; see Present.Note. 0 means that a message more than a minute before the last use always
	// shows that the clock was set back.
	Latest int64
	Cost   int64 // 1 or more
	Roles  Roles
	// Zone is that of the user's days, weeks and months, unless an override has another one. nil
	// means the limits' zone. It doesn't matter to limits that several users share.
	Zone   *Timezone
	Exempt bool // the user's roles or the message's kind exempt the message
	// UpTo means that only a part of Cost is spent if there is no room for all of it.
	UpTo bool
	// Try means that a throttled message leaves no trace: it gives no strike, and no limit counts
	// it.
	Try bool
}

// Decision is the decision on a message, and its grounds. Times are nanoseconds since the Unix
// epoch.
type Decision struct {
	Set *Set // the set of the channel's limits per user
	// Limit is the limit that throttles, or would throttle if it were enforced. If all limits allow
	// the message, it is the deciding limit with the least remaining. It is nil if there is no such
	// limit.
	Limit *Rule
	// At is the time at which the message counts. It is never before its author's last use in the
	// channel.
	At    int64
	Taken int64 // what was spent: 0 if throttled
	// Counted is the part of a throttled message's cost that was counted in every limit that counts
	// throttled messages.
	Counted int64
	// Remaining is how many messages of cost 1 Limit would still allow.
	Remaining int64
	Granted   int64 // how many of them are extra messages
	// RetryAt is when the request would be allowed. It is Never if waiting never helps.
	RetryAt int64
	ResetAt int64 // when the limit's usage will have expired
	// LeaveAt is when an allowed message may be released.
	LeaveAt int64
	Strikes int   // after a throttled message
	Series  uint8 // identifies a series of strikes; changes when they lapse
	// Rung is the ladder index of the message's penalty. It is the first rung if the message gave
	// no strike.
	Rung    int
	Allowed bool
	// Low means that the message is of low priority: the first bucket of a deciding cascade doesn't
	// hold it, but each deciding cascade has a bucket that does.
	Low       bool
	Exempt    bool // the user is exempt; nothing was judged
	Observed  bool // allowed, but an observing limit is full
	Shared    bool // several users share Limit, and it gives no strikes
	NewStrike bool // the message gave a strike
	// Silenced means that an earlier penalty silences the user for longer than the penalty for this
	// message.
	Silenced bool
}

// setAllowed sets d to the decision on a message that passes. It sets each field, which is faster
// than copying a whole struct.
func (d *Decision) setAllowed(set *Set, at int64) {
	d.Set, d.Limit = set, nil
	d.At, d.Taken, d.Counted, d.Remaining, d.RetryAt, d.ResetAt, d.LeaveAt = at, 0, 0, 0, at, 0, at
	d.Strikes, d.Series, d.Rung, d.Granted = 0, 0, 0, 0
	d.Allowed, d.Low, d.Exempt, d.Observed, d.Shared, d.NewStrike, d.Silenced = true, false, false, false, false, false, false
}

// account is a row with the rules that apply to its user.
type account struct {
	set      *Set
	row      []uint64
	rules    []Rule
	personal *personal // nil for nearly every user
	// order maps limit names to the index in the policy, if the limits were compiled for another
	// policy.
	order   map[string]int
	at      int64 // when the message counts: never before last use
	missing bool  // the row is that of a new user, and has to be added before it changes
	changed bool
	pinned  bool // a store must receive the change
}

// hearing is one decision: the request and all accounts that it uses. The first account is the
// user's in the channel.
type hearing struct {
	accounts []account
	places   []place // of the accounts after the first, if their rows are in tables
	request  *Request
	decision *Decision
	cost     int64 // the cost to spend
	practice bool  // nothing is enforced: all limits decide
	ranked   bool  // messages have priorities: a set is ranked
}

// judge decides about the message and writes the effects into the rows. It first looks at all
// limits. If every deciding limit allows the message, it spends in each of them.
func (h *hearing) judge() {
	q := h.request
	h.decision.setAllowed(h.accounts[0].set, q.At)
	if h.isExempt() {
		h.decision.Exempt = true
		return
	}
	h.practice, h.cost = h.accounts[0].set.strikes.Practice, q.Cost
	for k := range h.accounts {
		a := &h.accounts[k]
		if a.missing && q.isBack(int64(a.row[wordLast])) {
			h.addRow(k)
		}
		a.arrive(q)
		h.ranked = h.ranked || a.set.ranked
	}
	h.decision.At = h.accounts[0].at
	if q.UpTo {
		h.cost = h.room()
	}
	if h.ranked {
		h.decision.Low = h.isLow()
	}
	if b := h.findBlock(false); b.account != nil {
		h.throttle(b)
	} else {
		h.spendAll()
	}
}

// addRow adds the missing row of an account.
func (h *hearing) addRow(k int) {
	a, p := &h.accounts[k], &h.places[k-1]
	p.make(h.request.At)
	a.row, a.missing = p.shard.row(p.slot), false
}

func (h *hearing) isExempt() bool {
	if own := &h.accounts[0]; own.personal != nil {
		return own.personal.IsExempt(h.request.Exempt, h.request.countsAt(own.row))
	}
	return h.request.Exempt
}

// nextExemption returns when an override ends that keeps the user from being exempt by role. It
// returns Never if there is no such override, or if it doesn't end.
func (h *hearing) nextExemption() int64 {
	own := h.accounts[0].personal
	if own == nil || own.ExemptUntil == 0 || !own.IsExempt(h.request.Exempt, own.ExemptUntil) {
		return Never
	}
	return own.ExemptUntil
}

// isBack reports whether the clock was set back since a time in a row.
func (q *Request) isBack(since int64) bool { return q.At < since-clockJump && since > q.Latest }

// countsAt returns the time at which a message counts in a row.
func (q *Request) countsAt(row []uint64) int64 {
	if last := int64(row[wordLast]); !q.isBack(last) {
		return max(q.At, last)
	}
	return q.At
}

// arrive sets the time at which a message counts. It rewinds the row if the clock was set back.
func (a *account) arrive(q *Request) {
	a.at = q.countsAt(a.row)
	if a.at < int64(a.row[wordLast]) {
		a.rewind(a.at)
	}
}

// rewind adjusts the row to a clock that jumped back to at.
func (a *account) rewind(at int64) {
	last := int64(a.row[wordLast])
	a.at, a.changed, a.pinned = at, true, true
	a.row[wordLast] = uint64(at)
	rewindStrikes(a.row, max(last, int64(a.row[wordStrikeAt])), at)
	for i := range a.rules {
		r := &a.rules[i]
		r.rewind(r, r.state(a.row), last, at)
	}
}

// decides reports whether a message must fit a limit.
func (h *hearing) decides(r *Rule) bool { return h.practice || !r.observes }

// block is the limit that blocks a message, with its account and the end of the block.
type block struct {
	account *account // nil if nothing blocks the message
	limit   int
	until   int64 // Never if waiting never helps
}

func (b *block) rule() *Rule { return &b.account.rules[b.limit] }

// indexOf returns the index of a limit in the policy.
func (a *account) indexOf(r *Rule) int {
	if a.order != nil {
		return a.order[r.name]
	}
	return r.place
}

// findBlock returns the limit that blocks the message for longest, and the first time at which all
// limits allow the cost. It considers the limits that decide, or if observers is true, those that
// only observe. In a tie it returns the first limit of the policy.
func (h *hearing) findBlock(observers bool) block {
	if h.ranked {
		return h.findRankedBlock(observers)
	}
	return h.findBlockAt(normalPriority, observers)
}

// findBlockAt is findBlock for a message of one priority.
func (h *hearing) findBlockAt(p priority, observers bool) (b block) {
	b.until = h.request.At
	for {
		longest := int64(0)
		for k := range h.accounts {
			a := &h.accounts[k]
			at := max(b.until, a.at)
			for i := range a.rules {
				r := &a.rules[i]
				if (a.set.special && h.decides(r) == observers || observers && !a.set.special) && !h.ranks(r, p) {
					continue
				}
				if a == b.account && i == b.limit {
					continue // this limit allows the message from b.until on
				}
				t := h.next(a, r, p, at)
				if t > at && (t > longest || t == longest && a.indexOf(r) < b.account.indexOf(b.rule())) {
					b.account, b.limit, longest = a, i, t
				}
			}
		}
		if longest != 0 {
			b.until = longest
		}
		if longest == 0 || longest == Never {
			return b
		}
		// Another limit may block the message at that time: look again.
	}
}

func (a *account) next(r *Rule, at, n int64) int64 {
	if a.personal != nil {
		return a.personal.next(r, r.state(a.row), at, n)
	}
	return r.next(r, r.state(a.row), at, n)
}

// room returns how much of the cost all deciding limits allow now, but at least 1.
func (h *hearing) room() int64 {
	room := h.roomAt(normalPriority)
	if room < 1 && h.ranked {
		room = h.roomAt(lowPriority)
	}
	return max(room, 1)
}

// roomAt is room for a message of one priority. It may return less than 1.
func (h *hearing) roomAt(p priority) int64 {
	room := h.cost
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			if r := &a.rules[i]; h.decides(r) {
				room = min(room, a.room(r, p))
			}
		}
	}
	return room
}

// remaining returns how many messages of cost 1 a limit with that level would still allow,
// including grants.
func (a *account) remaining(r *Rule, l level) int64 {
	return l.remaining() + a.granted(r)
}

// granted returns the number of extra messages in a limit.
func (a *account) granted(r *Rule) int64 {
	if a.personal == nil {
		return 0
	}
	extra, _ := a.personal.extraMessages(r.name, a.at)
	return extra
}

// spendAll spends in every limit that has room. Only limits that observe may have no room.
func (h *hearing) spendAll() {
	d := h.decision
	p := d.priority()
	d.Taken = h.cost
	first := 0 // index of the limit to report
	for k := range h.accounts {
		a := &h.accounts[k]
		if a.missing {
			h.addRow(k)
		}
		if a.set.special {
			h.prepare(a)
		}
	}
	if d.Observed {
		h.setLimit(h.findBlock(true))
		own := &h.accounts[0]
		own.set.previewStrike(own.row, own.at, d)
	}
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			r := &a.rules[i]
			if d.Observed && !h.decides(r) && h.next(a, r, p, a.at) > a.at {
				continue
			}
			level := a.spend(r, h.cost)
			if d.Observed || !h.decides(r) || a.set.text != nil { // the user's other texts have their own rows
				continue
			}
			remaining := a.remaining(r, level)
			if d.Limit == nil || remaining < d.Remaining || remaining == d.Remaining && a.indexOf(r) < first {
				d.Limit, d.Remaining, d.ResetAt, first = r, remaining, level.resetAt, a.indexOf(r)
				d.Granted = a.granted(r)
			}
		}
		if a.recordSpend(h.request.Roles.in(a.set.roles)); a.set.unsent > 0 {
			a.set.noteUnsent(a.row, a.at, h.cost, 0, h.request.Zone)
		}
	}
}

// prepare sets LeaveAt from the queues, and Observed if an observing limit has no room. It charges
// such a limit if the limit counts throttled messages.
func (h *hearing) prepare(a *account) {
	d := h.decision
	for i := range a.rules {
		r := &a.rules[i]
		if r.releaseTime != nil && h.decides(r) {
			d.LeaveAt = max(d.LeaveAt, r.releaseTime(r, r.state(a.row), a.at))
		}
		if !h.decides(r) && h.next(a, r, d.priority(), a.at) > a.at {
			d.Observed = true
			if r.countThrottled {
				a.charge(r, h.cost, h.request.Roles)
			}
		}
	}
}

// spend spends n in a limit. Each queue reserves its own place, even if another queue holds
// the message for longer.
func (a *account) spend(r *Rule, n int64) level {
	if a.personal != nil {
		return a.personal.spend(r, r.state(a.row), a.at, n)
	}
	return r.spend(r, r.state(a.row), a.at, n)
}

// recordSpend updates the account after something was spent.
func (a *account) recordSpend(roles uint64) {
	a.row[wordLast] = uint64(a.at)
	a.set.setRoles(a.row, roles)
	a.changed = true
}

// charge counts a throttled message in a limit that counts throttled messages, and returns how much
// of its cost had room.
func (a *account) charge(r *Rule, n int64, roles Roles) (counted int64) {
	counted = r.charge(r, r.state(a.row), a.at, n)
	a.recordSpend(roles.in(a.set.roles))
	return counted
}

// chargeAll counts the message in all limits that count throttled messages, and reports whether
// there are any.
func (h *hearing) chargeAll() (charged bool) {
	d := h.decision
	for k := range h.accounts {
		a := &h.accounts[k]
		if !a.set.special {
			continue
		}
		here := false
		for i := range a.rules {
			r := &a.rules[i]
			if !r.countThrottled {
				continue
			}
			if a.missing {
				h.addRow(k)
			}
			counted := a.charge(r, h.cost, h.request.Roles)
			if !charged || counted < d.Counted {
				d.Counted = counted
			}
			charged, here = true, true
		}
		if here && a.set.unsent > 0 {
			a.set.noteUnsent(a.row, a.at, 0, h.cost, h.request.Zone)
		}
	}
	return charged
}

// throttle counts the message in the limits that count throttled messages, reports the limit that
// blocks it, and gives a strike.
func (h *hearing) throttle(b block) {
	d := h.decision
	d.Allowed = false
	if h.request.Try && !h.practice {
		h.setLimit(b)
		return
	}
	if h.chargeAll() {
		b = h.findBlock(false)
	}
	h.setLimit(b)
	own := &h.accounts[0]
	if d.Shared {
		d.Strikes, _ = own.set.countStrikes(own.row, own.at)
		return
	}
	if own.set.strikeOrPreview(own.row, h.request, d) {
		own.changed = true
	}
}

// setLimit sets the decision's Limit to the blocking limit.
func (h *hearing) setLimit(b block) {
	d := h.decision
	d.Limit, d.RetryAt, d.Shared = b.rule(), min(b.until, h.nextExemption()), b.account.set.shared && !b.rule().strikes
	level := d.Limit.level(d.Limit, d.Limit.state(b.account.row), b.account.at)
	d.Remaining, d.ResetAt = b.account.remaining(d.Limit, level), level.resetAt
	d.Granted = b.account.granted(d.Limit)
}
