package limits

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Scope says who shares the state of a limit.
type Scope uint8

// The scopes. Each has a Table of its own: of users in a channel, of users in all channels, and of nobody but the channel.
const (
	PerUser Scope = iota
	PerUserEverywhere
	PerChannel
	Scopes // how many there are
)

// Limit is one limit of a Set, with other numbers for some roles. Roles are bits of a Request's Roles; a higher bit outranks a lower one.
type Limit struct {
	Params
	Scope Scope
	Roles map[uint8]Numbers // by bit
}

// NoQueue is a Queue of Numbers that has no places.
const NoQueue = -1

// Numbers are what an override may set. A zero number keeps the limit's own.
type Numbers struct {
	Burst, Queue, Messages int64
	Refill                 time.Duration
}

// roleBits is how many roles there can be.
const roleBits = 7

// Set is all limits of one scope, judged together, and the rule for strikes. It is immutable once it is used.
type Set struct {
	// Owner is whatever the limits belong to. It is given back with each decision, and never looked at.
	Owner any

	limits   []Limit
	rules    []Rule               // as for everyone
	variants [][]Rule             // the same limits with the numbers of some combination of roles; the first is rules
	byRoles  [1 << roleBits]uint8 // a combination of roles → its place in variants
	width    int                  // of a row, in words
	strikes  Strikes
	shared   bool // by everyone in a channel
	special  bool // some limit only observes, counts throttled messages, or lets messages leave later
}

// Sets are the limits of a policy by their scope, nil where there are none. The set PerUser is always there.
type Sets [Scopes]*Set

// validName is what a limit may be called, so that its name can stand in a dotted key and in an HTTP header.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// The bounds of what one policy may ask for. A policy that anyone may propose must not fill the memory, nor take long to compile.
const (
	MaxLimits = 32   // in all scopes together
	MaxRow    = 4096 // words of state that are kept of each user in one scope, with the header
)

// Compile makes limits ready. The error names the limit, or the bound that they exceed together.
func Compile(limits []Limit, strikes Strikes) (Sets, error) {
	if len(limits) > MaxLimits {
		return Sets{}, fmt.Errorf("the policy has %d limits, want %d or fewer", len(limits), MaxLimits)
	}
	var byScope [Scopes][]Limit
	names := map[string]bool{}
	for i, l := range limits {
		switch {
		case l.Name == "":
			return Sets{}, fmt.Errorf("limit %d has no name", i+1)
		case !validName.MatchString(l.Name):
			return Sets{}, fmt.Errorf("limit %q: a name is up to 64 letters, digits, - and _", l.Name)
		case names[l.Name]:
			return Sets{}, fmt.Errorf("limit %q: the name is taken by another limit", l.Name)
		case l.Scope >= Scopes:
			return Sets{}, fmt.Errorf("limit %q: unknown scope %d", l.Name, l.Scope)
		}
		names[l.Name] = true
		l.Place = i
		byScope[l.Scope] = append(byScope[l.Scope], l)
	}
	var sets Sets
	for scope, of := range byScope {
		if len(of) == 0 && Scope(scope) != PerUser {
			continue
		}
		s, err := newSet(of, strikes)
		if err != nil {
			return Sets{}, err
		}
		s.shared = Scope(scope) == PerChannel
		sets[scope] = s
	}
	return sets, nil
}

func newSet(limits []Limit, strikes Strikes) (*Set, error) {
	s := &Set{limits: limits, strikes: strikes}
	for _, l := range limits {
		r, err := compile(l.Params)
		if err != nil {
			return nil, fmt.Errorf("limit %q: %w", l.Name, err)
		}
		s.rules = append(s.rules, r)
		s.special = s.special || r.observes || r.countThrottled || r.leave != nil
	}
	if err := s.compileRoles(); err != nil {
		return nil, err
	}
	return s, s.layOut()
}

// compileRoles makes the variant of each combination of roles, and shares those that come out alike.
func (s *Set) compileRoles() error {
	forRole, err := s.rulesByRole()
	if err != nil {
		return err
	}
	s.variants = [][]Rule{s.rules}
	known := map[string]uint8{fmt.Sprint(make([]int, len(s.limits))): 0}
	for roles := range s.byRoles {
		choice := make([]int, len(s.limits)) // the bit that counts for each limit, plus one
		for i := range choice {
			choice[i] = s.limits[i].role(uint8(roles)) + 1
		}
		key := fmt.Sprint(choice)
		if _, ok := known[key]; !ok {
			known[key] = uint8(len(s.variants))
			variant := slices.Clone(s.rules)
			for i, bit := range choice {
				if bit > 0 {
					variant[i] = forRole[i][bit-1]
				}
			}
			s.variants = append(s.variants, variant)
		}
		s.byRoles[roles] = known[key]
	}
	return nil
}

// role returns the highest of the roles for which the limit has other numbers, or -1.
func (l *Limit) role(roles uint8) int {
	for bit := roleBits - 1; bit >= 0; bit-- {
		if _, ok := l.Roles[uint8(bit)]; ok && roles&(1<<bit) != 0 {
			return bit
		}
	}
	return -1
}

// rulesByRole returns each limit with the numbers of each role that has other ones.
func (s *Set) rulesByRole() (rules [][roleBits]Rule, err error) {
	rules = make([][roleBits]Rule, len(s.limits))
	for i, l := range s.limits {
		for bit := range rules[i] {
			numbers, ok := l.Roles[uint8(bit)]
			if !ok {
				continue
			}
			if rules[i][bit], err = compile(l.Params.with(numbers)); err != nil {
				return nil, fmt.Errorf("limit %q: for a role: %w", l.Name, err)
			}
			rules[i][bit].calendar = s.rules[i].calendar // a day is everyone's
		}
	}
	return rules, nil
}

// with returns the parameters with other numbers.
func (p Params) with(n Numbers) Params {
	for _, number := range []struct{ own, other *int64 }{{&p.Burst, &n.Burst}, {&p.Queue, &n.Queue}, {&p.Messages, &n.Messages}} {
		if *number.other != 0 {
			*number.own = *number.other
		}
	}
	if n.Queue == NoQueue {
		p.Queue, p.noQueue = 0, true
	}
	if n.Refill != 0 {
		p.Refill = n.Refill
	}
	return p
}

// layOut gives each limit its place in a row: room for the state that any role's numbers can need. The error names the limit that no longer fits.
func (s *Set) layOut() error {
	words := make([]int, len(s.rules))
	for i := range words {
		for _, variant := range s.variants {
			words[i] = max(words[i], variant[i].words)
		}
	}
	s.place(words)
	for _, r := range s.rules {
		if r.end > MaxRow {
			return fmt.Errorf("limit %q: with it, %d words are kept of each user, want %d or fewer: "+
				"a sliding-log takes a word for each of its messages, so give it fewer, or use a sliding-window", r.name, r.end, MaxRow)
		}
	}
	return nil
}

// place gives each limit so many words of a row.
func (s *Set) place(words []int) {
	s.width = headerWords
	for i := range s.rules {
		for _, variant := range s.variants {
			variant[i].start, variant[i].end = s.width, s.width+words[i]
		}
		s.width += words[i]
	}
}

// withRoom returns the set with as many words for the state of each limit as are needed, as far as the row may grow: the first limits get them.
// A log that has room for its numbers, but not for all that is in it, decides alike.
func (s *Set) withRoom(needed []int) *Set {
	words := make([]int, len(s.rules))
	spare := MaxRow - s.width
	for i, r := range s.rules {
		words[i] = r.end - r.start
		more := min(max(0, needed[i]-words[i]), spare)
		words[i] += more
		spare -= more
	}
	if spare == MaxRow-s.width {
		return s
	}
	roomy := *s
	roomy.variants = make([][]Rule, len(s.variants))
	for k, variant := range s.variants {
		roomy.variants[k] = slices.Clone(variant)
	}
	roomy.rules = roomy.variants[0]
	roomy.place(words)
	return &roomy
}

// rulesFor returns the limits with the numbers that count for somebody with these roles.
func (s *Set) rulesFor(roles uint8) []Rule { return s.variants[s.byRoles[roles&maxRoles]] }

// named returns the place of a limit, or -1.
func (s *Set) named(name string) int {
	return slices.IndexFunc(s.limits, func(l Limit) bool { return l.Name == name })
}
