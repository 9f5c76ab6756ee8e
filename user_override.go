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
	Exempt   Exemption           `json:"exempt,omitempty"`
	Timezone string              `json:"timezone,omitempty"` // IANA name of the zone of the user's day; empty means the limits'
	Limits   map[string]Override `json:"limits,omitempty"`   // other numbers, by the name of the limit
}

// SetUserOverride gives a user numbers, a zone or an exemption of their own in a channel, in place of those that they had, as of the moment
// at. What was spent is kept, and a change of zone waits for the end of the user's day. An empty channel ID means the limits per user
// everywhere. The error names the limit that doesn't exist, or can't have such numbers, or an unknown zone.
func (g *Guard) SetUserOverride(channelID, userID string, o UserOverride, at time.Time) error {
	if o.Exempt > NeverExempt {
		return fmt.Errorf("unknown exemption %d", uint8(o.Exempt))
	}
	if o.Exempt != ExemptByRole && channelID == "" {
		return errors.New("an exemption is for a channel")
	}
	table, ns, err := g.user(channelID, userID, at)
	if err != nil {
		return err
	}
	own := limits.Own{Exemption: limits.Exemption(o.Exempt), Timezone: o.Timezone}
	if len(o.Limits) > 0 {
		own.Numbers = map[string]limits.Numbers{}
		for name, numbers := range o.Limits {
			own.Numbers[name] = numbers.numbers()
		}
	}
	return table.SetOwn(userID, own, ns)
}

// UserOverride returns what a user has of their own in a channel, or with an empty channel ID in the limits per user everywhere. The error is
// ErrNoLimit where there are none of those, or ErrLongID.
func (g *Guard) UserOverride(channelID, userID string) (UserOverride, error) {
	table, _, err := g.user(channelID, userID, time.Unix(0, 0))
	if err != nil {
		return UserOverride{}, err
	}
	return overrideOf(table.OwnOf(userID)), nil
}

func overrideOf(own limits.Own) UserOverride {
	o := UserOverride{Exempt: Exemption(own.Exemption), Timezone: own.Timezone}
	if len(own.Numbers) > 0 {
		o.Limits = map[string]Override{}
		for name, n := range own.Numbers {
			o.Limits[name] = Override{Burst: int(n.Burst), Refill: n.Refill, Queue: int(n.Queue), Messages: int(n.Messages)}
		}
	}
	return o
}
