package chatguard

import (
	"hash/maphash"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// ForgetChannel removes a channel from memory: its own policy, its overlay, and its users with
// their usage, strikes, overrides and grants. Use it when a room is closed. Usage of
// PerUserEverywhere and PerEverywhere limits stays. If the channel isn't known, ForgetChannel does
// nothing.
//
// Changes that a store hasn't saved yet are lost. What it has saved is restored at the next start,
// unless it has no effect by then. To delete a user's override from the store, remove the override
// and let the store save before you forget the channel.
//
// Limits that moderators have set in the dashboard for the channel, and a pause, apply again only
// after the next start. Close the connections of a room before you forget its channel: a Refund of
// an older verdict would give back usage in a new channel with the same ID.
//
// With Options.Shared, the rows of the channel's users stay in the shared store, where other Guards
// use them. The next Exchange writes what was spent here and isn't in the store yet.
//
// A message that is judged at the same time counts either in the old channel, or as the first
// message in a new channel, whose policy is that of Guard.Policy.
//
// The Guard itself removes a channel that has neither its own policy nor an overlay when it no
// longer remembers any of the channel's users. It remembers a user until the allowance is fully
// restored, and as long as the user has strikes, grants or an override. It remembers a day, week or
// month of a DailyWindow for another 24 hours, 7 days or 31 days after its end. With shared.Exact,
// the channel must also have been unused for 10 minutes. The Guard looks at a few channels whenever
// it sees a new one, and whenever a store takes changes.
func (g *Guard) ForgetChannel(channelID string) {
	g.created()
	cs := &g.channels
	cs.changing.Lock()
	defer cs.changing.Unlock()
	cs.adding.Lock()
	defer cs.adding.Unlock()
	if t := cs.known.table.Load(); t != nil {
		if c, slot := t.find(channelID); c != nil {
			cs.remove(*t, slot, false)
		}
	}
}

// remove removes the channel in a slot. If onlyEmpty is true, it keeps a channel that has users.
// The caller holds adding. What its users have spent since the last Exchange is still exchanged.
func (cs *channels) remove(t channelTable, slot int, onlyEmpty bool) {
	known := t[slot].Load()
	// From here on, a message waits for adding. So there is no second channel with this ID before
	// the first is closed.
	t[slot].Store(gone)
	closed, unsent := limits.Close(onlyEmpty, known.tables()...)
	if !closed {
		t[slot].Store(known)
		return
	}
	if cs.rows != nil {
		cs.rows.Forget(known.id, unsent)
	}
	cs.known.count--
	cs.removed.set(known.id, !known.own)
}

// tables returns the tables of the channel, in the order in which decisions lock them.
func (c *channel) tables() []*limits.Table {
	tables := []*limits.Table{c.table}
	if common := c.common.Load(); common != nil {
		tables = append(tables, common)
	}
	if texts := c.texts.Load(); texts != nil {
		for _, t := range *texts {
			tables = append(tables, t.table)
		}
	}
	return tables
}

const (
	// sweptSlots is how many slots are looked at when a channel is added. In a new table, at least
	// an eighth of the slots hold a channel, so idle channels are removed faster than others are
	// added.
	sweptSlots = 16
	// sweptPart means that when a store takes changes, one slot in 64 is looked at, but at least
	// sweptSlots.
	sweptPart = 64
	// idleAfter is how long an unused channel stays if its users' rows are only in a shared store.
	idleAfter = 10 * time.Minute
)

// sweep looks at the channels in the next slots, and removes those that are idle at the given time.
// The caller holds adding.
func (cs *channels) sweep(slots int, at time.Time) {
	t := cs.known.table.Load()
	now, err := nanoseconds(at)
	if t == nil || err != nil || !cs.changing.TryLock() {
		return
	}
	defer cs.changing.Unlock()
	// One message from a wrong clock must not make every channel look idle, so the earlier of the
	// last two times counts.
	before := cs.swept
	cs.swept = now
	for range min(slots, len(*t)) {
		cs.hand = (cs.hand + 1) & (len(*t) - 1)
		if known := (*t)[cs.hand].Load(); known != nil && known != gone && known.isIdle(min(now, before)) {
			cs.remove(*t, cs.hand, true)
		}
	}
}

// isIdle drops users who need not be remembered at that time, and reports whether the channel holds
// nothing any more.
func (c *channel) isIdle(at int64) bool {
	if c.own || c.overlay != nil || c.shared != nil && at-c.shared.Used() < int64(idleAfter) {
		return false
	}
	users := 0
	for _, table := range c.tables() {
		table.Sweep(at)
		users += table.Users()
	}
	return users == 0
}

// sweepAfter looks at a part of the channels after a store has taken changes. last is the time of
// the latest change in nanoseconds, or 0 if there were none. now is the Guard's time.
func (cs *channels) sweepAfter(last int64, now time.Time) {
	if last == 0 {
		return
	}
	cs.adding.Lock()
	defer cs.adding.Unlock()
	if t := cs.known.table.Load(); t != nil {
		at := limits.TimeOf(last)
		if now.Before(at) {
			at = now
		}
		cs.sweep(max(sweptSlots, len(*t)/sweptPart), at)
	}
}

// removed remembers the channels that were removed last and had no policy of their own. A store
// keeps strikes longer in a channel that the Guard hasn't seen, but not in one of these.
type removed struct{ recent, older map[uint64]bool }

// mostRemoved is how many channels each half of a removed holds.
const mostRemoved = 1 << 16

// set adds or removes a channel.
func (r *removed) set(id string, is bool) {
	key := maphash.String(channelSeed, id)
	if delete(r.older, key); !is {
		delete(r.recent, key)
		return
	}
	if r.recent == nil || len(r.recent) == mostRemoved {
		r.recent, r.older = map[uint64]bool{}, r.recent
	}
	r.recent[key] = true
}

// hasRemoved reports whether a channel was removed and had no policy of its own.
func (cs *channels) hasRemoved(id string) bool {
	cs.adding.Lock()
	defer cs.adding.Unlock()
	key := maphash.String(channelSeed, id)
	return cs.removed.recent[key] || cs.removed.older[key]
}
