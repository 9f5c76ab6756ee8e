package limits

import (
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// roleRules is a limit with the numbers of each role that has its own.
type roleRules struct {
	mask  uint64 // the bits of these roles
	rules []Rule // the first is that of the highest role
}

// of returns the limit with the numbers of one of the roles.
func (r *roleRules) of(bit uint64) *Rule { return &r.rules[bits.OnesCount64(r.mask&(bit-1))] }

// highest returns the bit of the highest of the roles that has its own numbers, or 0.
func (r *roleRules) highest(roles uint64) uint64 {
	own := roles & r.mask
	return own & -own
}

// compileRoles compiles each limit with the numbers of each role that has its own.
func (s *Set) compileRoles() error {
	s.byRole, s.variants = make([]roleRules, len(s.limits)), newVariants()
	for i, l := range s.limits {
		for _, name := range slices.Sorted(maps.Keys(l.Roles)) {
			if !s.roles.Has(name) {
				return InLimit(l.Name, MistakeIn("roles", name, "unknown role %q", name))
			}
			s.byRole[i].mask |= s.roles.bits[name]
		}
		s.numbered |= s.byRole[i].mask
		for rest := s.byRole[i].mask; rest != 0; rest &= rest - 1 {
			name := s.roles.names[bits.TrailingZeros64(rest)]
			rule, err := compile(l.Params.withNumbers(l.Roles[name]))
			if err != nil {
				return InLimit(l.Name, InRole(name, err))
			}
			rule.calendar = s.rules[i].calendar // all roles have the same day
			s.byRole[i].rules = append(s.byRole[i].rules, rule)
		}
	}
	return nil
}

// maxVariants is how many variants a Set keeps. Further ones are built for each decision.
const maxVariants = 256

// variants are the limits of a Set with the numbers for combinations of roles. Each is built when
// it is first needed.
type variants struct {
	known atomic.Pointer[map[uint64][]Rule] // by what Set.choice returns; never changed
	mu    sync.Mutex                        // held to replace known
}

func newVariants() *variants {
	v := new(variants)
	v.known.Store(&map[uint64][]Rule{})
	return v
}

// choice returns the roles whose numbers apply to a user with the given roles: for each limit, the
// highest that has its own numbers. Users with the same choice have the same limits.
func (s *Set) choice(roles uint64) (chosen uint64) {
	if roles &= s.numbered; roles == 0 {
		return 0
	}
	for i := range s.byRole {
		chosen |= s.byRole[i].highest(roles)
	}
	return chosen
}

// Choice returns the roles whose numbers apply to a user with the given roles, in all scopes. Users
// with the same choice have the same limits.
func (s Sets) Choice(r Roles) (chosen Roles) {
	for _, set := range s {
		if set != nil {
			chosen.list = set.roles
			chosen.bits |= set.choice(r.in(set.roles))
		}
	}
	return chosen
}

// RoleOf returns the name of the role whose numbers a limit has for a user with these roles. It is
// empty if no role's numbers apply.
func (s *Set) RoleOf(limit string, r Roles) string { return s.roleOf(s.indexOf(limit), r.in(s.roles)) }

// rulesFor returns the limits with the numbers that apply to a user with these roles.
func (s *Set) rulesFor(roles uint64) []Rule {
	if roles&s.numbered == 0 {
		return s.rules
	}
	chosen := s.choice(roles)
	if rules, ok := (*s.variants.known.Load())[chosen]; ok {
		return rules
	}
	return s.addVariant(chosen)
}

// addVariant builds the variant for a choice of roles.
func (s *Set) addVariant(chosen uint64) []Rule {
	rules := slices.Clone(s.rules)
	for i := range rules {
		if bit := s.byRole[i].highest(chosen); bit != 0 {
			rules[i] = *s.byRole[i].of(bit)
		}
	}
	s.variants.mu.Lock()
	defer s.variants.mu.Unlock()
	if known := *s.variants.known.Load(); len(known) < maxVariants {
		more := maps.Clone(known)
		more[chosen] = rules
		s.variants.known.Store(&more)
	}
	return rules
}

// roleOf returns the name of the role whose numbers a limit has for a user with these roles. It is
// empty if no role's numbers apply.
func (s *Set) roleOf(limit int, roles uint64) string {
	bit := s.byRole[limit].highest(roles)
	if bit == 0 {
		return ""
	}
	return s.roles.names[bits.TrailingZeros64(bit)]
}

// rolesOf returns the roles that the user of a row had at the last use. These roles determine the
// numbers that applied.
func (s *Set) rolesOf(row []uint64) uint64 {
	if s.roleWord {
		return row[headerWords] | s.roles.everyone
	}
	own := row[wordMeta] >> rolesShift & maxRoles
	if s.roles != nil {
		own |= s.roles.everyone
	}
	return own
}

// setRoles sets what rolesOf returns.
func (s *Set) setRoles(row []uint64, roles uint64) {
	roles &^= s.roles.everyone
	if s.roleWord {
		row[headerWords] = roles
		return
	}
	row[wordMeta] = row[wordMeta]&^(maxRoles<<rolesShift) | roles<<rolesShift
}
