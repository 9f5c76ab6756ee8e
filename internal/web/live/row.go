package live

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// bansListed is how long a banned user remains on the board after the ban.
const bansListed = 24 * time.Hour

type rowKey struct{ channel, user string }

// row is a user on the board, with the data needed to judge them again.
type row struct {
	Throttled
	cost  int                  // of the last message
	print *chatguard.TextPrint // likewise; nil if it is unknown, or no limit is on repeated text
	// limited is whether a limit throttles the user. limitEnds is when it lets them write; the zero
	// time means never.
	limited   bool
	limitEnds time.Time
	// assumed is whether Silenced is a penalty in a chat that doesn't report timeouts and bans.
	assumed bool
	place   int // index in its heap; -1 if it is in none
}

func (r *row) key() rowKey { return rowKey{r.Channel, r.UserID} }

// again returns the last message, written again.
func (r *row) again(now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: r.Channel, User: chatguard.User{ID: r.UserID, Roles: r.Roles}, SentAt: now, Cost: r.cost, Print: r.print}
}

// limit records that a limit throttles the user until a time; the zero time means that waiting
// never helps.
func (r *row) limit(until time.Time) { r.limited, r.limitEnds = true, until }

// limitLeaves returns when the row no longer counts as throttled by a limit.
func (r *row) limitLeaves() time.Time { return journal.ThrottledUntil(r.At, r.limitEnds) }

// waits reports whether a limit throttles the user at a time.
func (r *row) waits(now time.Time) bool { return r.limited && r.limitLeaves().After(now) }

// update sets what follows from the user's limit and their timeout or ban at a time.
func (r *row) update(now time.Time) {
	r.limited = r.waits(now)
	if r.Silenced != nil && !r.Silenced.IsInForce(now) {
		r.Silenced, r.assumed = nil, false
	}
	ends, never := r.limitEnds, r.limitEnds.IsZero() && r.Total > 0
	if !r.limited && r.Silenced != nil {
		ends, never = time.Time{}, false
	}
	r.MaySpeakAt.Time, r.Never = r.Silenced.Delay(ends, never)
	r.Held = r.limited || r.Silenced != nil && (!r.Silenced.Banned || r.Silenced.At.Add(Recent).After(now))
}

// due returns when the row must be updated or removed.
func (r *row) due() time.Time {
	switch s := r.Silenced; {
	case !r.Held:
		return r.removedAt()
	case r.limited && (s == nil || s.Banned || r.limitLeaves().Before(s.Until)):
		return r.limitLeaves()
	case s.Banned:
		return s.At.Add(Recent)
	default:
		return s.Until
	}
}

// removedAt returns when a user who isn't throttled leaves the board.
func (r *row) removedAt() time.Time {
	leaves := r.At.Add(Recent)
	if s := r.Silenced; s != nil && s.Banned && s.At.Add(bansListed).After(leaves) {
		leaves = s.At.Add(bansListed)
	}
	return leaves
}
