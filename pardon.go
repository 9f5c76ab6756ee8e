package chatguard

import (
	"errors"

	"github.com/chatguard/chatguard/internal/limits"
)

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
// It also clears the recorded timeout; the caller must lift the penalty itself. Pardon reports
// whether there was anything to do, so a second call returns false. The error is ErrNotThrottled,
// ErrLongID or ErrTime.
func (g *Guard) Pardon(v Verdict) (done bool, err error) { return g.atNow().Pardon(v) }

// Pardon is Guard.Pardon as of that time.
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

// PardonAll is Guard.PardonAll as of that time.
func (a GuardAt) PardonAll(verdicts []Verdict) (p Pardoned, err error) {
	if len(verdicts) == 0 {
		return p, nil
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
	table, ns, err := a.guard.userTable(p.channelID, p.userID, a.at)
	if err != nil {
		return Pardoned{}, err
	}
	if p.taken = table.PardonAll(p.userID, offences, ns, a.otherPlaces(p.channelID, p.userID)...); p.taken != nil {
		p.Messages, p.Strikes = p.taken.Offences, p.taken.Strikes
	} else if table.Closed() {
		return a.PardonAll(verdicts) // in the channel's new table
	}
	return p, nil
}

// otherPlaces returns the places that a user's messages use in addition to the user's own row in
// the channel.
func (a GuardAt) otherPlaces(channelID, userID string) []limits.Place {
	return a.guard.channels.get(channelID, a.guard, a.at).places(a.guard, userID, new([2]limits.Place))
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
		ID: int64(v.EntryID), At: at, Counted: int64(v.Counted), Silence: int64(penalty.Duration), Series: v.Series, NewStrike: v.NewStrike,
	}, err
}

// Unpardon undoes a pardon: the strikes and the refunded usage count again. It doesn't change
// verdicts on later messages. It returns ErrPardonStale and changes nothing if the policy has
// changed since the pardon. It also does so if the user has since got another strike, been reset,
// been pardoned again or spent the refund. A second Unpardon of the same pardon returns an error,
// too. A lifted penalty is not imposed again.
func (g *Guard) Unpardon(p Pardoned) error { return g.atNow().Unpardon(p) }

// Unpardon is Guard.Unpardon as of that time.
func (a GuardAt) Unpardon(p Pardoned) error {
	if p.taken == nil {
		return nil
	}
	table, ns, err := a.guard.userTable(p.channelID, p.userID, a.at)
	if err != nil {
		return err
	}
	if !table.Unpardon(p.userID, p.taken, ns, a.otherPlaces(p.channelID, p.userID)...) {
		if table.Closed() {
			return a.Unpardon(p) // in the channel's new table
		}
		return ErrPardonStale
	}
	return nil
}
