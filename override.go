package chatguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
	"github.com/chatguard/chatguard/shared"
)

// Exemption says whether a single user is judged. The zero value means that the user's roles and
// the kinds of messages decide, as the policy says. A user with custom numbers is then always
// judged.
type Exemption string

// The exemptions.
const (
	ExemptAlways Exemption = "always" // never judged
	ExemptNever  Exemption = "never"  // judged regardless of roles and kinds
)

// exemptions are all exemptions, in the order of those of internal/limits.
var exemptions = []Exemption{"", ExemptAlways, ExemptNever}

// UserOverride is a single user's own settings. They take precedence over the numbers of the user's
// roles. The zero value has no effect.
type UserOverride struct {
	Exempt Exemption `json:"exempt,omitempty"`
	// ExemptUntil is when Exempt ends; zero means never.
	ExemptUntil time.Time `json:"exempt_until,omitzero"`
	// Timezone is the IANA name of the zone of the user's days, weeks and months. It takes
	// precedence over User.Timezone. Empty means User.Timezone, or the limits' zone.
	Timezone string              `json:"timezone,omitempty"`
	Limits   map[string]Override `json:"limits,omitempty"` // other numbers, by limit name
}

// SetUserOverride replaces the override of the key's user, in the key's channel or for the
// PerUserEverywhere limits. An override can set numbers, a time zone and an exemption. Recorded
// usage is kept. Another zone takes effect at the end of the user's day, and at once if that ended
// 24 hours (7 days, 31 days) ago or if there was none. A zone that the account has belongs in
// User.Timezone. The error names an unknown zone, an unknown limit, or a limit that can't have such
// numbers. It may also say why the exemption isn't possible. It is ErrInvalid if the key isn't
// valid, or if its Per is PerChannel or PerEverywhere. It is ErrNoLimit if there are no
// PerUserEverywhere limits. Other errors are those of Options.Shared.
func (g *Guard) SetUserOverride(ctx context.Context, k Key, o UserOverride) error {
	return g.atNow().SetUserOverride(ctx, k, o)
}

func (a guardAt) SetUserOverride(ctx context.Context, k Key, o UserOverride) error {
	table, ns, err := a.guard.channels.overrideTable(k, a.at)
	if err != nil {
		return err
	}
	until, err := o.exemptionEnd(k, a.at)
	if err != nil {
		return fmt.Errorf("chatguard: %w", policyError(err))
	}
	own := limits.Own{Exemption: limits.Exemption(slices.Index(exemptions, o.Exempt)), ExemptUntil: until, Timezone: o.Timezone}
	if len(o.Limits) > 0 {
		own.Numbers = map[string]limits.Numbers{}
		for name, numbers := range o.Limits {
			own.Numbers[name] = numbers.numbers()
		}
	}
	for _, l := range a.guard.channels.inForce(k.ChannelID).policy.Limits {
		if _, ok := o.Limits[l.Name]; ok && l.Per.isText() {
			return fmt.Errorf("chatguard: %w", policyError(limits.NotPersonal(l.Name)))
		}
	}
	if a.guard.channels.rows != nil {
		err = a.editRow(ctx, k, func(d *limits.Draft) error { return d.SetOwn(own, ns) })
	} else {
		err = table.SetOwn(k.UserID, own, ns)
	}
	switch {
	case errors.Is(err, shared.ErrAway), errors.Is(err, shared.ErrUnconfirmed):
		return err
	case err == limits.ErrClosed:
		return a.SetUserOverride(ctx, k, o) // in the channel's new table
	case err != nil:
		return fmt.Errorf("chatguard: %w", policyError(err))
	}
	return nil
}

// overrideTable is keyTable for a key that can have an override.
func (cs *channels) overrideTable(k Key, at time.Time) (*limits.Table, int64, error) {
	if k.Per.isShared() {
		return nil, 0, errKey
	}
	return cs.keyTable(k, at)
}

// exemptionEnd returns when the exemption ends, or 0 for never. It returns an error if the
// exemption isn't valid.
func (o *UserOverride) exemptionEnd(k Key, at time.Time) (ns int64, err error) {
	switch {
	case !slices.Contains(exemptions, o.Exempt):
		return 0, limits.MistakeIn("exempt", fmt.Sprintf("%.80s", o.Exempt), "unknown exemption %.80q (known: %s, %s)", o.Exempt, ExemptAlways, ExemptNever)
	case o.Exempt != "" && k.Per != PerUser:
		return 0, limits.MistakeIn("exempt", o.Exempt, "an exemption needs a channel ID")
	case o.ExemptUntil.IsZero():
		return 0, nil
	}
	mistake := func(problem string) error {
		return limits.MistakeIn("exempt_until", o.ExemptUntil.Format(time.RFC3339), "%s", problem)
	}
	ns, err = nanoseconds(o.ExemptUntil)
	switch {
	case o.Exempt == "":
		return 0, mistake("exempt_until needs an exemption: set exempt to always or never, or leave exempt_until out")
	case !o.ExemptUntil.After(at):
		return 0, mistake("an exemption must end in the future")
	case err != nil:
		return 0, mistake("an exemption must end by February 2116: leave exempt_until out if it has no end")
	}
	return ns, nil
}

// UserOverride returns the override of the key's user. It omits an exemption that has ended by the
// Guard's clock. The error is ErrNoLimit if there are no PerUserEverywhere limits, or ErrInvalid
// for a key that SetUserOverride refuses. With shared.Exact, UserOverride asks the store. If the
// store doesn't answer, UserOverride returns the store's error and the override that the Guard
// knows.
func (g *Guard) UserOverride(ctx context.Context, k Key) (UserOverride, error) {
	table, now, err := g.channels.overrideTable(k, g.Now())
	if err != nil {
		return UserOverride{}, err
	}
	if !g.channels.exact {
		return overrideOf(table.OwnOf(k.UserID, now)), nil
	}
	own, ok, err := g.channels.rows.Override(ctx, k.row(), now)
	if !ok {
		err = ErrNoLimit
	}
	return overrideOf(own), err
}

// UserOverrides returns the overrides of the users that have one in a channel, by user ID. If the
// channel ID is empty, they are those for the PerUserEverywhere limits. It omits exemptions that
// have ended by the Guard's clock. There are none in an unknown channel. With Options.Shared,
// UserOverrides asks the store. If the store doesn't answer, UserOverrides returns the store's
// error and the overrides that the Guard knows. Otherwise, the only error is ErrInvalid.
func (g *Guard) UserOverrides(ctx context.Context, channelID string) (map[string]UserOverride, error) {
	now, err := nanoseconds(g.Now())
	if err != nil {
		return nil, err
	}
	var owns map[string]limits.Own
	if g.channels.rows != nil {
		owns, err = g.channels.rows.Overrides(ctx, channelID, now)
	} else if table := g.channels.Table(sharing.Key{ChannelID: channelID, UserID: "any"}); table != nil {
		owns = table.Owns(now)
	}
	overrides := make(map[string]UserOverride, len(owns))
	for user, own := range owns {
		overrides[user] = overrideOf(own)
	}
	return overrides, err
}

func overrideOf(own limits.Own) UserOverride {
	o := UserOverride{Exempt: exemptions[own.Exemption], Timezone: own.Timezone}
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
