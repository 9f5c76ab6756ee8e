package chatguard

import (
	"hash/maphash"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// ForgetChannel removes a channel from memory: its own policy, its overlay, and its users with
// their usage, strikes, overrides and grants. Use it when a room is closed. Usage of
// limits in all channels stays. If the channel isn't known, ForgetChannel does nothing.
//
// Changes that a store hasn't saved yet are lost. What it has saved stays in the store: it is
// deleted when it has no effect any more, and restored at the next start until then. To delete a
// user's override from the store, remove the override and let the store save before you forget the
// channel.
//
// Limits that moderators have set in the dashboard for the channel, and a pause, apply again only
// after the next start. Close the connections of a room before you forget its channel: a Refund of
// an older verdict gives back usage of a new channel with the same ID.
//
// With Options.Shared, the rows of the channel's users stay in the shared store, where other Guards
// use them. What was spent here and isn't in it yet is written by the next Exchange.
//
// A message that is judged at the same time counts either in the channel as it was, or as the first
// message in a channel that the Guard sees for the first time, with the policy of Guard.Policy.
//
// The Guard itself removes a channel without its own policy and overlay when the allowances of all
// its users are fully restored. It looks at a few channels whenever it sees a new one, and whenever
// a store takes changes.
func (g *Guard) ForgetChannel(channelID string) {
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

// remove removes the channel of a slot, or if onlyEmpty is true, only a channel without users. The
// caller holds adding. What its users have spent since the last Exchange is still exchanged.
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

// tables returns the tables of the channel's users.
func (c *channel) tables() []*limits.Table {
	if common := c.common.Load(); common != nil {
		return []*limits.Table{c.table, common}
	}
	return []*limits.Table{c.table}
}

const (
	// sweptSlots is how many slots are looked at when a channel is added. At least an eighth of the
	// slots hold a channel, so idle channels go faster than others come.
	sweptSlots = 16
	// sweptPart means that one slot in 64 is looked at when a store takes changes.
	sweptPart = 64
	// idleAfter is how long a channel stays whose users' rows are in a shared store.
	idleAfter = 10 * time.Minute
)

// sweep looks at the channels in the next slots, and removes those that are idle at that time,
// which comes from a message. The caller holds adding.
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

// isIdle drops users whose allowances are fully restored at that time, and reports whether the
// channel holds nothing any more.
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

// sweepAfter looks at a part of the channels after a store has taken changes, the latest of which
// was at the given time, in nanoseconds; 0 means that there were none. now is the Guard's time.
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

// removed remembers the removed channels without a channel policy, up to a number. The rows that
// a store has of their users need not be kept until such a policy is set.
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
