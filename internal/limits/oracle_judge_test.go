package limits

import (
	"slices"
	"time"
)

// plainPolicy decides about messages as DESIGN.md says, with the oracle's ledgers. It finds waiting
// times by trying: see firstFit.
type plainPolicy struct {
	limits  []Limit
	strikes Strikes
	// calendar holds the calendar in force, by the name of the daily limit.
	calendar map[string]*plainCalendar
	rows     map[plainKey]*plainRow
	present  plainPresent
	certain  bool // the last message left the present certain
	text     plainText
}

// plainGroup is the limits that are judged by the same rows: those of a scope, or those on repeated
// text with the same SameText.
type plainGroup struct {
	Scope
	SameText
}

// perUser is the group of the limits per user in the channel.
var perUser = plainGroup{Scope: PerUser}

func (l Limit) group() plainGroup {
	if l.Scope.IsText() {
		l.Text.Everyone = l.Scope == PerText
	}
	return plainGroup{l.Scope, l.Text}
}

type plainKey struct {
	plainGroup
	user string // or the key of a text's row
}

// plainText is what limits on repeated text see of a message.
type plainText struct {
	exact, similar             uint64 // numbers of the text
	exactLength, similarLength int
	emotes                     bool
}

// counts reports whether a message with the text uses a row of the group.
func (m plainText) counts(group plainGroup) bool {
	length := m.exactLength
	if group.Similar {
		length = m.similarLength
	}
	return !group.IsText() || length >= group.FromLength && (!m.emotes || group.Emotes)
}

// hash returns the hash of the text, by one author unless everyone shares the limit. All hashes
// have the same first word, so that only the second word distinguishes texts.
func (m plainText) hash(group plainGroup, user string) Hash {
	h := Hash{1 << 40, m.exact}
	if group.Similar {
		h.second = m.similar << 8
	}
	if !group.Everyone {
		h.second = h.second<<8 | uint64(user[0])
	}
	h.second = h.second<<1 | 1
	return h
}

// plainRow is the state of a user in one group.
type plainRow struct {
	last     int64
	roles    Roles
	ledgers  map[string]ledger // by the limit's name
	grants   []plainGrant      // sorted by when they lapse
	strikes  int
	strikeAt int64

	exemption   Exemption
	exemptUntil int64 // 0 means without an end
}

type plainGrant struct {
	limit string
	left  int64
	until int64
}

// numbersFor returns the numbers for these roles: those of the highest role with an override.
func (l Limit) numbersFor(roles Roles) plainNumbers {
	burst, refill, queue, messages := l.Burst, l.Refill, l.Queue, l.Messages
	extraBurst, extraRefill := l.ExtraBurst, l.ExtraRefill
	for role := range roles.All {
		if n, ok := l.Roles[role]; ok {
			burst, queue, messages = orElse(n.Burst, burst), orElse(n.Queue, queue), orElse(n.Messages, messages)
			refill = time.Duration(orElse(int64(n.Refill), int64(refill)))
			extraBurst, extraRefill = orElse(n.ExtraBurst, extraBurst), time.Duration(orElse(int64(n.ExtraRefill), int64(extraRefill)))
			break
		}
	}
	switch l.Algorithm {
	case "token-bucket":
		return plainNumbers{capacity: burst, every: int64(refill)}
	case "leaky-bucket":
		return plainNumbers{capacity: queue + 1, every: int64(l.Every)}
	case "cascade":
		return plainNumbers{capacity: burst, every: int64(refill), extraCapacity: extraBurst, extraEvery: int64(extraRefill)}
	}
	return plainNumbers{capacity: messages, every: int64(l.Every), slices: max(1, l.Slices)}
}

// numbersOf returns the numbers for the author of a message.
func (l Limit) numbersOf(q Request) plainNumbers {
	p := l.numbersFor(q.Roles)
	if zone := q.Zone.String(); zone != "" && l.Algorithm == "daily-window" && !l.Scope.IsShared() {
		l.Timezone = zone
		p.calendar = plainCalendarOf(l)
	}
	return p
}

func orElse(a, b int64) int64 {
	if a != 0 {
		return a
	}
	return b
}

// row returns the state of a user. The state of a new user is empty.
func (w *plainPolicy) row(key plainKey) *plainRow {
	if w.rows[key] == nil {
		row := &plainRow{}
		w.rows[key] = row
		w.clear(key.plainGroup, row)
	}
	return w.rows[key]
}

func (w *plainPolicy) clear(group plainGroup, row *plainRow) {
	if row.ledgers == nil {
		row.ledgers = map[string]ledger{}
	}
	row.grants, row.strikes, row.strikeAt = nil, 0, 0
	for _, l := range w.limits {
		if l.group() != group {
			continue
		}
		before := row.ledgers[l.Name]
		row.ledgers[l.Name] = w.newLedger(l)
		if daily, ok := before.(*plainDaily); ok {
			row.ledgers[l.Name] = &plainDaily{calendar: daily.calendar, period: daily.period} // it continues to its end
		}
	}
}

// neverSeen is the user of the rows of new users. A change of unit can begin a period for them, too.
const neverSeen = "\x00"

// forget forgets the rows that the tables have dropped, because they equaled a new user's. The
// clock may then go back to a time at which they didn't.
func (w *plainPolicy) forget(tables map[plainGroup]*Table) {
	for key, row := range w.rows {
		if key.user != neverSeen && !tables[key.plainGroup].has(key.user) {
			row.ledgers = nil
			w.clear(key.plainGroup, row)
			for name, l := range w.row(plainKey{key.plainGroup, neverSeen}).ledgers {
				row.ledgers[name] = l.clone()
			}
			row.last, row.roles, row.exemption, row.exemptUntil = 0, Roles{}, ExemptByRole, 0
		}
	}
}

func (w *plainPolicy) newLedger(l Limit) ledger {
	switch l.Algorithm {
	case "token-bucket", "leaky-bucket":
		return &plainBucket{}
	case "cascade":
		return &plainCascade{}
	case "fixed-window":
		return &plainFixed{}
	case "user-window":
		return &plainUser{}
	case "sliding-window":
		return &plainSliding{counts: map[int64]int64{}}
	case "sliding-log":
		return &plainLog{}
	case "daily-window":
		return &plainDaily{calendar: w.calendar[l.Name]}
	}
	panic(l.Algorithm)
}

// isBack reports whether the clock was set back since a time in a row.
func (w *plainPolicy) isBack(q Request, since int64) bool {
	return w.certain && q.At < since-aMinute && since > w.present.now+aMinute
}

// usedLimits returns all limits that apply to a message, in the policy's order. If the clock was
// set back since the last use of a row, it rewinds the row.
func (w *plainPolicy) usedLimits(user string, q Request) (usedLimits []usedLimit) {
	at := map[plainGroup]int64{}
	for _, group := range w.groups() {
		row := w.row(w.key(group, user))
		at[group] = max(q.At, row.last)
		if w.isBack(q, row.last) {
			last := row.last
			at[group], row.last, row.strikeAt = q.At, q.At, min(row.strikeAt, q.At)
			for _, l := range w.limits {
				if l.group() == group {
					row.ledgers[l.Name].jump(last, q.At, l.numbersOf(q))
				}
			}
		}
	}
	for _, l := range w.limits {
		if group := l.group(); w.text.counts(group) {
			row := w.row(w.key(group, user))
			usedLimits = append(usedLimits, usedLimit{Limit: l, plainRow: row, ledger: row.ledgers[l.Name], p: l.numbersOf(q), at: at[group]})
		}
	}
	return usedLimits
}

// groups returns the groups of the limits that the last message uses, and the user's own. The
// user's own is the first, and those on repeated text are the last.
func (w *plainPolicy) groups() []plainGroup {
	groups := []plainGroup{perUser}
	for _, scope := range allScopes {
		for _, l := range w.limits {
			if group := l.group(); l.Scope == scope && w.text.counts(group) && !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

var allScopes = []Scope{PerUser, PerUserEverywhere, PerChannel, PerEverywhere, PerUserText, PerText}

// key returns a user's key in a group: everyone shares a channel's row, and the row of all
// channels. The key of a text's row is that of the last message.
func (w *plainPolicy) key(group plainGroup, user string) plainKey {
	switch group.Scope {
	case PerChannel:
		user = theChannel
	case PerEverywhere:
		user = "everyone"
	case PerUserText, PerText:
		user = w.text.hash(group, user).key(group.keyPrefix())
	}
	return plainKey{group, user}
}

const theChannel = "the channel"

// decide makes the whole decision and applies its effects.
func (w *plainPolicy) decide(user string, q Request) (d Decision, limit string) {
	own := w.row(w.key(perUser, user))
	if own.isExempt(q, w.isBack(q, own.last)) {
		return Decision{Allowed: true, Exempt: true, RetryAt: q.At, LeaveAt: q.At}, ""
	}
	usedLimits := w.usedLimits(user, q)
	var deciding, observing []usedLimit
	for _, s := range usedLimits {
		if w.strikes.Practice || !s.Observes {
			deciding = append(deciding, s)
		} else {
			observing = append(observing, s)
		}
	}
	n := q.Cost
	if q.UpTo {
		n = partOf(deciding, q.At, n)
	}
	if passes(deciding, deciding, q.At, n) {
		d, limit = w.pass(user, q, n, usedLimits, deciding, observing)
	} else {
		d, limit = w.throttle(user, q, n, usedLimits, deciding)
	}
	if q.Exempt && own.exemptUntil > q.At { // at exemptUntil, the roles exempt the user again
		d.RetryAt = min(d.RetryAt, own.exemptUntil)
	}
	return d, limit
}

// isExempt reports whether a message isn't judged. An override that is in force at the message's
// time decides that; otherwise the author's roles do.
func (row *plainRow) isExempt(q Request, back bool) bool {
	at := q.At
	if !back {
		at = max(at, row.last)
	}
	if row.exemption == ExemptByRole || row.exemptUntil != 0 && at >= row.exemptUntil {
		return q.Exempt
	}
	return row.exemption == Exempt
}

func (w *plainPolicy) pass(user string, q Request, n int64, usedLimits, deciding, observing []usedLimit) (d Decision, limit string) {
	d = Decision{Allowed: true, Taken: n, RetryAt: q.At, LeaveAt: q.At, Low: isLow(deciding, q.At, n)}
	for _, s := range deciding {
		if queue, ok := s.ledger.(*plainBucket); ok && s.Algorithm == "leaky-bucket" {
			d.LeaveAt = max(d.LeaveAt, s.at+queue.debtAt(s.at))
		}
	}
	var spending []usedLimit
	for _, s := range usedLimits {
		switch {
		case s.fits(s.at, n+s.reserveFor(d.Low)):
			spending = append(spending, s)
		case s.CountThrottled: // what an observing limit would throttle
			s.ledger.charge(s.at, n, s.p)
		}
	}
	if len(spending) < len(usedLimits) {
		d.Observed = true
		own := w.row(w.key(perUser, user))
		if d.Strikes = own.strikes; max(q.At, own.last)-own.strikeAt >= int64(w.strikes.Forget) {
			d.Strikes = 0
		}
		limit = w.report(&d, q.At, n, usedLimits, deciding, observing)
	}
	for _, s := range spending {
		s.spend(n)
	}
	for _, group := range w.groups() {
		row := w.row(w.key(group, user))
		row.last, row.roles = max(row.last, q.At), q.Roles
	}
	// What a text has left says nothing about other messages.
	left := slices.DeleteFunc(slices.Clone(deciding), func(s usedLimit) bool { return s.Scope.IsText() })
	if !d.Observed && len(left) > 0 {
		tightest := slices.MinFunc(left, func(a, b usedLimit) int { return int(a.remaining() - b.remaining()) })
		limit, d.Remaining = tightest.Name, tightest.remaining()
		d.Shared = false
	}
	return d, limit
}

func (w *plainPolicy) throttle(user string, q Request, n int64, usedLimits, deciding []usedLimit) (d Decision, limit string) {
	d.LeaveAt = q.At
	d.Low = isLow(deciding, q.At, n) && !slices.ContainsFunc(deciding, func(s usedLimit) bool { return s.Algorithm == "cascade" && !s.fits(q.At, n) })
	for _, s := range usedLimits {
		if s.CountThrottled {
			s.ledger.charge(s.at, n, s.p)
			s.plainRow.last, s.plainRow.roles = s.at, q.Roles
		}
	}
	limit = w.report(&d, q.At, n, usedLimits, deciding, deciding)
	own := w.row(w.key(perUser, user))
	own.strike(max(q.At, own.last), w.strikes, w.isBack(q, own.strikeAt), &d)
	return d, limit
}

// report sets the time at which n would fit the limits, at the priority that the deciding ones then
// give it, and the state of the limit with the longest wait.
func (w *plainPolicy) report(d *Decision, at, n int64, usedLimits, deciding, limits []usedLimit) (name string) {
	d.RetryAt = firstTime(slices.Concat(deciding, limits), at, func(t int64) bool { return passes(deciding, limits, t, n) })
	limit, _ := longestWait(shorterWay(usedLimits, deciding, limits, at, n), at, n)
	limit = limits[slices.IndexFunc(limits, limit.is)]
	d.Remaining, d.Shared = limit.remaining(), limit.Scope.IsShared() && !limit.Strikes
	return limit.Name
}

// strike counts a throttled message against its author, unless a limit that everyone shares
// throttled it.
func (row *plainRow) strike(at int64, strikes Strikes, back bool, d *Decision) {
	if d.Shared {
		if d.Strikes = row.strikes; at-row.strikeAt >= int64(strikes.Forget) {
			d.Strikes = 0
		}
		return
	}
	if back {
		row.strikeAt = min(row.strikeAt, at)
	}
	age := max(0, at-row.strikeAt)
	if age >= int64(strikes.Forget) {
		row.strikes = 0
	}
	if row.strikes == 0 || age >= int64(strikes.Every) {
		row.strikes, row.strikeAt, d.NewStrike = row.strikes+1, at, true
	}
	d.Strikes = row.strikes
}

// grant gives extra messages until the end of the window. If no window is open, they last until the
// end of the user's day, and if no limit counts by days, for 24 h.
func (w *plainPolicy) grant(key plainKey, name string, n, now int64) (until int64) {
	row := w.row(key)
	at := max(now, row.last)
	until = at + aDay
	for _, l := range w.limits {
		days, ok := row.ledgers[l.Name].(*plainDaily)
		if ok && name == "" {
			name = l.Name
		}
		if ok && l.Period == "" {
			until = days.day(at, plainNumbers{}).end
			break
		}
	}
	for _, l := range w.limits {
		if l.Name != name {
			continue
		}
		p := l.numbersFor(row.roles)
		switch ledger := row.ledgers[name].(type) {
		case *plainFixed:
			until = at/p.every*p.every + p.every
		case *plainUser:
			if ledger.countAt(at, p) > 0 {
				until = ledger.start + p.every
			}
		case *plainDaily:
			until = ledger.day(at, p).end
		}
	}
	row.grants = append(row.grants, plainGrant{name, n, until})
	slices.SortStableFunc(row.grants, func(a, b plainGrant) int { return int(a.until - b.until) })
	return until
}

// refund returns what was just spent.
func (w *plainPolicy) refund(user string, n, at int64) {
	row := w.row(plainKey{perUser, user})
	for _, l := range w.limits {
		if l.Scope == PerUser {
			row.ledgers[l.Name].refund(at, n, l.numbersFor(row.roles))
		}
	}
}

// change replaces limits by others of the same names, as of that time. A limit that isn't in the
// same group any more begins again.
func (w *plainPolicy) change(limits []Limit, strikes Strikes, now int64) {
	for _, l := range w.limits {
		w.row(plainKey{l.group(), neverSeen})
	}
	for key, row := range w.rows {
		if key.plainGroup != perUser && !slices.ContainsFunc(limits, func(l Limit) bool { return l.group() == key.plainGroup }) {
			delete(w.rows, key)
			continue
		}
		at := max(now, row.last)
		for _, l := range limits {
			switch old := w.limitByName(l.Name); {
			case l.group() != key.plainGroup:
			case old.group() != key.plainGroup:
				row.ledgers[l.Name] = (&plainPolicy{calendar: map[string]*plainCalendar{l.Name: plainCalendarOf(l)}}).newLedger(l)
			default:
				w.convert(row, old, l, at)
			}
		}
		if w.strikes.Practice && !strikes.Practice {
			row.strikes = 0
		}
	}
	w.limits, w.strikes = limits, strikes
	for _, l := range limits {
		if l.Algorithm == "daily-window" {
			w.calendar[l.Name] = plainCalendarOf(l)
		}
	}
}

func (w *plainPolicy) convert(row *plainRow, old, l Limit, at int64) {
	was, p := old.numbersFor(row.roles), l.numbersFor(row.roles)
	switch ledger := row.ledgers[l.Name].(type) {
	case *plainBucket:
		ledger.convert(at, was.every, p.every)
	case *plainCascade:
		ledger.first.convert(at, was.every, p.every)
		ledger.second.convert(at, was.extraEvery, p.extraEvery)
	case *plainFixed:
		ledger.convert(at, was, p)
	case *plainSliding:
		ledger.convert(at, was, p)
	case *plainDaily:
		ledger.convert(at, plainCalendarOf(l), was, p)
	}
}

func (w *plainPolicy) limitByName(name string) Limit {
	return w.limits[slices.IndexFunc(w.limits, func(l Limit) bool { return l.Name == name })]
}
