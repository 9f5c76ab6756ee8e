package chatguard

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// Exemption says whether a single user is judged. The zero value is ExemptByRole.
type Exemption uint8

// The kinds of exemption.
const (
	// ExemptByRole means that the user's roles and the kinds of messages decide, as the policy
	// says. A user with custom numbers is always judged.
	ExemptByRole Exemption = iota
	ExemptAlways           // never judged
	ExemptNever            // judged regardless of roles and kinds
)

var exemptionNames = [...]string{"by-role", "always", "never"}

// String returns the exemption's name as used in JSON.
func (e Exemption) String() string { return nameOf(exemptionNames[:], "exemption", e) }

// MarshalText writes the exemption's name.
func (e Exemption) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText parses an exemption's name.
func (e *Exemption) UnmarshalText(text []byte) error {
	return parseName(exemptionNames[:], "exemption", text, e)
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

// SetUserOverride replaces the override of the key's user, in the key's channel or for the
// PerUserEverywhere limits. An override can set numbers, a time zone and an exemption. Recorded
// usage is kept. A change of zone takes effect at the end of the user's day. The error names an
// unknown zone, an unknown limit, or a limit that can't have such numbers. It may also say why the
// exemption isn't possible. It is ErrKey, ErrNoChannel, ErrNoUser or ErrLongID if the key isn't
// valid, or if its Per is PerChannel or PerEverywhere. It is ErrNoLimit if there are no
// PerUserEverywhere limits. Other errors are those of Options.Shared.
func (g *Guard) SetUserOverride(k Key, o UserOverride) error { return g.atNow().SetUserOverride(k, o) }

func (a guardAt) SetUserOverride(k Key, o UserOverride) error {
	table, ns, err := a.guard.channels.overrideTable(k, a.at)
	if err != nil {
		return err
	}
	until, err := o.exemptionEnd(k, a.at)
	if err != nil {
		return fmt.Errorf("chatguard: %w", policyError(err))
	}
	own := limits.Own{Exemption: limits.Exemption(o.Exempt), ExemptUntil: until, Timezone: o.Timezone}
	if len(o.Limits) > 0 {
		own.Numbers = map[string]limits.Numbers{}
		for name, numbers := range o.Limits {
			own.Numbers[name] = numbers.numbers()
		}
	}
	if a.guard.channels.rows != nil {
		err = a.editRow(k, func(d *limits.Draft) error { return d.SetOwn(own, ns) })
	} else {
		err = table.SetOwn(k.UserID, own, ns)
	}
	switch {
	case errors.Is(err, shared.ErrAway), errors.Is(err, shared.ErrUnconfirmed):
		return err
	case err == limits.ErrClosed:
		return a.SetUserOverride(k, o) // in the channel's new table
	case err != nil:
		return fmt.Errorf("chatguard: %w", policyError(err))
	}
	return nil
}

// overrideTable is keyTable for a key that can have an override.
func (cs *channels) overrideTable(k Key, at time.Time) (*limits.Table, int64, error) {
	if k.Per.Shared() {
		return nil, 0, ErrKey
	}
	return cs.keyTable(k, at)
}

// exemptionEnd returns when the exemption ends, or 0 for never. It returns an error if the
// exemption isn't valid.
func (o *UserOverride) exemptionEnd(k Key, at time.Time) (ns int64, err error) {
	switch {
	case o.Exempt > ExemptNever:
		return 0, limits.MistakeIn("exempt", o.Exempt, "unknown exemption %d", uint8(o.Exempt))
	case o.Exempt != ExemptByRole && k.Per != PerUser:
		return 0, limits.MistakeIn("exempt", o.Exempt, "an exemption needs a channel ID")
	case o.ExemptUntil.IsZero():
		return 0, nil
	}
	mistake := func(problem string) error {
		return limits.MistakeIn("exempt_until", o.ExemptUntil.Format(time.RFC3339), "%s", problem)
	}
	ns, err = nanoseconds(o.ExemptUntil)
	switch {
	case o.Exempt == ExemptByRole:
		return 0, mistake("exempt_until needs an exemption: set exempt to always or never, or leave exempt_until out")
	case !o.ExemptUntil.After(at):
		return 0, mistake("an exemption must end in the future")
	case err != nil:
		return 0, mistake("an exemption must end by February 2116: leave exempt_until out if it has no end")
	}
	return ns, nil
}

// UserOverride returns the override of the key's user. It omits an exemption that has ended by the
// Guard's clock. The error is ErrTime, ErrNoLimit if there are no PerUserEverywhere limits, or that
// of SetUserOverride for an invalid key.
func (g *Guard) UserOverride(k Key) (UserOverride, error) {
	table, now, err := g.channels.overrideTable(k, g.Now())
	if err != nil {
		return UserOverride{}, err
	}
	if g.channels.exact {
		own, ok := g.channels.rows.Override(k.row(), now)
		if !ok {
			err = ErrNoLimit
		}
		return overrideOf(own), err
	}
	return overrideOf(table.OwnOf(k.UserID, now)), nil
}

// UserOverrides returns the IDs and overrides of the users that have an override in a channel, in
// no particular order. It omits exemptions that have ended by the Guard's clock. There are none in
// an unknown channel. With Options.Shared, it asks the store, and while the store is away, it
// returns what the Guard knows.
func (g *Guard) UserOverrides(channelID string) iter.Seq2[string, UserOverride] {
	g.created()
	if c := g.channels.known.find(channelID); c != nil {
		return g.channels.overrides(channelID, c.table, g.now)
	}
	return g.channels.overrides(channelID, nil, g.now)
}

// UserOverridesEverywhere returns the IDs and overrides of the users that have an override for the
// PerUserEverywhere limits, in no particular order. With Options.Shared, it asks the store as
// UserOverrides does.
func (g *Guard) UserOverridesEverywhere() iter.Seq2[string, UserOverride] {
	g.created()
	return g.channels.overrides("", g.channels.everywhere.Load(), g.now)
}

// overrides returns the overrides of a channel's users, or of users in all channels if the ID is
// empty, at the time of the clock. table is nil if there is none.
func (cs *channels) overrides(channelID string, table *limits.Table, clock func() time.Time) iter.Seq2[string, UserOverride] {
	return func(yield func(string, UserOverride) bool) {
		now, err := nanoseconds(clock())
		if err != nil {
			return
		}
		var owns map[string]limits.Own
		switch {
		case cs.rows != nil:
			owns = cs.rows.Overrides(channelID, now)
		case table != nil:
			owns = table.Owns(now)
		}
		for user, own := range owns {
			if !yield(user, overrideOf(own)) {
				return
			}
		}
	}
}

func overrideOf(own limits.Own) UserOverride {
	o := UserOverride{Exempt: Exemption(own.Exemption), Timezone: own.Timezone}
	if own.ExemptUntil != 0 {
		o.ExemptUntil = limits.TimeOf(own.ExemptUntil).UTC()
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
	return Override{Burst: int(n.Burst), Refill: n.Refill, ExtraBurst: int(n.ExtraBurst), ExtraRefill: n.ExtraRefill, Queue: int(n.Queue), Messages: int(n.Messages)}
}
