package chatguard

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/limits"
)

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
	// plainQuotas are those of users without such roles.
	plainQuotas atomic.Pointer[limits.Quotas]
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
		if l.Per.inAllChannels() {
			c.places[l.Name] = i
		}
	}
	return c, nil
}

func (l Limit) compile(timezone string) (limits.Limit, error) {
	if l.Mode > ModeObserve {
		return limits.Limit{}, limits.MistakeIn("mode", l.Mode, "unknown mode %d", l.Mode)
	}
	if err := checkTitle(l.Title); err != nil {
		return limits.Limit{}, err
	}
	if err := checkUnits(l.Refill, l.ExtraRefill, l.Every); err != nil {
		return limits.Limit{}, err
	}
	out := limits.Limit{
		Scope: limits.Scope(l.Per),
		Text:  limits.SameText{Similar: l.Similar, FromLength: l.FromLength, Emotes: l.CountEmotes},
		Roles: map[string]limits.Numbers{},
		Params: limits.Params{
			Name: l.Name, Algorithm: string(l.Algorithm),
			Burst: int64(l.Burst), Refill: l.Refill, ExtraBurst: int64(l.ExtraBurst), ExtraRefill: l.ExtraRefill, Queue: int64(l.Queue), Messages: int64(l.Messages), Every: l.Every,
			Slices:   int64(l.Slices),
			Timezone: l.Timezone, ResetAt: l.ResetAt, Period: string(l.Period), FirstDay: l.FirstDay, DefaultZone: timezone,
			Observes: l.Mode == ModeObserve, CountThrottled: l.CountThrottled, Reserve: int64(l.Reserve), Strikes: l.Strikes,
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

// maxTitle is the maximum length of a limit's title, in characters.
const maxTitle = 64

// isTitleLine matches one line of characters that show something. An emoji may be joined from
// several.
var isTitleLine = regexp.MustCompile(`^(?:[\pL\pM\pN\pP\pS ]|` + emoji + `(?:\x{200d}` + emoji + `)+)*$`)

// emoji matches an emoji that isn't joined: a symbol, and its skin tone or its request for color.
const emoji = `\p{So}[\x{1f3fb}-\x{1f3ff}\x{fe0f}]?`

// checkTitle returns an error if a limit can't have the title. Anyone may propose one, and a bot
// writes it in a chat, where a message that begins with / or a full stop is a command.
func checkTitle(title string) error {
	isLine := utf8.ValidString(title) && isTitleLine.MatchString(title)
	switch {
	case utf8.RuneCountInString(title) > maxTitle:
		return limits.MistakeIn("title", fmt.Sprintf("%.80q", title), "a title is up to %d characters", maxTitle)
	case !isLine || title != strings.TrimSpace(title):
		return limits.MistakeIn("title", fmt.Sprintf("%.80q", title), "a title is one line without control characters, and without a space at either end")
	case strings.HasPrefix(title, "/") || strings.HasPrefix(title, "."):
		return limits.MistakeIn("title", title, "a title doesn't begin with / or a full stop, because a chat would take it for a command")
	}
	return nil
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
			return limits.MistakeIn(fmt.Sprintf("penalties.ladder[%d]", i), rung, "penalties: step %d of the ladder: %v", i+1, err)
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

// roleList returns the roles that the policy names, highest first. The error names the role that is
// unknown or not valid.
func (p *Policy) roleList() (*limits.RoleList, error) {
	if err := cmp.Or(checkNames("roles", p.Roles), checkNames("exempt", p.Exempt)); err != nil {
		return nil, err
	}
	known := p.Roles
	for _, l := range p.Limits {
		own := slices.Sorted(maps.Keys(l.Roles))
		err := checkNames("roles", own)
		if err == nil && len(p.Roles) == 0 && len(own) > 1 {
			err = limits.MistakeIn("roles", nil, "it has numbers for %s and %s: list all roles in the policy's roles, highest first", own[0], own[1])
		}
		if err == nil {
			known, err = p.withKnown(known, "roles", "", own)
		}
		if err != nil {
			return nil, limits.InLimit(l.Name, err)
		}
	}
	known, err := p.withKnown(known, "exempt", "exempt: ", p.Exempt)
	if err != nil {
		return nil, err
	}
	if len(known) > limits.MaxRoles {
		return nil, limits.MistakeIn("roles", len(known), "the policy has %d roles, want %d or fewer", len(known), limits.MaxRoles)
	}
	return limits.NewRoleList(namesOf(known), string(RoleEveryone)), nil
}

// withKnown returns the known roles with those of a parameter of the policy. If the policy lists
// its roles, a role that it doesn't list is an error, which begins with prefix.
func (p *Policy) withKnown(known []Role, parameter, prefix string, roles []Role) ([]Role, error) {
	for _, r := range roles {
		if slices.Contains(known, r) {
			continue
		}
		if len(p.Roles) > 0 {
			return nil, limits.MistakeIn(parameter, string(r), "%sunknown role %q (known: %s)", prefix, r, Roles(p.Roles))
		}
		known = append(known[:len(known):len(known)], r)
	}
	return known, nil
}
