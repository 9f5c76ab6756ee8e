package chatguard

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Exemption says whether a single user is judged.
type Exemption uint8

// The exemptions.
const (
	ExemptByRole Exemption = iota // as the policy has it for the user's roles, but a user with numbers of their own is judged
	AlwaysExempt                  // never judged
	NeverExempt                   // judged, whatever the roles
)

var exemptionNames = [...]string{"by-role", "always", "never"}

// String is the exemption's name, as JSON spells it.
func (e Exemption) String() string { return nameOf(exemptionNames[:], "exemption", uint8(e)) }

// MarshalText writes the exemption's name.
func (e Exemption) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads an exemption's name.
func (e *Exemption) UnmarshalText(text []byte) (err error) {
	*e, err = named[Exemption](exemptionNames[:], "exemption", text)
	return err
}

// UserOverride is what a single user has of their own. It beats what the user's roles give. The zero value is nothing.
type UserOverride struct {
	Exempt      Exemption           `json:"exempt,omitempty"`
	ExemptUntil time.Time           `json:"exempt_until,omitzero"` // when Exempt ends; zero means never
	Timezone    string              `json:"timezone,omitempty"`    // IANA name of the zone of the user's day; empty means the limits'
	Limits      map[string]Override `json:"limits,omitempty"`      // other numbers, by the name of the limit
}

// SetUserOverride gives a user numbers, a zone or an exemption of their own in a channel, in place of those that they had, as of the moment
// at. What was spent is kept, and a change of zone waits for the end of the user's day. An empty channel ID means the limits per user
// everywhere. The error names the limit that doesn't exist, or can't have such numbers, or an unknown zone, or says why the exemption can't be.
func (g *Guard) SetUserOverride(channelID, userID string, o UserOverride, at time.Time) error {
	until, err := o.exemptUntil(channelID, at)
	if err != nil {
		return err
	}
	table, ns, err := g.user(channelID, userID, at)
	if err != nil {
		return err
	}
	own := limits.Own{Exemption: limits.Exemption(o.Exempt), ExemptUntil: until, Timezone: o.Timezone}
	if len(o.Limits) > 0 {
		own.Numbers = map[string]limits.Numbers{}
		for name, numbers := range o.Limits {
			own.Numbers[name] = numbers.numbers()
		}
	}
	return table.SetOwn(userID, own, ns)
}

// exemptUntil returns when the exemption ends, 0 for never, and what is wrong with it.
func (o *UserOverride) exemptUntil(channelID string, at time.Time) (ns int64, err error) {
	switch {
	case o.Exempt > NeverExempt:
		return 0, fmt.Errorf("unknown exemption %d", uint8(o.Exempt))
	case o.Exempt != ExemptByRole && channelID == "":
		return 0, errors.New("an exemption is for a channel")
	case o.ExemptUntil.IsZero():
		return 0, nil
	case o.Exempt == ExemptByRole:
		return 0, errors.New("without an exemption there is nothing to end: set exempt to always or never, or leave exempt_until out")
	case !o.ExemptUntil.After(at):
		return 0, errors.New("an exemption has to end later than now")
	}
	if ns, err = nanoseconds(o.ExemptUntil); err != nil {
		return 0, errors.New("an exemption has to end by February 2116: leave exempt_until out where it has no end")
	}
	return ns, nil
}

// UserOverride returns what a user has of their own in a channel, or with an empty channel ID in the limits per user everywhere. An exemption
// that is over by the Guard's clock isn't among it. The error is ErrNoLimit where there are no such limits, ErrLongID, or ErrTime.
func (g *Guard) UserOverride(channelID, userID string) (UserOverride, error) {
	table, now, err := g.user(channelID, userID, g.now())
	if err != nil {
		return UserOverride{}, err
	}
	return overrideOf(table.OwnOf(userID, now)), nil
}

// UserOverrides returns what users have of their own in a channel, or with an empty channel ID in the limits per user everywhere, by user ID. Exemptions
// that are over by the Guard's clock aren't among it. The error is ErrNoLimit where there are no such limits, ErrLongID, or ErrTime.
func (g *Guard) UserOverrides(channelID string) (map[string]UserOverride, error) {
	table, now, err := g.user(channelID, anyUser, g.now())
	if err != nil {
		return nil, err
	}
	overrides := map[string]UserOverride{}
	for user, own := range table.Owns(now) {
		overrides[user] = overrideOf(own)
	}
	return overrides, nil
}

// anyUser stands for a user of whom only the table matters.
const anyUser = "any"

func overrideOf(own limits.Own) UserOverride {
	o := UserOverride{Exempt: Exemption(own.Exemption), Timezone: own.Timezone}
	if own.ExemptUntil != 0 {
		o.ExemptUntil = timeOf(own.ExemptUntil).UTC()
	}
	if len(own.Numbers) > 0 {
		o.Limits = map[string]Override{}
		for name, n := range own.Numbers {
			o.Limits[name] = overrideFrom(n)
		}
	}
	return o
}

func overrideFrom(n limits.Numbers) Override {
	return Override{Burst: int(n.Burst), Refill: n.Refill, Queue: int(n.Queue), Messages: int(n.Messages)}
}
