package limits

// Request is what a decision needs to know of a message.
type Request struct {
	At     int64 // nanoseconds since the Unix epoch, from 0 and before MaxTime
	Cost   int64 // 1 or more
	Roles  uint8 // a bit for each role
	Exempt bool  // by the roles
	UpTo   bool  // take as many of Cost as there is room for
}

// Decision is what was decided, and on what grounds. Times are nanoseconds since the Unix epoch.
type Decision struct {
	Set       *Set  // of the user in the channel; the one that it was decided by
	Limit     *Rule // that throttles or would, if it did more than observe; when all allow, of those that decide the one with the least remaining. Nil without any
	At        int64 // when the message counts: never before the last one that its author spent in the channel
	Taken     int64 // what was spent: 0 when throttled
	Counted   int64 // of a throttled message: how many of its cost count all the same, in every limit that counts throttled ones
	Remaining int64 // messages of cost 1 that the limit would still take
	RetryAt   int64 // when the request would be allowed; Never where no waiting helps
	ResetAt   int64 // when the limit will have forgotten everything
	LeaveAt   int64 // of an allowed message: when it may go on its way
	Strikes   int   // after a throttled message
	Series    uint8 // of the strikes: another one once they have lapsed
	Rung      int   // of the ladder that it draws: the first where it gave no strike
	Allowed   bool
	Exempt    bool // not judged
	Observed  bool // allowed, though a limit that observes has no room
	Shared    bool // the limit is shared by everyone in the channel
	NewStrike bool // the message gave a strike
	Silenced  bool // a penalty is in force that silences the user for longer than the one that the message draws
}

// begin makes it the decision on a message that passes. It sets field by field: that is faster than to copy a whole struct.
func (d *Decision) begin(set *Set, at int64) {
	d.Set, d.Limit = set, nil
	d.At, d.Taken, d.Counted, d.Remaining, d.RetryAt, d.ResetAt, d.LeaveAt = at, 0, 0, 0, at, 0, at
	d.Strikes, d.Series, d.Rung = 0, 0, 0
	d.Allowed, d.Exempt, d.Observed, d.Shared, d.NewStrike, d.Silenced = true, false, false, false, false, false
}

// account is a row with the rules that its user is held to.
type account struct {
	set      *Set
	row      []uint64
	rules    []Rule
	personal *personal      // nil for nearly everyone
	order    map[string]int // of the limits in the policy, where they were compiled for another
	at       int64          // when the message counts: never before the last one that was spent
	changed  bool
	pinned   bool // the store must learn of the change
}

// hearing is one decision: the request and all accounts that it draws on. The first is the user's in the channel.
type hearing struct {
	accounts []account
	request  *Request
	decision *Decision
	cost     int64 // that is to be spent
	practice bool  // all limits decide, and nothing is enforced
}

// judge decides, and writes the consequences into the rows: the only place where state is read and spent. All limits are looked at first;
// only when every one that decides allows does each one spend.
func (h *hearing) judge() {
	q := h.request
	h.decision.begin(h.accounts[0].set, q.At)
	if h.isExempt() {
		h.decision.Exempt = true
		return
	}
	h.practice, h.cost = h.accounts[0].set.strikes.Practice, q.Cost
	for k := range h.accounts {
		h.accounts[k].arrive(q.At)
	}
	h.decision.At = h.accounts[0].at
	if q.UpTo {
		h.cost = h.room()
	}
	if b := h.bar(false); b.account != nil {
		h.throttle(b)
	} else {
		h.pass()
	}
}

func (h *hearing) isExempt() bool {
	if own := &h.accounts[0]; own.personal != nil {
		return own.personal.exempt(h.request.Exempt, present(own.row, h.request.At))
	}
	return h.request.Exempt
}

// exemptAt returns when the user is exempt by their roles again, where something of their own ends then that forbids it; else Never.
func (h *hearing) exemptAt() int64 {
	own := h.accounts[0].personal
	if own == nil || own.ExemptUntil == 0 || !own.exempt(h.request.Exempt, own.ExemptUntil) {
		return Never
	}
	return own.ExemptUntil
}

// arrive says when a message of that time counts, and takes the row along when the clock has jumped back.
func (a *account) arrive(at int64) {
	last := int64(a.row[wordLast])
	a.at = max(at, last)
	if at < last-clockJump {
		a.rewind(at)
	}
}

// rewind brings the row to a clock that jumped back to at.
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

// decides reports whether a message has to fit a limit.
func (h *hearing) decides(r *Rule) bool { return h.practice || !r.observes }

// bar is the limit that stands in the way of a message: of an account, and until when.
type bar struct {
	account *account // nil where nothing stands in the way
	limit   int
	until   int64 // Never where no waiting helps
}

func (b *bar) rule() *Rule { return &b.account.rules[b.limit] }

// place is where a limit stands in the policy.
func (a *account) place(r *Rule) int {
	if a.order != nil {
		return a.order[r.name]
	}
	return r.place
}

// bar looks at all limits that decide, or at all that observe, and returns what stands in the way for longest (in ties the first), until the
// first time at which all of them allow the cost.
func (h *hearing) bar(observers bool) (b bar) {
	b.until = h.request.At
	for {
		longest := int64(0)
		for k := range h.accounts {
			a := &h.accounts[k]
			at := max(b.until, a.at)
			for i := range a.rules {
				r := &a.rules[i]
				if a.set.special && h.decides(r) == observers || observers && !a.set.special {
					continue
				}
				if a == b.account && i == b.limit {
					continue // until then it stood in the way itself
				}
				t := a.next(r, at, h.cost)
				if t > at && (t > longest || t == longest && a.place(r) < b.account.place(b.rule())) {
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
		// Then another limit may stand in the way: look again.
	}
}

func (a *account) next(r *Rule, at, n int64) int64 {
	if a.personal != nil {
		return a.personal.next(r, r.state(a.row), at, n)
	}
	return r.next(r, r.state(a.row), at, n)
}

// room returns how many of the cost all limits that decide allow now, but no less than 1.
func (h *hearing) room() int64 {
	room := h.cost
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			if r := &a.rules[i]; h.decides(r) {
				room = min(room, a.remaining(r, r.level(r, r.state(a.row), a.at)))
			}
		}
	}
	return max(room, 1)
}

// remaining is how many messages of cost 1 a limit of that level would still take, with what was granted.
func (a *account) remaining(r *Rule, l level) int64 {
	if a.personal != nil {
		extra, _ := a.personal.granted(r.name, a.at)
		return l.remaining() + extra
	}
	return l.remaining()
}

// pass spends in every limit that has room: those that only observe may not have.
func (h *hearing) pass() {
	d := h.decision
	d.Taken = h.cost
	first := 0 // place of the limit that the decision speaks of
	for k := range h.accounts {
		if h.accounts[k].set.special {
			h.prepare(&h.accounts[k])
		}
	}
	if d.Observed {
		h.report(h.bar(true))
		own := &h.accounts[0]
		own.set.foretell(own.row, own.at, d)
	}
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			r := &a.rules[i]
			if d.Observed && !h.decides(r) && a.next(r, a.at, h.cost) > a.at {
				continue
			}
			level := a.spend(r, h.cost)
			if d.Observed || !h.decides(r) {
				continue
			}
			remaining := a.remaining(r, level)
			if d.Limit == nil || remaining < d.Remaining || remaining == d.Remaining && a.place(r) < first {
				d.Limit, d.Remaining, d.ResetAt, first = r, remaining, level.resetAt, a.place(r)
			}
		}
		a.spent(h.request.Roles)
	}
}

// prepare asks the queues when the message may leave, and lets limits that only observe note that they have no room.
func (h *hearing) prepare(a *account) {
	d := h.decision
	for i := range a.rules {
		r := &a.rules[i]
		if r.leave != nil && h.decides(r) {
			d.LeaveAt = max(d.LeaveAt, r.leave(r, r.state(a.row), a.at))
		}
		if !h.decides(r) && a.next(r, a.at, h.cost) > a.at {
			d.Observed = true
			if r.countThrottled {
				a.charge(r, h.cost, h.request.Roles)
			}
		}
	}
}

// spend takes n from a limit. Each queue books the place that it has itself, however long another one holds the message back.
func (a *account) spend(r *Rule, n int64) level {
	if a.personal != nil {
		return a.personal.spend(r, r.state(a.row), a.at, n)
	}
	return r.spend(r, r.state(a.row), a.at, n)
}

// spent notes that something was spent.
func (a *account) spent(roles uint8) {
	a.row[wordLast] = uint64(a.at)
	setRoles(a.row, roles)
	a.changed = true
}

// charge counts a throttled message in a limit that counts them, and returns for how many of its cost there was room.
func (a *account) charge(r *Rule, n int64, roles uint8) (counted int64) {
	counted = r.charge(r, r.state(a.row), a.at, n)
	a.spent(roles)
	return counted
}

// chargeAll counts the message where throttled ones count, and reports whether they do anywhere.
func (h *hearing) chargeAll() (charged bool) {
	d := h.decision
	for k := range h.accounts {
		a := &h.accounts[k]
		if !a.set.special {
			continue
		}
		for i := range a.rules {
			r := &a.rules[i]
			if !r.countThrottled {
				continue
			}
			counted := a.charge(r, h.cost, h.request.Roles)
			if !charged || counted < d.Counted {
				d.Counted = counted
			}
			charged = true
		}
	}
	return charged
}

// throttle counts the message where throttled ones count, reports the limit that stands in the way, and gives a strike.
func (h *hearing) throttle(b bar) {
	d := h.decision
	d.Allowed = false
	if h.chargeAll() {
		b = h.bar(false)
	}
	h.report(b)
	own := &h.accounts[0]
	if d.Shared {
		d.Strikes, _ = own.set.lapse(own.row, own.at)
		return
	}
	if own.set.judge(own.row, h.request.At, d) {
		own.changed = true
	}
}

// report makes the limit in the way the one that the decision speaks of.
func (h *hearing) report(b bar) {
	d := h.decision
	d.Limit, d.RetryAt, d.Shared = b.rule(), min(b.until, h.exemptAt()), b.account.set.shared
	level := d.Limit.level(d.Limit, d.Limit.state(b.account.row), b.account.at)
	d.Remaining, d.ResetAt = b.account.remaining(d.Limit, level), level.resetAt
}
