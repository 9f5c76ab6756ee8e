package limits

import (
	"fmt"
	"regexp"
	"time"
)

// Limit is one limit of a Set, with other numbers for some roles. Roles are bits of a Request's Roles; a higher bit outranks a lower one.
type Limit struct {
	Params
	Roles map[uint8]Params // by bit; same algorithm
}

// roleBits is how many roles there can be.
const roleBits = 7

// Set is all limits of a channel, judged together, and the rule for strikes. It is immutable once it is used.
type Set struct {
	// Owner is whatever the limits belong to. It is given back with each decision, and never looked at.
	Owner any

	rules    []Rule               // as for everyone; they say where state lies
	variants [][]Rule             // the same limits with the numbers of some combination of roles; the first is rules
	byRoles  [1 << roleBits]uint8 // a combination of roles → its place in variants
	offsets  []int                // of each limit's state in a row
	width    int                  // of a row, in words
	strikes  Strikes
}

// Strikes says how throttled messages count against their author.
type Strikes struct {
	Every  time.Duration // at most one strike in this time
	Forget time.Duration // all strikes lapse after this time without a new one; 0 means never

	// Practice means that the limits only observe. Strikes given for practice lapse when that ends.
	Practice bool
}

// validName is what a limit may be called, so that its name can stand in a dotted key and in an HTTP header.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// NewSet compiles limits. The error names the limit.
func NewSet(limits []Limit, strikes Strikes) (*Set, error) {
	s := &Set{strikes: strikes, width: headerWords}
	names := map[string]bool{}
	for _, l := range limits {
		r, err := compile(l.Params)
		switch {
		case l.Name == "":
			return nil, fmt.Errorf("a limit has no name")
		case !validName.MatchString(l.Name):
			return nil, fmt.Errorf("limit %q: a name is up to 64 letters, digits, - and _", l.Name)
		case names[l.Name]:
			return nil, fmt.Errorf("limit %q: the name is taken by another limit", l.Name)
		case err != nil:
			return nil, fmt.Errorf("limit %q: %w", l.Name, err)
		}
		names[l.Name] = true
		s.rules = append(s.rules, r)
		s.offsets = append(s.offsets, s.width)
		s.width += r.words
	}
	return s, s.compileRoles(limits)
}

// compileRoles makes the variant of each combination of roles, and shares those that come out alike.
func (s *Set) compileRoles(limits []Limit) error {
	s.variants = [][]Rule{s.rules}
	known := map[string]uint8{fmt.Sprint(make([]int, len(limits))): 0}
	for roles := range s.byRoles {
		choice := make([]int, len(limits)) // the bit that counts for each limit, plus one
		for i, l := range limits {
			choice[i] = highestRole(l, roles)
		}
		key := fmt.Sprint(choice)
		if _, ok := known[key]; !ok {
			variant, err := s.variant(limits, choice)
			if err != nil {
				return err
			}
			known[key] = uint8(len(s.variants))
			s.variants = append(s.variants, variant)
		}
		s.byRoles[roles] = known[key]
	}
	return nil
}

// highestRole returns the highest of the roles for which the limit has other numbers, plus one, or 0.
func highestRole(l Limit, roles int) int {
	for bit := roleBits - 1; bit >= 0; bit-- {
		if _, ok := l.Roles[uint8(bit)]; ok && roles&(1<<bit) != 0 {
			return bit + 1
		}
	}
	return 0
}

func (s *Set) variant(limits []Limit, choice []int) ([]Rule, error) {
	variant := append([]Rule(nil), s.rules...)
	for i, l := range limits {
		if choice[i] == 0 {
			continue
		}
		r, err := compile(l.Roles[uint8(choice[i]-1)])
		if err != nil {
			return nil, fmt.Errorf("limit %q: for a role: %w", l.Name, err)
		}
		r.calendar = s.rules[i].calendar // a day is everyone's
		variant[i] = r
	}
	return variant, nil
}

// Rules returns the limits as they are for everyone. The caller must not change them.
func (s *Set) Rules() []Rule { return s.rules }

// rulesFor returns the limits with the numbers that count for somebody with these roles.
func (s *Set) rulesFor(roles uint8) []Rule { return s.variants[s.byRoles[roles&maxRoles]] }

// state returns the words of limit i in a row.
func (s *Set) state(row []uint64, i int) []uint64 {
	return row[s.offsets[i] : s.offsets[i]+s.rules[i].words : s.offsets[i]+s.rules[i].words]
}
