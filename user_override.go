package chatguard

import (
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Exemption says whether a single user is judged.
type Exemption uint8

// The kinds of exemption.
const (
	// ExemptByRole means that the user's roles decide, as the policy says. A user with numbers of
	// their own is always judged.
	ExemptByRole Exemption = iota
	AlwaysExempt           // never judged
	NeverExempt            // judged regardless of roles
)

var exemptionNames = [...]string{"by-role", "always", "never"}

// String returns the exemption's name as used in JSON.
func (e Exemption) String() string { return nameOf(exemptionNames[:], "exemption", uint8(e)) }

// MarshalText writes the exemption's name.
func (e Exemption) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText parses an exemption's name.
func (e *Exemption) UnmarshalText(text []byte) (err error) {
	*e, err = parseName[Exemption](exemptionNames[:], "exemption", text)
	return err
}

// UserOverride is a single user's own settings. They take precedence over the numbers of the user's
// roles. The zero value has no effect.
type UserOverride struct {
	Exempt Exemption `json:"exempt,omitempty"`
	// ExemptUntil is when Exempt ends; zero means never.
	ExemptUntil time.Time `json:"exempt_until,omitzero"`
	// Timezone is the IANA name of the zone of the user's day; empty means the limits' zone.
	Timezone string              `json:"timezone,omitempty"`
	Limits   map[string]Override `json:"limits,omitempty"` // other numbers, by limit name
}

// SetUserOverride replaces a user's override in a channel, as of the time at. An override can set
// numbers, a time zone and an exemption. Recorded usage is kept. A change of zone takes effect at
// the end of the user's day. An empty channel ID means the PerUserEverywhere limits. The error
// names an unknown zone, an unknown limit, or a limit that can't have such numbers. It may also say
// why the exemption isn't possible.
func (g *Guard) SetUserOverride(channelID, userID string, o UserOverride, at time.Time) error {
	until, err := o.exemptionEnd(channelID, at)
	if err != nil {
		return err
	}
	table, ns, err := g.userTable(channelID, userID, at)
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

// exemptionEnd returns when the exemption ends, or 0 for never. It returns an error if the
// exemption isn't valid.
func (o *UserOverride) exemptionEnd(channelID string, at time.Time) (ns int64, err error) {
	switch {
	case o.Exempt > NeverExempt:
		return 0, fmt.Errorf("unknown exemption %d", uint8(o.Exempt))
	case o.Exempt != ExemptByRole && channelID == "":
		return 0, errors.New("an exemption needs a channel ID")
	case o.ExemptUntil.IsZero():
		return 0, nil
	case o.Exempt == ExemptByRole:
		return 0, errors.New("exempt_until needs an exemption: set exempt to always or never, or leave exempt_until out")
	case !o.ExemptUntil.After(at):
		return 0, errors.New("an exemption must end in the future")
	}
	if ns, err = nanoseconds(o.ExemptUntil); err != nil {
		return 0, errors.New("an exemption must end by February 2116: leave exempt_until out if it has no end")
	}
	return ns, nil
}

// UserOverride returns a user's override in a channel. For an empty channel ID it returns the
// override for the PerUserEverywhere limits. It omits an exemption that has ended by the Guard's
// clock. The error is ErrNoLimit if there are no such limits, ErrLongID, or ErrTime.
func (g *Guard) UserOverride(channelID, userID string) (UserOverride, error) {
	table, now, err := g.userTable(channelID, userID, g.now())
	if err != nil {
		return UserOverride{}, err
	}
	return overrideOf(table.OwnOf(userID, now)), nil
}

// UserOverrides returns the users' overrides in a channel, by user ID. For an empty channel ID it
// returns the overrides for the PerUserEverywhere limits. It omits exemptions that have ended by
// the Guard's clock. The error is ErrNoLimit if there are no such limits, ErrLongID, or ErrTime.
func (g *Guard) UserOverrides(channelID string) (map[string]UserOverride, error) {
	table, now, err := g.userTable(channelID, anyUser, g.now())
	if err != nil {
		return nil, err
	}
	overrides := map[string]UserOverride{}
	for user, own := range table.Owns(now) {
		overrides[user] = overrideOf(own)
	}
	return overrides, nil
}

// anyUser is a placeholder for a user if only the table matters.
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
