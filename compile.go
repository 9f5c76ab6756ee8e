package chatguard

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// compiled is a policy in the form used for decisions. Decisions don't modify it.
type compiled struct {
	policy Policy
	exempt exemptions
	sets   limits.Sets
	places map[string]int // policy indexes of the limits in all channels, by name
	quotas sync.Map       // limits that apply by Roles; filled lazily
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
func compileHeld(p Policy, held bool) (*compiled, error) {
	c := &compiled{policy: p.Clone()}
	if p.Mode > Observe {
		return nil, fmt.Errorf("unknown mode %d", p.Mode)
	}
	var err error
	if c.exempt, err = newExemptions(&p); err != nil {
		return nil, err
	}
	if err := p.Penalties.validate(); err != nil {
		return nil, fmt.Errorf("penalties: %w", err)
	}
	if _, err := limits.NewCalendar(p.Timezone, ""); err != nil {
		return nil, err
	}
	list := make([]limits.Limit, len(p.Limits))
	for i, l := range p.Limits {
		var err error
		if list[i], err = l.compile(p.Timezone); err != nil {
			return nil, fmt.Errorf("limit %q: %w", l.Name, err)
		}
	}
	c.sets, err = limits.Compile(list, limits.Strikes{
		Every: p.Penalties.StrikeEvery, Forget: p.Penalties.ForgetAfter, Practice: p.Mode == Observe, Held: held, Ladder: p.Penalties.silenceLengths(),
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
	if l.Mode > Observe {
		return limits.Limit{}, fmt.Errorf("unknown mode %d", l.Mode)
	}
	if err := checkUnits(l.Refill, l.ExtraRefill, l.Every); err != nil {
		return limits.Limit{}, err
	}
	out := limits.Limit{
		Scope: limits.Scope(l.Per),
		Roles: map[uint8]limits.Numbers{},
		Params: limits.Params{
			Name: l.Name, Algorithm: string(l.Algorithm),
			Burst: int64(l.Burst), Refill: l.Refill, ExtraBurst: int64(l.ExtraBurst), ExtraRefill: l.ExtraRefill, Queue: int64(l.Queue), Messages: int64(l.Messages), Every: l.Every,
			Slices:   int64(l.Slices),
			Timezone: l.Timezone, ResetAt: l.ResetAt, DefaultZone: timezone,
			Observes: l.Mode == Observe, CountThrottled: l.CountThrottled, Reserve: int64(l.Reserve),
		},
	}
	for role, override := range l.Roles {
		if _, err := role.MarshalText(); err != nil {
			return limits.Limit{}, err
		}
		if err := checkUnits(override.Refill, override.ExtraRefill, 0); err != nil {
			return limits.Limit{}, err
		}
		out.Roles[uint8(role)] = override.numbers()
	}
	return out, nil
}

// leastPeriod is the least duration that a limit accepts. In a program, a shorter one is a number
// without a unit.
const leastPeriod = time.Microsecond

func checkUnit(name string, d time.Duration) error {
	if 0 < d && d < leastPeriod {
		return fmt.Errorf("%s is %s, want %s or more: is the unit missing, as in %d*time.Second?", name, d, leastPeriod, d)
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
		return fmt.Errorf("the ladder has %d steps, want %d or fewer", len(p.Ladder), maxRungs)
	}
	for i, rung := range p.Ladder {
		if err := rung.validate(); err != nil {
			return fmt.Errorf("step %d of the ladder: %w", i+1, err)
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
		return fmt.Errorf("%s: only a timeout has a duration, and only one", p.Action)
	case p.Action == Timeout && !p.UntilRefill:
		return checkTimeout(p.Duration, FormatDuration(p.Duration))
	}
	return nil
}

// checkTimeout returns an error if length isn't a valid duration of a timeout. text is the duration
// as configured.
func checkTimeout(length time.Duration, text string) error {
	if length < MinTimeout || length > MaxTimeout || length%time.Second != 0 {
		return fmt.Errorf("a timeout of %s: want whole seconds from 1s to 14d, or refill", text)
	}
	return nil
}
