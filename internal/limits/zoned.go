package limits

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// maxZoned is how many entries a zoned keeps. Further ones are built for each decision.
const maxZoned = 1024

// zoned are the limits of a Set as they apply to users in other zones. Each is built when it is
// first needed.
type zoned struct {
	known atomic.Pointer[map[zonedKey][]Rule] // never changed
	mu    sync.Mutex                          // held to replace known
}

type zonedKey struct {
	zone   *Timezone
	choice uint64 // see Set.choice
}

// newZoned returns an empty zoned for a set. It returns nil if users' zones don't matter, because
// no limit counts by the calendar, or several users share the limits.
func newZoned(s *Set) *zoned {
	if s.shared || !slices.ContainsFunc(s.rules, func(r Rule) bool { return r.calendar != nil }) {
		return nil
	}
	z := new(zoned)
	z.known.Store(&map[zonedKey][]Rule{})
	return z
}

// rulesIn returns the limits with the numbers that apply to a user with these roles, in the user's
// zone.
func (s *Set) rulesIn(zone *Timezone, roles uint64) []Rule {
	if zone == nil || s.zoned == nil {
		return s.rulesFor(roles)
	}
	key := zonedKey{zone, s.choice(roles)}
	if rules, ok := (*s.zoned.known.Load())[key]; ok {
		return rules
	}
	return s.zoned.add(s, key)
}

// add builds the limits of the set for a zone and a choice of roles.
func (z *zoned) add(s *Set, key zonedKey) []Rule {
	rules := rulesInZone(s.rulesFor(key.choice), key.zone)
	z.mu.Lock()
	defer z.mu.Unlock()
	if known := *z.known.Load(); len(known) < maxZoned {
		more := maps.Clone(known)
		more[key] = rules
		z.known.Store(&more)
	}
	return rules
}

// rulesInZone returns copies of rules with the calendars of a zone.
func rulesInZone(rules []Rule, zone *Timezone) []Rule {
	rules = slices.Clone(rules)
	for i := range rules {
		if r := &rules[i]; r.calendar != nil {
			r.calendar = zone.in(r.calendar)
		}
	}
	return rules
}
