package chatguard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Errors of the methods that change a single user.
var (
	ErrNoLimit      = errors.New("chatguard: there is no such limit")
	ErrGrant        = errors.New("chatguard: a grant must be between 1 and 2147483647 messages")
	ErrNotThrottled = errors.New("chatguard: the message wasn't throttled: there is nothing to pardon")
)

// Grant gives the key's user, or everyone who shares the key's limits, n extra messages in one
// limit. An empty limit name selects the first daily window. The extra messages are used when the
// regular allowance can't cover a message. They expire at the returned time, which is the end of
// the limit's current window. If no window is open, it is the end of the user's day: in the zone of
// an override or of the limits, because Grant doesn't know User.Timezone. If no limit counts by
// days, it is 24 hours later. The errors are ErrNoLimit, ErrGrant, those of an invalid
// key (ErrInvalid), and those of Options.Shared.
func (g *Guard) Grant(ctx context.Context, k Key, limit string, n int) (until time.Time, err error) {
	return g.atNow().Grant(ctx, k, limit, n)
}

func (a guardAt) Grant(ctx context.Context, k Key, limit string, n int) (until time.Time, err error) {
	table, ns, err := a.guard.channels.keyTable(k, a.at)
	if err != nil {
		return until, err
	}
	if n < 1 || n > limits.MaxMessages {
		return until, ErrGrant
	}
	var lapse int64
	if a.guard.channels.rows != nil {
		err = a.editRow(ctx, k, func(d *limits.Draft) (err error) {
			lapse, err = d.Grant(limit, int64(n), ns)
			return err
		})
	} else {
		lapse, err = table.Grant(k.UserID, limit, int64(n), ns)
	}
	switch {
	case err == limits.ErrClosed:
		return a.Grant(ctx, k, limit, n) // in the channel's new table
	case err == limits.ErrNoLimit && limit == "":
		return until, fmt.Errorf("%w: the name is missing, and no limit counts by days", ErrNoLimit)
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
// before; a Reservation does. The errors are ErrInvalid, and those of Options.Shared.
func (g *Guard) Refund(ctx context.Context, v Verdict) error { return g.atNow().Refund(ctx, v) }

func (a guardAt) Refund(ctx context.Context, v Verdict) error {
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
	back := limits.Refund{At: spentAt, N: int64(v.Spent), Roles: v.roles, Observed: v.Observed}
	if a.guard.channels.rows != nil {
		return a.refundShared(ctx, &v, back, ns)
	}
	table.Refund(v.UserID, back, ns)
	back.Shared = true
	cs := &a.guard.channels
	for _, other := range cs.allPlaces(nil, cs.get(v.ChannelID, a.at), v.UserID, &v.Print) {
		other.Refund(back, ns)
	}
	return nil
}

// Reset removes the usage, strikes and grants of the key's user, as if the user had never written.
// A day, week or month that has begun continues to its end.
// With PerChannel it removes what everyone in the channel has used together, and with PerEverywhere
// what everyone has used in all channels. The user's override stays. The errors are ErrNoLimit,
// those of an invalid key, and with Options.Shared those of the store: see Options.Shared.
func (g *Guard) Reset(ctx context.Context, k Key) error { return g.atNow().Reset(ctx, k) }

func (a guardAt) Reset(ctx context.Context, k Key) error {
	table, _, err := a.guard.channels.keyTable(k, a.at)
	if err != nil {
		return err
	}
	if a.guard.channels.rows != nil {
		return a.editRow(ctx, k, func(d *limits.Draft) error {
			d.Reset()
			return nil
		})
	}
	table.Reset(k.UserID)
	return nil
}

// Pardon undoes the effects of a throttled message on its author. It removes the strike if the
// strike still counts, and refunds what the message spent in limits that count throttled messages,
// except those on repeated text, because the text was written all the same. In a Cascade, it
// refunds the bucket that would have paid for the message. It also clears the recorded timeout; the
// caller must lift the penalty itself. Pardon reports whether there was anything to do, so a second
// call returns false. The error is ErrNotThrottled, ErrInvalid, or one of those of Options.Shared.
func (g *Guard) Pardon(ctx context.Context, v Verdict) (done bool, err error) {
	return g.atNow().Pardon(ctx, v)
}

func (a guardAt) Pardon(ctx context.Context, v Verdict) (done bool, err error) {
	taken, err := a.PardonAll(ctx, []Verdict{v})
	return taken.Offences > 0, err
}

// PardonAll implements inner.GuardAt.
func (a guardAt) PardonAll(ctx context.Context, verdicts []Verdict) (limits.Taken, error) {
	if len(verdicts) == 0 {
		return limits.Taken{}, nil
	}
	k := verdicts[0].Key()
	if err := k.validate(); err != nil {
		return limits.Taken{}, err
	}
	offences := make([]limits.Offence, len(verdicts))
	for i := range verdicts {
		v := &verdicts[i]
		if v.Key() != k {
			return limits.Taken{}, errors.New("chatguard: all verdicts of a pardon must be of one user in one channel")
		}
		var err error
		if offences[i], err = v.offence(); err != nil {
			return limits.Taken{}, err
		}
	}
	table, ns, err := a.guard.channels.keyTable(k, a.at)
	if err != nil {
		return limits.Taken{}, err
	}
	var taken *limits.Taken
	if a.guard.channels.rows != nil {
		err = a.editUser(ctx, k, nil, func(drafts []*limits.Draft) error {
			taken = limits.PardonDrafts(drafts, offences, ns)
			return nil
		})
	} else if taken = table.PardonAll(k.UserID, offences, ns, a.otherPlaces(k)...); taken == nil && table.Closed() {
		return a.PardonAll(ctx, verdicts) // in the channel's new table
	}
	if err != nil || taken == nil {
		return limits.Taken{}, err
	}
	return *taken, nil
}

// refundShared is Refund for rows in the shared store.
func (a guardAt) refundShared(ctx context.Context, v *Verdict, back limits.Refund, ns int64) error {
	cs := &a.guard.channels
	texts := cs.get(v.ChannelID, a.at).textKeys(&cs.textKey, &v.Print, v.UserID)
	return a.editUser(ctx, v.Key(), texts, func(drafts []*limits.Draft) error {
		for i, draft := range drafts {
			back.Shared = i > 0
			draft.Refund(back, ns)
		}
		return nil
	})
}

// otherPlaces returns the places that all messages of a user use in addition to the user's own row
// in the channel.
func (a guardAt) otherPlaces(k Key) []limits.Place {
	cs := &a.guard.channels
	return cs.places(nil, cs.get(k.ChannelID, a.at), k.UserID)
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

// Unpardon implements inner.GuardAt.
func (a guardAt) Unpardon(ctx context.Context, k Key, taken limits.Taken) error {
	if taken.Offences == 0 {
		return nil
	}
	table, ns, err := a.guard.channels.keyTable(k, a.at)
	if err != nil {
		return err
	}
	if a.guard.channels.rows != nil {
		return a.editUser(ctx, k, nil, func(drafts []*limits.Draft) error {
			if !limits.UnpardonDrafts(drafts, &taken, ns) {
				return limits.ErrPardonStale
			}
			return nil
		})
	}
	if !table.Unpardon(k.UserID, &taken, ns, a.otherPlaces(k)...) {
		if table.Closed() {
			return a.Unpardon(ctx, k, taken) // in the channel's new table
		}
		return limits.ErrPardonStale
	}
	return nil
}
