package chatguard

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Errors of the methods that change a single user.
var (
	ErrNoLimit      = errors.New("chatguard: there is no such limit")
	ErrKey          = errors.New("chatguard: the key has an ID that its Per excludes, or an unknown Per")
	ErrGrant        = errors.New("chatguard: a grant must be between 1 and 2147483647 messages")
	ErrNotThrottled = errors.New("chatguard: the message wasn't throttled: there is nothing to pardon")
	ErrPardonStale  = errors.New("chatguard: the user's strikes or limits have changed since the pardon: it can't be undone any more")
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
	table := g.tableOf(channelID, userID, at)
	if table == nil {
		return nil, 0, ErrNoLimit
	}
	return table, ns, nil
}

// tableOf returns the table of a user, or nil if the policy has no limits of that scope.
func (g *Guard) tableOf(channelID, userID string, at time.Time) *limits.Table {
	if channelID == "" {
		return g.everywhere.Load()
	}
	return g.channels.get(channelID, g, at).tableOf(userID)
}

// Grant gives the key's user, or everyone in the key's channel, n extra messages in one limit. An
// empty limit name selects the first daily-window. The extra messages are used when the regular
// allowance can't cover a message. They expire at the returned time, which is the end of the
// limit's current window. If no window is open, it is the end of the user's day. If no limit counts
// by days, it is 24 hours later. The errors are ErrNoLimit, ErrGrant, and those of an invalid key:
// ErrKey, ErrNoChannel, ErrNoUser and ErrLongID.
func (g *Guard) Grant(k Key, limit string, n int) (until time.Time, err error) {
	return g.atNow().Grant(k, limit, n)
}

// Grant is Guard.Grant as of that time.
func (a GuardAt) Grant(k Key, limit string, n int) (until time.Time, err error) {
	table, ns, err := a.guard.keyTable(k, a.at)
	if err != nil {
		return until, err
	}
	if n < 1 || n > limits.MaxMessages {
		return until, ErrGrant
	}
	lapse, err := table.Grant(k.UserID, limit, int64(n), ns)
	switch {
	case err == limits.ErrClosed:
		return a.Grant(k, limit, n) // in the channel's new table
	case err != nil:
		return until, fmt.Errorf("%w: %q", ErrNoLimit, limit)
	}
	return timeOf(lapse), nil
}

// Refund gives back what the message that v is about has spent, in all limits, if that still
// counts. Use it for a message that was allowed but not delivered. Refund never makes the allowance
// larger than a new user's. A bucket doesn't record individual messages. If the user has spent more
// since, Refund assumes that the bucket was full before the message. So it never refunds tokens that
// the bucket has already regained. Refund does nothing if v spent nothing. It doesn't notice that a
// verdict was refunded before; a Reservation does. The errors are ErrNoChannel, ErrNoUser, ErrLongID
// and ErrTime.
func (g *Guard) Refund(v Verdict) error { return g.atNow().Refund(v) }

// Refund is Guard.Refund as of that time.
func (a GuardAt) Refund(v Verdict) error {
	if v.Spent <= 0 {
		return nil
	}
	if err := v.Key().validate(); err != nil {
		return err
	}
	table, ns, err := a.guard.userTable(v.ChannelID, v.UserID, a.at)
	if err != nil {
		return err
	}
	spentAt, err := nanoseconds(v.At.Add(v.Late))
	if err != nil {
		return err
	}
	table.Refund(v.UserID, spentAt, int64(v.Spent), ns)
	for _, other := range a.otherPlaces(v.ChannelID, v.UserID) {
		other.Table.Refund(other.User, spentAt, int64(v.Spent), ns)
	}
	return nil
}

// Reset removes the usage, strikes and grants of the key's user, as if the user had never written.
// With PerChannel it removes what everyone in the channel has used together. The user's override
// stays. The errors are ErrNoLimit, and those of an invalid key.
func (g *Guard) Reset(k Key) error { return g.atNow().Reset(k) }

// Reset is Guard.Reset as of that time.
func (a GuardAt) Reset(k Key) error {
	table, ns, err := a.guard.keyTable(k, a.at)
	if err != nil {
		return err
	}
	table.Reset(k.UserID, ns)
	return nil
}
