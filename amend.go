package chatguard

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Errors of the methods that change a single user.
var (
	ErrNoLimit      = errors.New("there is no such limit")
	ErrGrant        = errors.New("a grant must be between 1 and 2147483647 messages")
	ErrNotThrottled = errors.New("the message wasn't throttled: there is nothing to pardon")
	ErrPardonStale  = errors.New("the user's strikes or limits have changed since the pardon: it can't be undone any more")
)

// user returns the table that holds a user, and the time in the table's unit. An empty channel ID
// selects the limits per user everywhere. An empty user ID selects the limits that everyone in the
// channel shares.
func (g *Guard) user(channelID, userID string, at time.Time) (*limits.Table, int64, error) {
	if len(channelID) > maxID || len(userID) > maxID {
		return nil, 0, ErrLongID
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return nil, 0, err
	}
	table := g.tableOf(channelID, userID)
	if table == nil {
		return nil, 0, ErrNoLimit
	}
	return table, ns, nil
}

// tableOf returns the table of a user, or nil if the policy has no limits of that scope.
func (g *Guard) tableOf(channelID, userID string) *limits.Table {
	if channelID == "" {
		return g.everywhere.Load()
	}
	return g.channels.get(channelID, g).tableOf(userID)
}

// Grant gives a user n extra messages in one limit at the time at. An empty limit selects the first
// limit that counts by days. The extra messages are used when the regular allowance can't cover a
// message. They expire at the returned time: the end of the limit's window, otherwise the end of
// the user's day, otherwise 24 hours later. An empty channel ID selects the limits per user
// everywhere. An empty user ID selects the limits that everyone in the channel shares. The errors
// are ErrNoLimit, ErrGrant, ErrLongID and ErrTime.
func (g *Guard) Grant(channelID, userID, limit string, n int, at time.Time) (until time.Time, err error) {
	table, ns, err := g.user(channelID, userID, at)
	if err != nil {
		return until, err
	}
	if n < 1 || n > limits.MaxMessages {
		return until, ErrGrant
	}
	lapse, ok := table.Grant(userID, limit, int64(n), ns)
	if !ok {
		return until, fmt.Errorf("%w: %q", ErrNoLimit, limit)
	}
	return timeOf(lapse), nil
}

// Refund returns those of n messages spent at spentAt that still count at now, in all limits of the
// channel. It never makes the allowance larger than a new user's. A bucket doesn't record
// individual messages. If the user has spent since, Refund assumes that the bucket was full before,
// so it never returns tokens that have already been refilled. Empty IDs have the same meaning as
// for Grant.
func (g *Guard) Refund(channelID, userID string, spentAt time.Time, n int, now time.Time) error {
	table, ns, err := g.user(channelID, userID, now)
	if err != nil {
		return err
	}
	spent, err := nanoseconds(spentAt)
	if err != nil {
		return err
	}
	if n < 1 {
		return ErrCost
	}
	table.Refund(userID, spent, int64(n), ns)
	return nil
}

// Reset returns a user to the state of one never seen in the channel: no usage, no strikes and no
// grants. The user's override stays. Empty IDs have the same meaning as for Grant.
func (g *Guard) Reset(channelID, userID string, now time.Time) error {
	table, ns, err := g.user(channelID, userID, now)
	if err != nil {
		return err
	}
	table.Reset(userID, ns)
	return nil
}
