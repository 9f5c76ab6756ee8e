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
	Limit     *Rule // that throttles or would, if it did more than observe; when all allow, the one with the least remaining. Nil without limits
	Allowed   bool
	Exempt    bool  // not judged
	Observed  bool  // allowed, though a limit that observes has no room
	Shared    bool  // the limit is shared by everyone in the channel
	Taken     int64 // what was spent: 0 when throttled
	Remaining int64 // messages of cost 1 that the limit would still take
	RetryAt   int64 // when the request would be allowed; Never where no waiting helps
	ResetAt   int64 // when the limit will have forgotten everything
	LeaveAt   int64 // of an allowed message: when it may go on its way
	Strikes   int   // after a throttled message
	NewStrike bool  // the message gave a strike
	Silenced  bool  // a penalty is in force that silences the user for longer than the one that the message draws

	at int64 // the request's
}

// account is a row with the rules that its user is held to.
type account struct {
	set      *Set
	row      []uint64
	rules    []Rule
	personal *personal // nil for nearly everyone
	at       int64     // when the message counts: never before the last one that was spent
	changed  bool
	pinned   bool // the store must learn of the change
}

// hearing is one decision: the request and all accounts that it draws on. The first is the user's in the channel.
type hearing struct {
	*Request
	cost     int64 // that is to be spent
	accounts []account
	practice bool // all limits decide, and nothing is enforced
	decision *Decision
}

// judge decides, and writes the consequences into the rows: the only place where state is read and spent. All limits are looked at first;
// only when every one that decides allows does each one spend.
func (h *hearing) judge() {
	own := &h.accounts[0]
	d := h.decision
	*d = Decision{Set: own.set, Allowed: true, RetryAt: h.At, LeaveAt: h.At, at: h.At}
	if p := own.personal; p != nil && p.exempt(h.Exempt) || p == nil && h.Exempt {
		d.Exempt = true
		return
	}
	h.practice, h.cost = own.set.strikes.Practice, h.Cost
	for i := range h.accounts {
		h.accounts[i].arrive(h.At)
	}
	if h.UpTo {
		h.cost = h.room()
	}
	if limit, ready := h.ready(false); limit != nil {
		h.throttle(limit, ready)
	} else {
		h.pass()
	}
}

// arrive says when a message of that time counts, and takes the row along when the clock has jumped back.
func (a *account) arrive(at int64) {
	last := int64(a.row[wordLast])
	a.at = max(at, last)
	if at >= last-clockJump {
		return
	}
	a.at, a.changed, a.pinned = at, true, true
	a.row[wordLast] = uint64(at)
	a.row[wordStrikeAt] = min(a.row[wordStrikeAt], uint64(at))
	for i := range a.rules {
		r := &a.rules[i]
		r.rewind(r, r.state(a.row), at)
	}
}

// decides reports whether a message has to fit a limit.
func (h *hearing) decides(r *Rule) bool { return h.practice || !r.observes }

// ready returns the first time at which all limits that decide, or all that observe, allow the cost. Where that isn't now, it returns the
// limit with the longest wait too (in ties the first).
func (h *hearing) ready(observers bool) (limit *Rule, ready int64) {
	ready = h.At
	for {
		longest := int64(0)
		for k := range h.accounts {
			a := &h.accounts[k]
			at := max(ready, a.at)
			for i := range a.rules {
				r := &a.rules[i]
				if h.decides(r) == observers {
					continue
				}
				t := a.next(i, at, h.cost)
				if t > at && (t > longest || t == longest && r.place < limit.place) {
					limit, longest = r, t
				}
			}
		}
		switch longest {
		case 0:
			return limit, ready
		case Never:
			return limit, Never
		}
		ready = longest // then another limit may stand in the way: look again
	}
}

func (a *account) next(i int, at, n int64) int64 {
	r := &a.rules[i]
	state := r.state(a.row)
	if a.personal != nil {
		return a.personal.next(r, state, at, n)
	}
	return r.next(r, state, at, n)
}

// room returns how many of the cost all limits that decide allow now, but no less than 1.
func (h *hearing) room() int64 {
	room := h.Cost
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			if r := &a.rules[i]; h.decides(r) {
				remaining, _ := a.remaining(i)
				room = min(room, remaining)
			}
		}
	}
	return max(room, 1)
}

// remaining is how many messages of cost 1 a limit would still take, with what was granted, and when it will have forgotten everything.
func (a *account) remaining(i int) (remaining, resetAt int64) {
	r := &a.rules[i]
	state := r.state(a.row)
	used, capacity, resetAt := r.level(r, state, a.at)
	remaining = max(0, capacity-used)
	if a.personal != nil {
		extra, _ := a.personal.granted(r.name, a.at)
		remaining += extra
	}
	return remaining, resetAt
}

// pass spends in every limit that has room: those that only observe may not have.
func (h *hearing) pass() {
	d := h.decision
	d.Taken = h.cost
	var watching *Rule
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			r := &a.rules[i]
			if r.leave != nil && h.decides(r) {
				d.LeaveAt = max(d.LeaveAt, r.leave(r, r.state(a.row), a.at))
			}
			if r.observes && !h.practice && a.next(i, a.at, h.cost) > a.at {
				watching = r
				a.charge(i, h.cost, h.Roles)
			}
		}
	}
	if watching != nil {
		d.Observed = true
		h.report(h.ready(true))
	}
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			if h.decides(&a.rules[i]) || watching == nil || a.next(i, a.at, h.cost) == a.at {
				a.spend(i, h.cost, d.LeaveAt)
			}
		}
		a.spent(h.Roles)
	}
	if watching == nil {
		h.reportTightest()
	}
}

// spend takes n from a limit. What a queue lets leave later is booked from then on.
func (a *account) spend(i int, n, leaveAt int64) {
	r := &a.rules[i]
	state := r.state(a.row)
	from := a.at
	if r.leave != nil {
		from = max(from, leaveAt)
	}
	if a.personal != nil {
		a.personal.spend(r, state, a.at, from, n)
		return
	}
	r.spend(r, state, from, n)
}

// spent notes that something was spent.
func (a *account) spent(roles uint8) {
	a.row[wordLast] = uint64(a.at)
	setRoles(a.row, roles)
	a.changed = true
}

// charge counts a message that limit i, or another one, throttles, if throttled ones count there.
func (a *account) charge(i int, n int64, roles uint8) (charged bool) {
	r := &a.rules[i]
	if r.countThrottled {
		r.charge(r, r.state(a.row), a.at, n)
		a.spent(roles)
	}
	return r.countThrottled
}

// throttle counts the message where throttled ones count, reports the limit that stands in the way, and gives a strike.
func (h *hearing) throttle(limit *Rule, ready int64) {
	d := h.decision
	d.Allowed = false
	charged := false
	for k := range h.accounts {
		for i := range h.accounts[k].rules {
			charged = h.accounts[k].charge(i, h.cost, h.Roles) || charged
		}
	}
	if charged {
		limit, ready = h.ready(false)
	}
	h.report(limit, ready)
	own := &h.accounts[0]
	if d.Shared {
		d.Strikes, _ = own.set.lapse(own.row, own.at)
		return
	}
	own.set.strike(own.row, own.at, d)
	own.changed = own.changed || d.NewStrike
}

// report makes a limit the one that the decision speaks of.
func (h *hearing) report(limit *Rule, ready int64) {
	d := h.decision
	d.Limit, d.RetryAt = limit, ready
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			if &a.rules[i] == limit {
				d.Remaining, d.ResetAt = a.remaining(i)
				d.Shared = a.set.shared
			}
		}
	}
}

// reportTightest makes the limit with the least remaining the one that the decision speaks of.
func (h *hearing) reportTightest() {
	d := h.decision
	for k := range h.accounts {
		a := &h.accounts[k]
		for i := range a.rules {
			r := &a.rules[i]
			remaining, resetAt := a.remaining(i)
			if d.Limit == nil || remaining < d.Remaining || remaining == d.Remaining && r.place < d.Limit.place {
				d.Limit, d.Remaining, d.ResetAt = r, remaining, resetAt
			}
		}
	}
}
