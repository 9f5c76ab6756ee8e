package chatguard

import (
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Pardoned is what Guard.PardonAll has taken back. Guard.Unpardon undoes it. The zero value is a pardon that had nothing to do.
type Pardoned struct {
	Messages int // that were not pardoned before
	Strikes  int // that counted, and no longer do

	channelID, userID string
	taken             *limits.Taken
}

// Pardon undoes what a throttled message has brought on its author: its strike is taken back if it still counts, what it spent in limits
// that count throttled messages is refunded, and a timeout that chatguard noted is forgotten. Lifting the penalty itself is up to the caller.
// It reports whether there was anything to do: the second time there isn't. The error is ErrNotThrottled, ErrLongID or ErrTime.
func (g *Guard) Pardon(v Verdict, now time.Time) (done bool, err error) {
	p, err := g.PardonAll([]Verdict{v}, now)
	return p.Messages > 0, err
}

// PardonAll is Pardon for several messages of one user in one channel: all that were throttled from the first of them to the last. Those that
// were pardoned before are passed over. If one of the verdicts can't be pardoned, none is. The errors are Pardon's, and one for verdicts on
// several users.
func (g *Guard) PardonAll(verdicts []Verdict, now time.Time) (p Pardoned, err error) {
	if len(verdicts) == 0 {
		return p, nil
	}
	p.channelID, p.userID = verdicts[0].ChannelID, verdicts[0].UserID
	offences := make([]limits.Offence, len(verdicts))
	for i := range verdicts {
		v := &verdicts[i]
		if v.ChannelID != p.channelID || v.UserID != p.userID {
			return Pardoned{}, errors.New("a pardon is of one user in one channel")
		}
		if offences[i], err = v.offence(); err != nil {
			return Pardoned{}, err
		}
	}
	table, ns, err := g.user(p.channelID, p.userID, now)
	if err != nil {
		return Pardoned{}, err
	}
	if p.taken = table.PardonAll(p.userID, offences, ns, g.beside(p.channelID, p.userID)...); p.taken != nil {
		p.Messages, p.Strikes = p.taken.Offences, p.taken.Strikes
	}
	return p, nil
}

// beside are the places that a user's messages draw on beside the user's own in the channel.
func (g *Guard) beside(channelID, userID string) []limits.Place {
	return g.channels.get(channelID, g).places(g, userID, new([2]limits.Place))
}

// offence is what the message has brought on its author.
func (v *Verdict) offence() (o limits.Offence, err error) {
	if !v.Throttled() || v.EntryID == 0 {
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

// Unpardon undoes a pardon: the strikes count again, and so does what was refunded. Messages that the user wrote since stay as they were judged.
// The error is ErrPardonStale if the user has drawn another strike since, was reset, pardoned again or spent what was refunded, or if the
// policy has changed; then nothing is changed. Undoing it twice is refused, too. A penalty that was lifted isn't given again.
func (g *Guard) Unpardon(p Pardoned, now time.Time) error {
	if p.taken == nil {
		return nil
	}
	table, ns, err := g.user(p.channelID, p.userID, now)
	if err != nil {
		return err
	}
	if !table.Unpardon(p.userID, p.taken, ns, g.beside(p.channelID, p.userID)...) {
		return ErrPardonStale
	}
	return nil
}
