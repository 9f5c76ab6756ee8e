package chatguard

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// What is wrong with a change of one user.
var (
	ErrNoLimit      = errors.New("there is no such limit")
	ErrGrant        = errors.New("a grant is of 1 to 2147483647 messages")
	ErrNotThrottled = errors.New("the message wasn't throttled: there is nothing to pardon")
	ErrPardonStale  = errors.New("the user's strikes or limits have changed since the pardon: it can't be undone any more")
)

// user returns the table that holds a user, and the time in its unit. An empty channel ID means the limits per user everywhere, an empty
// user ID those that everyone in the channel shares.
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

// tableOf returns the table of a user, nil where the policy has no limits of that scope.
func (g *Guard) tableOf(channelID, userID string) *limits.Table {
	if channelID == "" {
		return g.everywhere.Load()
	}
	return g.channels.get(channelID, g).tableOf(userID)
}

// Grant gives a user n extra messages in one limit, as of the moment at; an empty limit means the first that counts by days. They are drawn
// when the regular allowance doesn't fit a message, and lapse at the time returned: the end of the limit's window, else of the user's day,
// else after 24 hours. An empty channel ID means the limits per user everywhere, an empty user ID those that everyone in the channel shares.
// The errors are ErrNoLimit, ErrGrant, ErrLongID and ErrTime.
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

// Refund gives back what still counts now of n messages that a user spent at that time, in all limits of the channel, and never makes the
// allowance larger than a new user's. A bucket doesn't remember who owes what: where the user has spent since, it is taken to have been whole
// before, so that nothing is given back that has come back by itself. Empty IDs mean what they mean to Grant.
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

// Reset makes a user like one never seen in the channel: nothing is spent, no strike counts, no grant is left. The user's override stays.
// Empty IDs mean what they mean to Grant.
func (g *Guard) Reset(channelID, userID string, now time.Time) error {
	table, ns, err := g.user(channelID, userID, now)
	if err != nil {
		return err
	}
	table.Reset(userID, ns)
	return nil
}
