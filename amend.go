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

// userTable returns the table that has a user's state, and the time in the table's unit. An empty
// channel ID selects the PerUserEverywhere limits. An empty user ID selects the channel's
// PerChannel limits.
func (g *Guard) userTable(channelID, userID string, at time.Time) (*limits.Table, int64, error) {
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

// Grant gives a user n extra messages in one limit at the time at. An empty limit name selects the
// first daily-window. The extra messages are used when the regular allowance can't cover a message.
// They expire at the returned time, which is the end of the limit's current window. If no window is
// open, it is the end of the user's day. If no limit counts by days, it is 24 hours later. An empty
// channel ID selects the PerUserEverywhere limits. An empty user ID selects the channel's
// PerChannel limits. The errors are ErrNoLimit, ErrGrant, ErrLongID and ErrTime.
func (g *Guard) Grant(channelID, userID, limit string, n int, at time.Time) (until time.Time, err error) {
	table, ns, err := g.userTable(channelID, userID, at)
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

// Refund restores allowance that a user has spent. Of n messages spent at spentAt, it refunds the
// part that still counts at now, in each of the user's limits in the channel. It never makes the
// allowance larger than a new user's. A bucket doesn't record individual messages. If the user has
// spent more after spentAt, Refund assumes that the bucket was full before spentAt. So it never
// refunds tokens that the bucket has already regained. Empty IDs have the same meaning as for
// Grant.
func (g *Guard) Refund(channelID, userID string, spentAt time.Time, n int, now time.Time) error {
	table, ns, err := g.userTable(channelID, userID, now)
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

// Reset removes a user's usage, strikes and grants, as if the user had never written in the
// channel. The user's override stays. Empty IDs have the same meaning as for Grant.
func (g *Guard) Reset(channelID, userID string, now time.Time) error {
	table, ns, err := g.userTable(channelID, userID, now)
	if err != nil {
		return err
	}
	table.Reset(userID, ns)
	return nil
}
