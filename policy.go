package chatguard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
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

// Validate returns an error that contains the first mistake in the policy as a [PolicyError], or nil
// if a Guard can use the policy.
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

// PolicyHash returns a hash of Guard.Policy, so that Guards that share limits can find out whether
// they have the same policy. It has 16 hexadecimal digits. The policies of single channels and
// overlays have no effect on it.
func (g *Guard) PolicyHash() string {
	policy := g.channels.basePolicy().policy.Clone()
	policy.stateDefaults()
	text, err := json.Marshal(policy)
	if err != nil {
		return "" // a policy that compiles can be written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// stateDefaults fills in what a policy may leave out, so that equal policies have the same text.
func (p *Policy) stateDefaults() {
	p.Timezone = cmp.Or(p.Timezone, "UTC")
	for i := range p.Limits {
		if l := &p.Limits[i]; l.Algorithm == DailyWindow {
			l.Timezone, l.ResetAt = cmp.Or(l.Timezone, p.Timezone), cmp.Or(l.ResetAt, "00:00")
			if l.Period = cmp.Or(l.Period, PeriodDay); l.Period == PeriodWeek {
				l.FirstDay = cmp.Or(l.FirstDay, "monday")
			}
		}
	}
}

// compiled is a policy in the form used for decisions. Decisions don't modify it.
type compiled struct {
	policy Policy
	roles  *limits.RoleList
	exempt limits.Roles
	sets   limits.Sets
	places map[string]int // policy indexes of the limits in all channels, by name
	// quotas are the quotas of users by the roles whose numbers apply. The map is replaced, never
	// changed.
	quotas atomic.Pointer[map[limits.Roles]*limits.Quotas]
}

// compile checks and compiles a policy. The error names the problem and the limit.
func compile(p Policy) (*compiled, error) {
	c, err := compileHeld(p, false)
	if err != nil {
		return nil, fmt.Errorf("chatguard: %w", err)
	}
	return c, nil
}

// compileHeld compiles a policy that may be held. A held policy is meant to enforce, but only
// observes for now.
func compileHeld(p Policy, held bool) (c *compiled, err error) {
	defer func() { err = policyError(err) }()
	c = &compiled{policy: p.Clone()}
	if p.Mode > ModeObserve {
		return nil, limits.MistakeIn("mode", p.Mode, "unknown mode %d", p.Mode)
	}
	c.quotas.Store(&map[limits.Roles]*limits.Quotas{})
	if c.roles, err = p.roleList(); err != nil {
		return nil, err
	}
	c.exempt = c.roles.Of(namesOf(p.Exempt))
	if err := checkNames("exempt_messages", p.ExemptKinds); err != nil {
		return nil, err
	}
	if err := p.Penalties.validate(); err != nil {
		return nil, err
	}
	if _, err := limits.NewCalendar(p.Timezone, ""); err != nil {
		return nil, err
	}
	list := make([]limits.Limit, len(p.Limits))
	for i, l := range p.Limits {
		if list[i], err = l.compile(p.Timezone); err != nil {
			return nil, limits.InLimit(l.Name, err)
		}
	}
	c.sets, err = limits.Compile(list, c.roles, limits.Strikes{
		Every: p.Penalties.StrikeEvery, Forget: p.Penalties.ForgetAfter, Practice: p.Mode == ModeObserve, Held: held, Ladder: p.Penalties.silenceLengths(),
	})
	if err != nil {
		return nil, err
	}
	c.sets[limits.PerUser].SetOwner(c)
	c.places = map[string]int{}
	for i, l := range p.Limits {
		if l.Per.AllChannels() {
			c.places[l.Name] = i
		}
	}
	return c, nil
}

func (l Limit) compile(timezone string) (limits.Limit, error) {
	if l.Mode > ModeObserve {
		return limits.Limit{}, limits.MistakeIn("mode", l.Mode, "unknown mode %d", l.Mode)
	}
	if err := checkUnits(l.Refill, l.ExtraRefill, l.Every); err != nil {
		return limits.Limit{}, err
	}
	out := limits.Limit{
		Scope: limits.Scope(l.Per),
		Roles: map[string]limits.Numbers{},
		Params: limits.Params{
			Name: l.Name, Algorithm: string(l.Algorithm),
			Burst: int64(l.Burst), Refill: l.Refill, ExtraBurst: int64(l.ExtraBurst), ExtraRefill: l.ExtraRefill, Queue: int64(l.Queue), Messages: int64(l.Messages), Every: l.Every,
			Slices:   int64(l.Slices),
			Timezone: l.Timezone, ResetAt: l.ResetAt, Period: string(l.Period), FirstDay: l.FirstDay, DefaultZone: timezone,
			Observes: l.Mode == ModeObserve, CountThrottled: l.CountThrottled, Reserve: int64(l.Reserve),
		},
	}
	for role, override := range l.Roles {
		if err := checkUnits(override.Refill, override.ExtraRefill, 0); err != nil {
			return limits.Limit{}, limits.InRole(string(role), err)
		}
		out.Roles[string(role)] = override.numbers()
	}
	return out, nil
}

// checkUnit returns an error if a duration is so short that its unit is probably missing.
func checkUnit(name string, d time.Duration) error {
	if 0 < d && d < limits.LeastPeriod {
		return limits.MistakeIn(name, d, "%s is %s, want %s or more: is the unit missing, as in %d*time.Second?", name, d, limits.LeastPeriod, d)
	}
	return nil
}

// checkUnits is checkUnit for the durations of a limit.
func checkUnits(refill, extraRefill, every time.Duration) error {
	return cmp.Or(checkUnit("refill", refill), checkUnit("extra_refill", extraRefill), checkUnit("every", every))
}

func (o Override) numbers() limits.Numbers {
	return limits.Numbers{
		Burst: int64(o.Burst), ExtraBurst: int64(o.ExtraBurst), Queue: int64(o.Queue), Messages: int64(o.Messages), Refill: o.Refill, ExtraRefill: o.ExtraRefill,
	}
}

// maxRungs is the maximum length of a ladder.
const maxRungs = 32

func (p Penalties) validate() error {
	if len(p.Ladder) > maxRungs {
		return limits.MistakeIn("penalties.ladder", len(p.Ladder), "penalties: the ladder has %d steps, want %d or fewer", len(p.Ladder), maxRungs)
	}
	for i, rung := range p.Ladder {
		if err := rung.validate(); err != nil {
			return limits.MistakeIn("penalties.ladder", rung, "penalties: step %d of the ladder: %v", i+1, err)
		}
	}
	switch {
	case p.StrikeEvery < 0:
		return limits.MistakeIn("penalties.strike_every", p.StrikeEvery, "penalties: strike_every is %s, want 0s or more", p.StrikeEvery)
	case p.ForgetAfter < 0:
		return limits.MistakeIn("penalties.forget_after", p.ForgetAfter, "penalties: forget_after is %s, want 0s or more", p.ForgetAfter)
	}
	return nil
}

func (p Penalty) validate() error {
	switch {
	case p.Action != "" && !p.Action.isName():
		return fmt.Errorf("action %q: want %s", p.Action, actionNames)
	case p.UntilRefill && (p.Action != ActionTimeout || p.Duration != 0), p.Duration != 0 && p.Action != ActionTimeout:
		return fmt.Errorf("%s: only a timeout has a duration, and only one", cmp.Or(p.Action, noAction))
	case p.Action == ActionTimeout && !p.UntilRefill:
		return checkTimeout(p.Duration, durations.Format(p.Duration))
	}
	return nil
}

// checkTimeout returns an error if length isn't a valid duration of a timeout. text is the duration
// as configured.
func checkTimeout(length time.Duration, text string) error {
	if length < time.Second || length > maxTimeout || length%time.Second != 0 {
		return fmt.Errorf("a timeout of %s: want whole seconds from 1s to 365d, or refill", text)
	}
	return nil
}
