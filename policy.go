package chatguard

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Mode says whether a policy acts or only reports.
type Mode uint8

// The modes. A new installation observes.
const (
	Observe Mode = iota // report what would have been throttled; every message is allowed
	Enforce             // throttle
)

var modeNames = [...]string{"observe", "enforce"}

// String is the mode's name.
func (m Mode) String() string { return nameOf(modeNames[:], "mode", uint8(m)) }

// MarshalText writes "observe" or "enforce".
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads "observe" or "enforce".
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = named[Mode](modeNames[:], "mode", text)
	return err
}

// Policy is what holds in a channel: its limits, who is exempt from them, and what happens to those who exceed them.
// The zero value limits nobody.
type Policy struct {
	Mode      Mode      `json:"mode" toml:"mode"`
	Exempt    []Role    `json:"exempt" toml:"exempt"`     // roles that are never judged
	Timezone  string    `json:"timezone" toml:"timezone"` // IANA name of the zone of the channel's day; empty means UTC
	Limits    []Limit   `json:"limits" toml:"limit"`      // all of them have to allow; in ties the earlier one is named
	Penalties Penalties `json:"penalties" toml:"penalties"`
}

// Penalties is a ladder: each strike moves a user one rung up.
type Penalties struct {
	Ladder      []Penalty     `json:"ladder" toml:"ladder"`             // the last rung repeats; an empty ladder drops messages
	StrikeEvery time.Duration `json:"strike_every" toml:"strike_every"` // at most one strike in this time; further throttled messages get the first rung
	ForgetAfter time.Duration `json:"forget_after" toml:"forget_after"` // all strikes lapse after this time without a new one; 0 means never
}

// DefaultPolicy observes, exempts those who keep order, and holds everyone to 3 messages at once, one more every 4 s, and 300 a day.
func DefaultPolicy() Policy {
	return Policy{
		Mode:     Observe,
		Exempt:   []Role{Broadcaster, LeadModerator, Moderator},
		Timezone: "UTC",
		Limits: []Limit{
			{Name: "burst", Algorithm: TokenBucket, Burst: 3, Refill: 4 * time.Second},
			{Name: "daily", Algorithm: DailyWindow, Messages: 300, ResetAt: "00:00"},
		},
		Penalties: Penalties{
			Ladder: []Penalty{
				{Action: Delete},
				{Action: Delete},
				{Action: Warn},
				{Action: Timeout, Duration: 30 * time.Second},
				{Action: Timeout, Duration: 10 * time.Minute},
			},
			StrikeEvery: 10 * time.Second,
			ForgetAfter: 30 * time.Minute,
		},
	}
}

// Validate returns an error that names the first thing wrong with the policy, and nil when a Guard can work by it.
func (p Policy) Validate() error {
	_, err := compile(p)
	return err
}

// Clone returns a copy that shares nothing with p.
func (p Policy) Clone() Policy {
	p.Exempt = slices.Clone(p.Exempt)
	p.Limits = slices.Clone(p.Limits)
	for i := range p.Limits {
		p.Limits[i].Roles = maps.Clone(p.Limits[i].Roles)
	}
	p.Penalties.Ladder = slices.Clone(p.Penalties.Ladder)
	return p
}

// MarshalJSON writes lists without anything in them as [], never as null: equal policies read the same.
func (p Policy) MarshalJSON() ([]byte, error) {
	type plain Policy
	p.Exempt, p.Limits = append([]Role{}, p.Exempt...), append([]Limit{}, p.Limits...)
	return json.Marshal(plain(p))
}

// MarshalJSON writes lengths of time as text, "10s", and no rungs as [].
func (p Penalties) MarshalJSON() ([]byte, error) {
	type plain Penalties
	p.Ladder = append([]Penalty{}, p.Ladder...)
	return json.Marshal(struct {
		plain
		StrikeEvery textDuration `json:"strike_every"`
		ForgetAfter textDuration `json:"forget_after"`
	}{plain(p), textDuration(p.StrikeEvery), textDuration(p.ForgetAfter)})
}

// UnmarshalJSON reads what MarshalJSON writes and refuses unknown keys.
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
