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

// Grant gives the key's user, or everyone who shares the key's limits, n extra messages in one
// limit. An empty limit name selects the first daily window. The extra messages are used when the
// regular allowance can't cover a message. They expire at the returned time, which is the end of
// the limit's current window. If no window is open, it is the end of the user's day. If no limit
// counts by days, it is 24 hours later. The errors are ErrNoLimit, ErrGrant, those of an invalid
// key (ErrKey, ErrNoChannel, ErrNoUser and ErrLongID), and those of Options.Shared.
func (g *Guard) Grant(k Key, limit string, n int) (until time.Time, err error) {
	return g.atNow().Grant(k, limit, n)
}

// Grant is Guard.Grant as of the time given to Guard.At.
func (a GuardAt) Grant(k Key, limit string, n int) (until time.Time, err error) {
	table, ns, err := a.guard.channels.keyTable(k, a.at)
	if err != nil {
		return until, err
	}
	if n < 1 || n > limits.MaxMessages {
		return until, ErrGrant
	}
	var lapse int64
	if a.guard.channels.rows != nil {
		err = a.editRow(k, func(d *limits.Draft) (err error) {
			lapse, err = d.Grant(limit, int64(n), ns)
			return err
		})
	} else {
		lapse, err = table.Grant(k.UserID, limit, int64(n), ns)
	}
	switch {
	case err == limits.ErrClosed:
		return a.Grant(k, limit, n) // in the channel's new table
	case err == limits.ErrNoLimit:
		return until, fmt.Errorf("%w: %q", ErrNoLimit, limit)
	case err != nil:
		return until, err
	}
	return limits.TimeOf(lapse), nil
}

// Refund gives back what the message that v is about has spent, in all limits, if that still
// counts. Use it for a message that was allowed but not delivered. Refund never makes the allowance
// larger than a new user's. If the message was Observed, limits that observe give nothing back. A
// bucket doesn't record individual messages. If the user has spent more since, Refund assumes that
// the bucket was full before the message. So it never refunds tokens that the bucket has already
// regained. Refund does nothing if v spent nothing. It doesn't notice that a verdict was refunded
// before; a Reservation does. The errors are ErrNoChannel, ErrNoUser, ErrLongID, ErrTime, and those
// of Options.Shared.
func (g *Guard) Refund(v Verdict) error { return g.atNow().Refund(v) }

// Refund is Guard.Refund as of the time given to Guard.At.
func (a GuardAt) Refund(v Verdict) error {
	if v.Spent <= 0 {
		return nil
	}
	if err := v.Key().validate(); err != nil {
		return err
	}
	table, ns, err := a.guard.channels.userTable(v.ChannelID, v.UserID, a.at)
	if err != nil {
		return err
	}
	spentAt, err := nanoseconds(v.At.Add(v.Late))
	if err != nil {
		return err
	}
	back := limits.Refund{At: spentAt, N: int64(v.Spent), Roles: uint8(v.roles&allRoles | 1<<Everyone), Observed: v.Observed}
	if a.guard.channels.rows != nil {
		return a.refundShared(&v, back, ns)
	}
	table.Refund(v.UserID, back, ns)
	back.Shared = true
	for _, other := range a.otherPlaces(v.ChannelID, v.UserID) {
		other.Table.Refund(other.User, back, ns)
	}
	return nil
}

// Reset removes the usage, strikes and grants of the key's user, as if the user had never written.
// With PerChannel it removes what everyone in the channel has used together, and with PerEverywhere
// what everyone has used in all channels. The user's override stays. The errors are ErrNoLimit,
// those of an invalid key, and with Options.Shared those of the store: see Options.Shared.
func (g *Guard) Reset(k Key) error { return g.atNow().Reset(k) }

// Reset is Guard.Reset as of the time given to Guard.At.
func (a GuardAt) Reset(k Key) error {
	table, _, err := a.guard.channels.keyTable(k, a.at)
	if err != nil {
		return err
	}
	if a.guard.channels.rows != nil {
		return a.editRow(k, func(d *limits.Draft) error {
			d.Reset()
			return nil
		})
	}
	table.Reset(k.UserID)
	return nil
}

// Pardoned is the effect of Guard.PardonAll, which Guard.Unpardon undoes. The zero value is a
// pardon that had no effect.
type Pardoned struct {
	Messages int // messages that were not pardoned before
	Strikes  int // strikes that no longer count

	channelID, userID string
	taken             *limits.Taken
}

// Pardon undoes the effects of a throttled message on its author. It removes the strike if the
// strike still counts, and refunds what the message spent in limits that count throttled messages.
// In a Cascade, it refunds the bucket that would have paid for the message. It also clears the
// recorded timeout; the caller must lift the penalty itself. Pardon reports whether there was
// anything to do, so a second call returns false. The error is ErrNotThrottled, ErrNoChannel,
// ErrNoUser, ErrLongID, ErrTime, or one of those of Options.Shared.
func (g *Guard) Pardon(v Verdict) (done bool, err error) { return g.atNow().Pardon(v) }

// Pardon is Guard.Pardon as of the time given to Guard.At.
func (a GuardAt) Pardon(v Verdict) (done bool, err error) {
	p, err := a.PardonAll([]Verdict{v})
	return p.Messages > 0, err
}

// PardonAll is Pardon for several messages of one user in one channel. The verdicts must include
// every throttled message of the user from the first of them to the last. PardonAll skips messages
// that are already pardoned. If one of the verdicts can't be pardoned, it pardons none. It returns
// the same errors as Pardon, and an error if the verdicts are about several users or channels.
func (g *Guard) PardonAll(verdicts []Verdict) (p Pardoned, err error) {
	return g.atNow().PardonAll(verdicts)
}

// PardonAll is Guard.PardonAll as of the time given to Guard.At.
func (a GuardAt) PardonAll(verdicts []Verdict) (p Pardoned, err error) {
	if len(verdicts) == 0 {
		return p, nil
	}
	if err := verdicts[0].Key().validate(); err != nil {
		return p, err
	}
	p.channelID, p.userID = verdicts[0].ChannelID, verdicts[0].UserID
	offences := make([]limits.Offence, len(verdicts))
	for i := range verdicts {
		v := &verdicts[i]
		if v.ChannelID != p.channelID || v.UserID != p.userID {
			return Pardoned{}, errors.New("chatguard: all verdicts of a pardon must be of one user in one channel")
		}
		if offences[i], err = v.offence(); err != nil {
			return Pardoned{}, err
		}
	}
	table, ns, err := a.guard.channels.userTable(p.channelID, p.userID, a.at)
	if err != nil {
		return Pardoned{}, err
	}
	if a.guard.channels.rows != nil {
		err = a.editUser(p.channelID, p.userID, func(drafts []*limits.Draft) error {
			p.taken = limits.PardonDrafts(drafts, offences, ns)
			return nil
		})
		if err != nil {
			return Pardoned{}, err
		}
	} else {
		p.taken = table.PardonAll(p.userID, offences, ns, a.otherPlaces(p.channelID, p.userID)...)
	}
	if p.taken != nil {
		p.Messages, p.Strikes = p.taken.Offences, p.taken.Strikes
	} else if table.Closed() {
		return a.PardonAll(verdicts) // in the channel's new table
	}
	return p, nil
}

// refundShared is Refund for rows in the shared store.
func (a GuardAt) refundShared(v *Verdict, back limits.Refund, ns int64) error {
	return a.editUser(v.ChannelID, v.UserID, func(drafts []*limits.Draft) error {
		for i, draft := range drafts {
			back.Shared = i > 0
			draft.Refund(back, ns)
		}
		return nil
	})
}

// otherPlaces returns the places that a user's messages use in addition to the user's own row in
// the channel.
func (a GuardAt) otherPlaces(channelID, userID string) []limits.Place {
	cs := &a.guard.channels
	return cs.places(cs.get(channelID, a.at), userID, new(otherPlaces))
}

// offence returns the effects of the message on its author.
func (v *Verdict) offence() (o limits.Offence, err error) {
	if !v.throttled() || v.EntryID == 0 {
		return o, ErrNotThrottled
	}
	at, err := nanoseconds(v.At.Add(v.Late))
	penalty := v.Penalty
	if v.Observed {
		penalty = v.WouldBe
	}
	return limits.Offence{
		ID: int64(v.EntryID), At: at, Counted: int64(v.Counted), Silence: int64(penalty.Duration), Series: v.Series, NewStrike: v.NewStrike, Low: v.Priority == PriorityLow,
	}, err
}

// Unpardon undoes a pardon: the strikes and the refunded usage count again. It doesn't change
// verdicts on later messages. It returns ErrPardonStale and changes nothing if the policy has
// changed since the pardon. It also does so if the user has since got another strike, been reset,
// been pardoned again or spent the refund. A second Unpardon of the same pardon returns an error,
// too. A lifted penalty is not imposed again. Other errors are those of Options.Shared.
func (g *Guard) Unpardon(p Pardoned) error { return g.atNow().Unpardon(p) }

// Unpardon is Guard.Unpardon as of the time given to Guard.At.
func (a GuardAt) Unpardon(p Pardoned) error {
	if p.taken == nil {
		return nil
	}
	table, ns, err := a.guard.channels.userTable(p.channelID, p.userID, a.at)
	if err != nil {
		return err
	}
	if a.guard.channels.rows != nil {
		return a.editUser(p.channelID, p.userID, func(drafts []*limits.Draft) error {
			if !limits.UnpardonDrafts(drafts, p.taken, ns) {
				return ErrPardonStale
			}
			return nil
		})
	}
	if !table.Unpardon(p.userID, p.taken, ns, a.otherPlaces(p.channelID, p.userID)...) {
		if table.Closed() {
			return a.Unpardon(p) // in the channel's new table
		}
		return ErrPardonStale
	}
	return nil
}
