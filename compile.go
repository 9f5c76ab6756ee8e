package chatguard

import (
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// compiled is a policy in the form that decisions want. It is immutable.
type compiled struct {
	policy Policy
	exempt Roles
	set    *limits.Set
}

// compile checks a policy. The error names what is wrong with it, and the limit.
func compile(p Policy) (*compiled, error) {
	c := &compiled{policy: p.Clone()}
	if p.Mode > Enforce {
		return nil, fmt.Errorf("unknown mode %d", p.Mode)
	}
	for _, r := range p.Exempt {
		if _, err := r.MarshalText(); err != nil {
			return nil, fmt.Errorf("exempt: %w", err)
		}
	}
	c.exempt = RolesOf(p.Exempt...)
	if err := p.Penalties.validate(); err != nil {
		return nil, fmt.Errorf("penalties: %w", err)
	}
	if _, err := limits.NewCalendar(p.Timezone, ""); err != nil {
		return nil, err
	}
	list := make([]limits.Limit, len(p.Limits))
	for i, l := range p.Limits {
		list[i] = limits.Limit{Params: l.params(p.Timezone), Roles: map[uint8]limits.Params{}}
		for role, override := range l.Roles {
			if _, err := role.MarshalText(); err != nil {
				return nil, fmt.Errorf("limit %q: %w", l.Name, err)
			}
			list[i].Roles[uint8(role)] = l.with(override).params(p.Timezone)
		}
	}
	var err error
	c.set, err = limits.NewSet(list, limits.Strikes{
		Every: p.Penalties.StrikeEvery, Forget: p.Penalties.ForgetAfter, Practice: p.Mode == Observe,
	})
	if err != nil {
		return nil, err
	}
	c.set.Owner = c
	return c, nil
}

// params are the limit's parameters as the algorithms take them.
func (l Limit) params(timezone string) limits.Params {
	return limits.Params{
		Name: l.Name, Algorithm: string(l.Algorithm),
		Burst: int64(l.Burst), Refill: l.Refill,
		Messages: int64(l.Messages), Timezone: l.Timezone, ResetAt: l.ResetAt,
		DefaultZone: timezone,
	}
}

func (p Penalties) validate() error {
	for i, rung := range p.Ladder {
		if err := rung.validate(); err != nil {
			return fmt.Errorf("rung %d of the ladder: %w", i+1, err)
		}
	}
	switch {
	case p.StrikeEvery < 0:
		return fmt.Errorf("strike_every is %s, want 0s or more", p.StrikeEvery)
	case p.ForgetAfter < 0:
		return fmt.Errorf("forget_after is %s, want 0s or more", p.ForgetAfter)
	}
	return nil
}

func (p Penalty) validate() error {
	switch {
	case p.Action > Drop:
		return fmt.Errorf("unknown action %d", uint8(p.Action))
	case p.UntilRefill && (p.Action != Timeout || p.Duration != 0), p.Duration != 0 && p.Action != Timeout:
		return fmt.Errorf("%s: only a timeout has a length, and only one", p.Action)
	case p.Action == Timeout && !p.UntilRefill:
		return checkTimeout(p.Duration)
	}
	return nil
}

func checkTimeout(length time.Duration) error {
	if length < MinTimeout || length > MaxTimeout || length%time.Second != 0 {
		return fmt.Errorf("a timeout of %s: want whole seconds from 1s to 336h, or refill", length)
	}
	return nil
}

// penalty is the rung that a throttled message has come to: the first where it gave no new strike.
func (p Penalties) penalty(strikes int, isNew bool, wait time.Duration, never bool) Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: Drop}
	}
	rung := p.Ladder[0]
	if isNew {
		rung = p.Ladder[min(strikes, len(p.Ladder))-1]
	}
	if !rung.UntilRefill {
		return rung
	}
	if never {
		return Penalty{Action: Delete}
	}
	seconds := (wait + time.Second - 1) / time.Second * time.Second
	return Penalty{Action: Timeout, Duration: min(max(seconds, MinTimeout), MaxTimeout)}
}
