package limits

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chatguard/chatguard/internal/turntest"
)

// Random messages of a few users are played through random limits, at least one of each algorithm,
// mixed with all changes to limits and users. Each decision must equal the oracle's, for the rows
// of tables and for rows as bytes.
func TestSequences_MatchOracle(t *testing.T) {
	turntest.Expensive(t)
	for _, a := range algorithms {
		t.Run(a.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { newWorld(rt, a.name).play() })
		})
	}
}

func (w *world) play() {
	w.sendAll()
	for range rapid.IntRange(1, 80).Draw(w.rt, "steps") {
		w.now = w.nextTime()
		switch rapid.IntRange(0, 24).Draw(w.rt, "what happens") {
		case 0:
			w.change()
		case 1, 2:
			w.grant()
		case 3:
			w.reset()
		case 4, 5:
			w.sendAndRefund()
		case 6:
			w.exempt()
		case 7:
			w.pardonAndUndo()
		default:
			w.send(w.drawUser(), w.request())
		}
	}
}

// sendAll sends the messages of each user, with each text, that lack a row. From then on the oracle
// has all rows, and the tables those that they haven't dropped since.
func (w *world) sendAll() {
	for _, w.oracle.text = range plainTexts {
		for _, user := range w.users {
			groups := w.oracle.groups()
			if !slices.ContainsFunc(groups, func(g plainGroup) bool { return !w.tables[g].has(w.oracle.key(g, user).user) }) {
				continue
			}
			w.send(user, Request{At: w.now, Cost: 1})
			for _, group := range groups { // also of a throttled or exempt message
				key := w.oracle.key(group, user)
				w.oracle.row(key)
				if err := w.tables[group].edit(key.user, w.now, func(*account) {}); err != nil {
					w.rt.Fatal(err)
				}
			}
		}
	}
}

// world is a policy in force, together with the oracle's.
type world struct {
	rt     *rapid.T
	tables map[plainGroup]*Table
	shared *sharedRows
	oracle *plainPolicy
	users  []string

	present Present

	now      int64
	earliest int64 // no time is earlier
	notAgo   int64 // time of the last change; messages are later
	// zoneChanged is set after a change of zone. From then on the clock doesn't jump back, because
	// it is undefined whether the change of day would be repeated.
	zoneChanged bool
	latest      int64 // time of the latest message
	retryAt     int64 // retry time of the last throttled message

	offences map[string][]Offence // by user
}

func newWorld(rt *rapid.T, algorithm string) *world {
	w := &world{rt: rt, users: []string{"7", "someone", "8"}[:rapid.IntRange(1, 3).Draw(rt, "users")], offences: map[string][]Offence{}}
	limits := drawLimits(rt, algorithm)
	strikes := w.drawStrikes()
	w.oracle = &plainPolicy{calendar: map[string]*plainCalendar{}, rows: map[plainKey]*plainRow{}}
	w.oracle.change(limits, strikes, 0)
	w.shared = newSharedRows(rt, setsByGroup(mustCompile(rt, limits, strikes)))
	w.tables = map[plainGroup]*Table{}
	for group, set := range w.shared.sets {
		w.tables[group] = NewTable(set, 1<<30, new(Dropped))
	}
	// Start near a night with a clock change, in either direction, or near the beginning of time,
	// but not in a week or month that began before 1970.
	w.earliest = int64(time.Hour)
	if slices.ContainsFunc(limits, func(l Limit) bool { return l.Algorithm == "daily-window" }) {
		w.earliest += 40 * aDay
	}
	w.now = rapid.SampledFrom([]int64{
		time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC).UnixNano(),
		time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC).UnixNano(),
		w.earliest + int64(3*time.Hour),
	}).Draw(rt, "beginning")
	return w
}

func mustCompile(rt *rapid.T, limits []Limit, strikes Strikes) Sets {
	list := rapid.SampledFrom([]*RoleList{testRoles, wideRoles}).Draw(rt, "list of roles")
	sets, err := Compile(limits, list, strikes)
	if err != nil {
		rt.Fatal(err)
	}
	return sets
}

// setsByGroup returns the sets by the group of their limits.
func setsByGroup(sets Sets) map[plainGroup]*Set {
	groups := map[plainGroup]*Set{perUser: sets[PerUser]}
	for _, set := range sets {
		if set != nil && len(set.limits) > 0 {
			groups[set.limits[0].group()] = set
		}
	}
	return groups
}

func (w *world) drawUser() string { return rapid.SampledFrom(w.users).Draw(w.rt, "user") }

// nextTime returns a time that is a little or far ahead, or back. It may also be exactly the retry
// time of the last throttled message, or 1 ns sooner.
func (w *world) nextTime() int64 {
	steps := []int64{0, 0, 1, 2, 3, 1e9, 4e9 - 1, 4e9, 30e9, 3600e9, 5 * 3600e9, 24 * 3600e9, 9 * 24 * 3600e9, -1, -3e9, -30e9, -60e9, -60e9 - 1, -2 * 3600e9}
	next := w.now + rapid.SampledFrom(append(steps, w.retryAt-w.now, w.retryAt-w.now-1)).Draw(w.rt, "step")
	if w.zoneChanged {
		next = max(next, w.latest-int64(time.Minute))
	}
	next = max(next, w.notAgo, w.earliest)
	w.latest = max(w.latest, next)
	return next
}

func (w *world) request() Request {
	w.oracle.text = drawText(w.rt)
	return Request{
		At:    w.now,
		Cost:  rapid.SampledFrom([]int64{1, 1, 1, 2, 3, 5, 8}).Draw(w.rt, "cost"),
		Roles: rapid.SampledFrom([]Roles{{}, rolesOf(), rolesOf("subscriber"), wideRoles.Everyone().With("vip"), rolesOf("vip", "subscriber")}).Draw(w.rt, "roles"),
		UpTo:  rapid.IntRange(0, 5).Draw(w.rt, "up to") == 0,
		Zone:  TimezoneOf(rapid.SampledFrom([]string{"", "", "Asia/Tokyo", "Asia/Kolkata", "America/Lima", "Europe/Berlin"}).Draw(w.rt, "zone of the user")),

		Exempt: rapid.IntRange(0, 9).Draw(w.rt, "exempt by the roles") == 0,
	}
}

// otherPlaces returns the places that a message uses in addition to its author's row in the
// channel.
func (w *world) otherPlaces(user string) (places []Place) {
	for _, group := range w.oracle.groups()[1:] {
		places = append(places, Place{Table: w.tables[group], User: w.oracle.key(group, user).user, Text: w.oracle.text.hash(group, user)})
	}
	return places
}

func (w *world) peek(user string, q Request) Decision {
	return w.tables[perUser].Peek(user, &q, w.otherPlaces(user)...)
}

// send judges a message and compares the whole decision with the oracle's.
func (w *world) send(user string, q Request) (d Decision) {
	w.rt.Helper()
	w.shared.forget(w.tables)
	w.oracle.forget(w.tables)
	ownClock := rapid.IntRange(0, 19).Draw(w.rt, "by the Guard's clock") == 0
	q.Latest = w.present.Peek(q.At, user, ownClock)
	latest := w.present.OnTime(q.At)
	if latest == 0 {
		latest = w.present.Note(q.At, user, ownClock)
	}
	if latest != q.Latest {
		w.rt.Fatalf("%s at %d: peeked %d, then noted %d", user, q.At, q.Latest, latest)
	}
	w.oracle.certain = w.oracle.present.hear(plainMessage{q.At, user}, ownClock)
	peeked := w.peek(user, q)
	w.tables[perUser].Judge(user, &q, &d, w.otherPlaces(user)...)
	if got, want := w.format(peeked), w.format(d); got != want {
		w.rt.Fatalf("%s, %+v: peeked\n%s, then judged\n%s", user, q, got, want)
	}
	if got, want := w.shared.describe(w.shared.judge(w, user, q)), w.shared.describe(d); got != want {
		w.rt.Fatalf("%s, %+v: by rows as bytes\n%s, by tables\n%s", user, q, got, want)
	}
	want, limit := w.oracle.decide(user, q)
	if got, want := w.format(d), formatDecision(want, limit); got != want {
		w.rt.Fatalf("%s, %+v:\n got %s\nwant %s", user, q, got, want)
	}
	if !d.Allowed && d.RetryAt != Never {
		w.retryAt = d.RetryAt
		w.checkRetry(user, q, d)
	}
	w.checkReset(user, q, d)
	if !d.Allowed || d.Observed {
		w.offences[user] = append(w.offences[user], offence(len(w.offences[user])+1, d, 0))
	}
	return d
}

// checkRetry checks the retry time: the throttled message would pass then, and not 1 ns sooner.
func (w *world) checkRetry(user string, q Request, d Decision) {
	w.rt.Helper()
	peek := func(at int64) Decision {
		q.At, q.Latest = at, w.present.Peek(at, user, false)
		return w.peek(user, q)
	}
	if !peek(d.RetryAt).Allowed {
		w.rt.Fatalf("%s, %+v: not allowed at retry", user, q)
	}
	if peek(d.RetryAt - 1).Allowed {
		w.rt.Fatalf("%s, %+v: allowed 1 ns before retry", user, q)
	}
}

// checkReset checks the reset time: the full capacity fits then, and if anything counts, not 1 ns
// sooner.
func (w *world) checkReset(user string, q Request, d Decision) {
	w.rt.Helper()
	if d.Limit == nil || d.Limit.calendar != nil || d.Observed {
		return
	}
	usedLimits := w.oracle.usedLimits(user, q)
	s := usedLimits[slices.IndexFunc(usedLimits, func(s usedLimit) bool { return s.Name == d.Limit.name })]
	full := func(at int64) bool {
		if c, ok := s.ledger.(*plainCascade); ok {
			return c.first.fits(at, s.p.capacity, s.p) && c.second.fits(at, s.p.extraCapacity, s.p.extra())
		}
		return s.ledger.fits(at, s.p.capacity, s.p)
	}
	if !full(d.ResetAt) {
		w.rt.Fatalf("%s, %+v: %s still counts something at its reset, %d", user, q, s.Name, d.ResetAt)
	}
	if !full(s.at) && full(d.ResetAt-1) {
		w.rt.Fatalf("%s, %+v: %s is reset before %d", user, q, s.Name, d.ResetAt)
	}
}

func (w *world) format(d Decision) string {
	name := ""
	if d.Limit != nil {
		name = d.Limit.Name()
	}
	return formatDecision(d, name)
}

// formatDecision formats a decision on one line.
func formatDecision(d Decision, limit string) string {
	return fmt.Sprintf("%s: allowed %v, low %v, exempt %v, observed %v, shared %v, taken %d, remaining %d, retry at %d, leave at %d, strikes %d, new %v",
		limit, d.Allowed, d.Low, d.Exempt, d.Observed, d.Shared, d.Taken, d.Remaining, d.RetryAt, d.LeaveAt, d.Strikes, d.NewStrike)
}

// change gives limits other numbers. Only fixed windows change their length here; see
// TestChange_NewLengthKeepsUsage for the others.
func (w *world) change() {
	limits := slices.Clone(w.oracle.limits)
	for i := range limits {
		l := &limits[i]
		if rapid.Bool().Draw(w.rt, "stays as it is") {
			continue
		}
		drawNumbers(w.rt, l)
		switch {
		case slices.Contains([]string{"token-bucket", "leaky-bucket", "fixed-window", "sliding-window", "daily-window", "cascade"}, l.Algorithm):
			l.Every = drawEvery(w.rt)
			drawEveryOf(w.rt, l)
			w.zoneChanged = w.zoneChanged || l.Algorithm == "daily-window"
		}
	}
	if rapid.IntRange(0, 5).Draw(w.rt, "other texts") == 0 {
		for i := range limits {
			drawSameText(w.rt, &limits[i])
		}
	}
	first := rapid.IntRange(0, len(limits)-1).Draw(w.rt, "first")
	limits = slices.Concat(limits[first:], limits[:first])
	strikes := w.drawStrikes()
	w.oracle.change(limits, strikes, w.now)
	w.shared.change(setsByGroup(mustCompile(w.rt, limits, strikes)), w.now)
	before, added := w.tables, false
	w.tables = map[plainGroup]*Table{}
	for group, set := range setsByGroup(mustCompile(w.rt, limits, strikes)) {
		if w.tables[group] = before[group]; w.tables[group] == nil {
			w.tables[group], added = NewTable(set, 1<<30, new(Dropped)), true
		} else {
			w.changeTable(group, set)
		}
	}
	w.skipEarlier()
	if added {
		w.now = max(w.now, w.notAgo)
		w.sendAll()
	}
}

// changeTable changes the limits of a group. No row may get lost.
func (w *world) changeTable(group plainGroup, set *Set) {
	table, users := w.tables[group], []string{}
	for key := range w.oracle.rows {
		if key.plainGroup == group && table.has(key.user) {
			users = append(users, key.user)
		}
	}
	table.Change(set, w.now)
	for _, user := range users {
		if !table.has(user) {
			w.rt.Fatalf("the row of %q has gone after a change", user)
		}
	}
}

// skipEarlier prevents later messages from having a time before a change that has just been made to
// the rows.
func (w *world) skipEarlier() {
	for _, row := range w.oracle.rows {
		w.notAgo = max(w.notAgo, w.now, row.last)
	}
}

// exempt gives a user an exemption, or removes it. The exemption has no end, or ends at about the
// time of one of the next messages.
func (w *world) exempt() {
	user := w.drawUser()
	own := Own{Exemption: rapid.SampledFrom([]Exemption{ExemptByRole, Exempt, NotExempt}).Draw(w.rt, "exemption")}
	if own.Exemption != ExemptByRole && rapid.IntRange(0, 3).Draw(w.rt, "for a while") > 0 {
		own.ExemptUntil = w.now + rapid.SampledFrom([]int64{1, 2, 1e9, 4e9, 30e9, 3600e9, max(1, w.retryAt-w.now), max(1, w.retryAt-w.now-1)}).Draw(w.rt, "until")
	}
	if err := w.tables[perUser].SetOwn(user, own, w.now); err != nil {
		w.rt.Fatal(err)
	}
	w.shared.edit(plainKey{perUser, user}, w.now, func(d *Draft) {
		if err := d.SetOwn(own, w.now); err != nil {
			w.rt.Fatal(err)
		}
	})
	row := w.oracle.row(plainKey{perUser, user})
	row.exemption, row.exemptUntil = own.Exemption, own.ExemptUntil
	w.skipEarlier()
}

func (w *world) grant() {
	limit := rapid.SampledFrom(w.oracle.limits).Draw(w.rt, "limit")
	if limit.Scope.IsText() {
		return // nobody's
	}
	key, table, name := w.oracle.key(limit.group(), w.drawUser()), w.tables[limit.group()], limit.Name
	daily := func(l Limit) bool { return l.Scope == limit.Scope && l.Algorithm == "daily-window" }
	if slices.ContainsFunc(w.oracle.limits, daily) && rapid.Bool().Draw(w.rt, "the daily one") {
		name = ""
	}
	n := int64(rapid.IntRange(1, 3).Draw(w.rt, "granted"))
	got, err := table.Grant(key.user, name, n, w.now)
	if want := w.oracle.grant(key, name, n, w.now); err != nil || got != want {
		w.rt.Fatalf("a grant in %q holds until %d (%v), want %d", name, got, err, want)
	}
	w.shared.edit(key, w.now, func(d *Draft) {
		if until, err := d.Grant(name, n, w.now); err != nil || until != got {
			w.rt.Fatalf("a grant in %q holds until %d (%v) in a row as bytes, want %d", name, until, err, got)
		}
	})
}

func (w *world) reset() {
	user := w.drawUser()
	w.tables[perUser].Reset(user)
	w.shared.edit(plainKey{perUser, user}, w.now, (*Draft).Reset)
	w.oracle.clear(perUser, w.oracle.row(plainKey{perUser, user}))
}

// sendAndRefund refunds a message at once. For later refunds see
// TestRefund_WhatStillCounts.
func (w *world) sendAndRefund() {
	user := w.drawUser()
	q := w.request()
	if d := w.send(user, q); d.Allowed && !d.Exempt {
		at := w.oracle.row(plainKey{perUser, user}).last
		back := Refund{At: at, N: d.Taken, Roles: q.Roles}
		w.tables[perUser].Refund(user, back, w.now)
		w.shared.edit(plainKey{perUser, user}, w.now, func(d *Draft) { d.Refund(back, w.now) })
		w.oracle.refund(user, d.Taken, at)
	}
}

// pardonAndUndo pardons a user's last throttled messages and undoes the pardon. The oracle sees
// neither step.
func (w *world) pardonAndUndo() {
	user := w.drawUser()
	offences := lastN(w.offences[user], rapid.IntRange(1, 100).Draw(w.rt, "pardoned"))
	if len(offences) == 0 {
		return
	}
	table, others := w.tables[perUser], w.otherPlaces(user)
	taken := table.PardonAll(user, offences, w.now, others...)
	if taken == nil || !table.Unpardon(user, taken, w.now, others...) {
		w.rt.Fatalf("%d offences of %s: %+v, and it isn't undone", len(offences), user, taken)
	}
	if !w.shared.pardonAndUndo(w, user, w.shared.seriesOf(user, offences), w.now) {
		w.rt.Fatalf("%d offences of %s aren't undone in rows as bytes", len(offences), user)
	}
}
