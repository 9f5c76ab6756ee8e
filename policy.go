package chatguard

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Mode says whether a policy, or a single limit, acts or only reports. The zero value enforces.
type Mode uint8

// The modes.
const (
	ModeEnforce Mode = iota // throttles messages
	// ModeObserve allows every message, and reports which messages would have been throttled. A
	// limit that observes does so even in a policy that enforces.
	ModeObserve
)

var modeNames = [...]string{"enforce", "observe"}

// String returns the mode's name.
func (m Mode) String() string { return nameOf(modeNames[:], "mode", m) }

// MarshalText writes "observe" or "enforce".
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses "observe" or "enforce".
func (m *Mode) UnmarshalText(text []byte) error {
	return parseName(modeNames[:], "mode", text, m)
}

// Policy is the rules of a channel: its limits, who is exempt from them, and the penalties for
// exceeding them. The zero value has no limits.
type Policy struct {
	Mode Mode `json:"mode" toml:"mode"` // zero: the policy enforces
	// Roles are the roles that the program knows, at most 64, highest first. If a limit has numbers
	// for several roles of a user, those of the highest apply. Roles may be empty if no limit has
	// numbers for more than one role. Otherwise, Exempt and the limits may name no other role.
	Roles  []Role `json:"roles,omitzero" toml:"roles"`
	Exempt []Role `json:"exempt" toml:"exempt"` // roles that are never judged, each listed once
	// ExemptKinds are kinds of messages that are never judged, at most 64, each listed once; see
	// Message.Kinds. Like any message of an exempt user, they spend nothing.
	ExemptKinds []string `json:"exempt_messages,omitzero" toml:"exempt_messages"`
	// Timezone is the IANA name of the zone of the channel's day; empty means UTC.
	Timezone string `json:"timezone" toml:"timezone"`
	// Limits are the limits of the channel. A message is allowed only if all of them allow it. The
	// verdict names the limit that throttles it for longest; if there are several, the first of
	// them.
	Limits    []Limit   `json:"limits" toml:"limit"`
	Penalties Penalties `json:"penalties" toml:"penalties"`
}

// Penalties is a ladder: each strike moves a user one rung up.
type Penalties struct {
	// Ladder lists up to 32 penalties. The last one repeats; an empty Ladder means drop.
	Ladder []Penalty `json:"ladder" toml:"ladder"`
	// StrikeEvery is the minimum time between two strikes of a user. A message that is throttled
	// sooner after a strike gives no strike and gets the penalty of the first rung.
	StrikeEvery time.Duration `json:"strike_every" toml:"strike_every"`
	// ForgetAfter is the time without a new strike after which all strikes lapse; 0 means never.
	ForgetAfter time.Duration `json:"forget_after" toml:"forget_after"`
}

// DefaultPolicy returns a policy that enforces. It exempts RoleModerator. It allows everyone else 3
// messages at once, one more every 4 s, and 300 per day. It has no ladder, so the penalty of a
// throttled message is ActionDrop.
func DefaultPolicy() Policy {
	return Policy{
		Roles:       []Role{},
		Exempt:      []Role{RoleModerator},
		ExemptKinds: []string{},
		Timezone:    "UTC",
		Limits: []Limit{
			TokenBucketLimit("burst", 3, 4*time.Second),
			DailyWindowLimit("daily", 300),
		},
		Penalties: Penalties{StrikeEvery: 10 * time.Second, ForgetAfter: 30 * time.Minute},
	}
}

// Validate returns an error that contains the first mistake in the policy as a [PolicyError], or
// nil if a Guard can use the policy.
func (p Policy) Validate() error {
	_, err := compile(p)
	return err
}

// Clone returns a copy that shares nothing with p.
func (p Policy) Clone() Policy {
	p.Roles, p.Exempt, p.ExemptKinds = slices.Clone(p.Roles), slices.Clone(p.Exempt), slices.Clone(p.ExemptKinds)
	p.Limits = slices.Clone(p.Limits)
	for i := range p.Limits {
		p.Limits[i].Roles = maps.Clone(p.Limits[i].Roles)
	}
	p.Penalties.Ladder = slices.Clone(p.Penalties.Ladder)
	return p
}

// MarshalJSON writes empty lists as [], never as null, so equal policies have the same JSON.
func (p Policy) MarshalJSON() ([]byte, error) {
	type plain Policy
	p.Roles, p.Exempt, p.ExemptKinds = append([]Role{}, p.Roles...), append([]Role{}, p.Exempt...), append([]string{}, p.ExemptKinds...)
	p.Limits = append([]Limit{}, p.Limits...)
	return json.Marshal(plain(p))
}

// MarshalJSON writes durations as text, "10s", and an empty ladder as [].
func (p Penalties) MarshalJSON() ([]byte, error) {
	type plain Penalties
	p.Ladder = append([]Penalty{}, p.Ladder...)
	return json.Marshal(struct {
		plain
		StrikeEvery textDuration `json:"strike_every"`
		ForgetAfter textDuration `json:"forget_after"`
	}{plain(p), textDuration(p.StrikeEvery), textDuration(p.ForgetAfter)})
}

// UnmarshalJSON reads what MarshalJSON writes and rejects unknown keys.
func (p *Penalties) UnmarshalJSON(data []byte) error {
	type plain Penalties
	var in struct {
		plain
		StrikeEvery textDuration `json:"strike_every"`
		ForgetAfter textDuration `json:"forget_after"`
	}
	if err := strictJSON(data, &in); err != nil {
		return err
	}
	*p = Penalties(in.plain)
	p.StrikeEvery, p.ForgetAfter = time.Duration(in.StrikeEvery), time.Duration(in.ForgetAfter)
	return nil
}

// normalize fills in what a policy may leave out, and removes titles, which decide nothing, so that
// policies that decide alike have the same text.
func (p *Policy) normalize() {
	p.Timezone = cmp.Or(p.Timezone, "UTC")
	for i := range p.Limits {
		l := &p.Limits[i]
		l.Title = ""
		if l.Per.isText() {
			l.FromLength = cmp.Or(l.FromLength, limits.DefaultFromLength)
		}
		if l.Algorithm == DailyWindow {
			l.Timezone, l.ResetAt = cmp.Or(l.Timezone, p.Timezone), cmp.Or(l.ResetAt, "00:00")
			if l.Period = cmp.Or(l.Period, PeriodDay); l.Period == PeriodWeek {
				l.FirstDay = cmp.Or(l.FirstDay, "monday")
			}
		}
	}
}
