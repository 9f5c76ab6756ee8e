package chatguard

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// rowSet is the limits of one scope, for rows in a Shared store.
type rowSet struct {
	set   *limits.Set
	since int64 // when they came into force
}

// changeRows changes the limits for rows in a Shared store, as of the given time.
func changeRows(rows *atomic.Pointer[rowSet], set *limits.Set, at int64) {
	if set == nil {
		rows.Store(nil)
		return
	}
	if before := rows.Load(); before != nil {
		set = set.After(before.set, at)
	}
	rows.Store(&rowSet{set, at})
}

// ref returns the row of a key with these limits.
func (r *rowSet) ref(key, flight rowKey) rowRef {
	return rowRef{key: key, flight: flight, set: r.set, since: r.since}
}

// flight returns the key of the row that stands for the flights of a row; c is its channel, or nil.
// All rows of a message have the same flight, and no row has two. So there is one flight for each
// user in a channel, or for each user or channel if they have limits of their own. If both have, or
// if there are PerEverywhere limits, everything is one flight, with an empty key.
func (g *Guard) flight(c *channel, key rowKey) rowKey {
	everywhere, shared := g.everywhereRows.Load() != nil, c != nil && c.sharedRows.Load() != nil
	switch {
	case g.overallRows.Load() != nil:
		return rowKey{}
	case everywhere && (shared || g.sharing.mixed.Load()):
		g.sharing.mixed.Store(true)
		return rowKey{}
	case everywhere:
		return rowKey{"", key.userID}
	case shared:
		return rowKey{key.channelID, ""}
	}
	return key
}

// use notes that the channel is in use at that time.
func (c *channel) use(at int64) {
	if used := c.used.Load(); at-used > int64(time.Second) || at < used {
		c.used.Store(at)
	}
}

// onlyRow returns the limits of a user's row in the channel, if messages use no other row.
func (c *channel) onlyRow(g *Guard) *rowSet {
	if g.everywhereRows.Load() != nil || c.sharedRows.Load() != nil || g.overallRows.Load() != nil {
		return nil
	}
	return c.userRows.Load()
}

// refs appends the rows that a message uses: the user's row in the channel, the user's row of
// PerUserEverywhere limits, the channel's row, and the row of PerEverywhere limits, as far as there
// are such limits.
func (c *channel) refs(refs []rowRef, g *Guard, userID string) []rowRef {
	own := rowKey{c.id, userID}
	flight := g.flight(c, own)
	refs = append(refs, c.userRows.Load().ref(own, flight))
	if everywhere := g.everywhereRows.Load(); everywhere != nil {
		ref := everywhere.ref(rowKey{"", userID}, flight)
		ref.order = c.policy.Load().places
		refs = append(refs, ref)
	}
	if shared := c.sharedRows.Load(); shared != nil {
		refs = append(refs, shared.ref(rowKey{c.id, ""}, flight))
	}
	if overall := g.overallRows.Load(); overall != nil {
		ref := overall.ref(rowKey{}, flight)
		ref.order = c.policy.Load().places
		refs = append(refs, ref)
	}
	return refs
}

// rowRef returns the row of a key. It returns false if there are no such limits any more.
func (g *Guard) rowRef(key rowKey) (rowRef, bool) {
	var c *channel
	rows := g.everywhereRows.Load()
	switch {
	case key == rowKey{}:
		rows = g.overallRows.Load()
	case key.channelID != "":
		if c = g.channels.get(key.channelID, g, g.now()); c == nil { // not a valid ID
			return rowRef{}, false
		}
		if rows = c.userRows.Load(); key.userID == "" {
			rows = c.sharedRows.Load()
		}
	}
	if rows == nil {
		return rowRef{}, false
	}
	return rows.ref(key, g.flight(c, key)), true
}

// checkShared judges a message by the rows in the shared store, and returns how much of its cost
// may be sent.
func (g *Guard) checkShared(ctx context.Context, clock reading, c *channel, m *Message, q *limits.Request, v *Verdict) (taken int64, err error) {
	c.use(clock.now.UnixNano())
	var d limits.Decision
	if own := c.onlyRow(g); own != nil && g.sharing.repeatRefusal(clock, rowKey{c.id, m.User.ID}, own.set, q, &d) {
		return v.decideShared(&d, q), nil
	}
	a := newAsk(q, clock)
	if a.refs = c.refs(a.refs, g, m.User.ID); !g.sharing.judgeFromMemory(clock, a.refs, q, &a.decision) {
		if err := g.sharing.decide(ctx, a); err != nil {
			return 0, err // the ask is still being decided
		}
	}
	v.Degraded = v.Degraded || a.apart
	taken = v.decideShared(&a.decision, q)
	a.free()
	return taken, nil
}

// decideShared fills in the limits' decision, and returns how much of the cost may be sent.
func (v *Verdict) decideShared(d *limits.Decision, q *limits.Request) (taken int64) {
	v.decide(d, q.At)
	if d.Exempt || v.policy(d).Mode == Observe {
		return q.Cost
	}
	return d.Taken
}

// judgeShared judges the collected messages by the rows in the shared store. It returns the
// context's error if that has ended and some messages are being decided elsewhere. They leave the
// batch.
func (b *batch) judgeShared() error {
	var asks, pending [batchSize]*ask
	n, clock := 0, b.guard.sharing.read()
	b.channel.use(clock.now.UnixNano())
	for i := range b.cases[:b.count] {
		c := &b.cases[i]
		a := newAsk(&c.Request, clock)
		asks[i], a.refs = a, b.channel.refs(a.refs, b.guard, c.User)
		if !b.guard.sharing.judgeFromMemory(clock, a.refs, &a.request, &a.decision) {
			pending[n] = a
			n++
		}
	}
	err := b.guard.sharing.decideAll(b.ctx, pending[:n])
	kept := 0
	for i, a := range asks[:b.count] {
		if a.left { // the ask is still being decided
			*b.verdicts[i] = Verdict{}
			continue
		}
		b.cases[i].Decision = a.decision
		b.verdicts[i].Degraded = b.verdicts[i].Degraded || a.apart
		a.free()
		b.cases[kept], b.messages[kept], b.verdicts[kept] = b.cases[i], b.messages[i], b.verdicts[i]
		kept++
	}
	b.count = kept
	return err
}

// editRow changes the row of a key in the shared store. It returns ErrNoLimit if there are no such
// limits. edit may be called several times.
func (g *Guard) editRow(key rowKey, edit func(d *limits.Draft) error) error {
	ref, ok := g.rowRef(key)
	if !ok {
		return ErrNoLimit
	}
	g.collectRow(key)
	a := newEdit(func(drafts []*limits.Draft) error { return edit(drafts[0]) }, ref)
	a.notify = true
	return g.editRows(a)
}

// editRows changes rows in the shared store by an ask.
func (g *Guard) editRows(a *ask) error {
	if err := g.sharing.decide(context.Background(), a); err != nil {
		return err
	}
	return a.err
}

// editUser changes the rows that a user's messages use.
func (g *Guard) editUser(at time.Time, channelID, userID string, edit func([]*limits.Draft) error) error {
	a := g.userAsk(g.channels.get(channelID, g, at), userID, edit)
	for _, ref := range a.refs {
		g.collectRow(ref.key)
	}
	return g.editRows(a)
}

// userAsk returns an ask for the rows that a user's messages use.
func (g *Guard) userAsk(c *channel, userID string, edit func([]*limits.Draft) error) *ask {
	a := newEdit(edit, c.refs(nil, g, userID)...)
	a.notify = true
	return a
}

// explainShared explains a message by the rows in the shared store.
func (g *Guard) explainShared(c *channel, userID string, q *limits.Request) (d limits.Decision, levels []limits.Level, standing limits.Standing, apart bool) {
	a := g.userAsk(c, userID, nil)
	a.look, a.notify, a.edit = true, false, func(drafts []*limits.Draft) error {
		copies := make([]*limits.Draft, len(drafts))
		orders := make([]map[string]int, len(drafts))
		for i, draft := range drafts {
			copies[i], orders[i] = draft.Copy(), a.refs[i].order
		}
		d, levels, standing = limits.ExplainDrafts(copies, orders, q)
		return nil
	}
	// The context never ends, and a look has no error.
	_ = g.editRows(a)
	return d, levels, standing, a.apart
}

// ownOf returns the override in a row of the shared store.
func (g *Guard) ownOf(key rowKey, at int64) (own limits.Own, err error) {
	ref, ok := g.rowRef(key)
	if !ok {
		return own, ErrNoLimit
	}
	err = g.editRows(readOwn(ref, at, &own))
	return own, err
}

// overrides returns the overrides in the shared store of a channel's users, or of users in all
// channels if the ID is empty. While the store is away, it returns those that are known.
func (g *Guard) overrides(channelID string, at int64) map[string]limits.Own {
	users, err := g.sharing.store.Overrides(context.Background(), channelID)
	if err != nil {
		return g.sharing.knownOverrides(channelID, at)
	}
	owns := make(map[string]limits.Own, len(users))
	for users := range slices.Chunk(users, maxSettled) {
		found := make([]limits.Own, len(users))
		asks := make([]*ask, 0, len(users))
		for i, user := range users {
			if ref, ok := g.rowRef(rowKey{channelID, user}); ok {
				asks = append(asks, readOwn(ref, at, &found[i]))
			}
		}
		// The context never ends, and a look has no error.
		_ = g.sharing.decideAll(context.Background(), asks)
		for i, own := range found {
			if !own.IsZero() {
				owns[users[i]] = own
			}
		}
	}
	return owns
}

// readOwn returns an ask that reads the override in a row.
func readOwn(ref rowRef, at int64, own *limits.Own) *ask {
	a := newEdit(func(drafts []*limits.Draft) error {
		*own = drafts[0].OwnAt(at)
		return nil
	}, ref)
	a.look, a.single = true, true
	return a
}

// knownOverrides returns the overrides in a channel as far as they are known without the store.
func (s *sharing) knownOverrides(channelID string, at int64) map[string]limits.Own {
	owns := map[string]limits.Own{}
	for i := range s.stripes {
		t := &s.stripes[i]
		t.mu.Lock()
		for key, known := range t.rows {
			if own := known.row.OwnAt(at); key.channelID == channelID && !own.IsZero() {
				owns[key.userID] = own
			}
		}
		t.mu.Unlock()
	}
	return owns
}

// knownNumbers returns a user's own numbers as far as they are known without the store.
func (s *sharing) knownNumbers(key rowKey, at int64) map[string]limits.Numbers {
	t := s.stripe(key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.find(key); known != nil {
		return known.row.OwnAt(at).Numbers
	}
	return nil
}
