package limits

import (
	"cmp"
	"regexp"
	"slices"
	"time"
)

// Scope says who shares the state of a limit.
type Scope uint8

// The scopes. Each scope has its own Table: for the users in a channel, for the users in all
// channels, for the channel as a whole, or for all channels as a whole. The scopes of limits on
// repeated text have a Table for each SameText.
const (
	PerUser Scope = iota
	PerUserEverywhere
	PerChannel
	PerEverywhere
	PerUserText // messages of one user with the same text in a channel
	PerText     // everyone's messages with the same text in a channel
)

// IsShared reports whether several users share the state of a limit.
func (s Scope) IsShared() bool { return s == PerChannel || s == PerEverywhere || s == PerText }

// IsText reports whether a limit is on repeated text.
func (s Scope) IsText() bool { return s == PerUserText || s == PerText }

// InAllChannels reports whether a limit counts in all channels together.
func (s Scope) InAllChannels() bool { return s == PerUserEverywhere || s == PerEverywhere }

// Limit is one limit of a Set, with other numbers for some roles.
type Limit struct {
	Params
	Scope Scope
	Text  SameText           // of a limit on repeated text
	Roles map[string]Numbers // by name
}

// NoQueue is the value of Numbers.Queue that means a queue without places.
const NoQueue = -1

// Numbers are the values that an override may set. Zero keeps the limit's own value.
type Numbers struct {
	Burst, ExtraBurst, Queue, Messages int64
	Refill, ExtraRefill                time.Duration
}

// Set is all limits of one scope, which are judged together, and the rule for strikes. It is
// immutable once it is in use.
type Set struct {
	// Owner is the value that the limits belong to. It is returned with each decision, and never
	// used here.
	Owner any

	limits []Limit
	rules  []Rule // for a user without roles
	roles  *RoleList
	// byRole are the same limits with the numbers of roles. numbered has the bit of each role that
	// has its own numbers.
	byRole   []roleRules
	numbered uint64
	variants *variants
	zoned    *zoned // nil if users' zones don't matter
	roleWord bool   // the roles have a word of their own in each row: they don't fit in wordMeta
	head     int    // words before the first limit's state
	width    int    // row width in words
	// noted is the same set for a table that counts what was spent; see Table.CountUnsent. In that
	// set, unsent is the index of the words for it: what allowed messages have spent, what
	// throttled messages have counted together with the number of the user's zone, the time of the
	// last strike that isn't unsent, the time of the first of these messages, and the ID of the
	// stamp of the row that was imported last. In other sets it is 0.
	noted  *Set
	unsent int
	// roomyOf is the set that this one was made from, with more room; nil for other sets.
	roomyOf *Set
	// fresh is the row of a new user, if it isn't empty. It belongs to one table.
	fresh   []uint64
	strikes Strikes
	shared  bool // see Scope.IsShared
	// special means that at least one limit only observes, counts throttled messages, or delays
	// messages, or that the set is ranked.
	special bool
	// text says which messages use a row, if the limits are on repeated text. The second word of
	// the rows' keys is then at index low, and prefix is SameText.keyPrefix.
	text   *SameText
	low    int
	prefix string
	// ranked means that messages have priorities here: a limit is a cascade, or keeps a reserve.
	ranked bool
}

// Sets are the limits of a policy that are judged together. The first ones are those of the scopes
// up to PerEverywhere: a scope without limits has a nil set, except that the PerUser set always
// exists. They are followed by those on repeated text, one for each SameText; see Sets.Texts.
type Sets [MaxSets]*Set

// MaxSets is the maximum number of sets of a policy, and of rows that a message uses.
const MaxSets = int(PerUserText) + MaxTexts

// Texts returns the limits on repeated text, in the order of the policy.
func (s *Sets) Texts() []*Set {
	texts := s[PerUserText:]
	for i, set := range texts {
		if set == nil {
			return texts[:i]
		}
	}
	return texts
}

// validName matches a valid limit name, which can be used in a dotted key and in an HTTP header.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// The bounds of one policy. Anyone may propose a policy, so a policy must not fill the memory or
// take long to compile.
const (
	MaxLimits = 32 // in all scopes together
	// MaxRow is the maximum number of state words per user in one scope, including the header.
	MaxRow = 4096
)

// Compile compiles limits; roles may be nil. The error names the invalid limit, or the bound that
// all limits together exceed.
func Compile(limits []Limit, roles *RoleList, strikes Strikes) (Sets, error) {
	if len(limits) > MaxLimits {
		return Sets{}, MistakeIn("limits", len(limits), "the policy has %d limits, want %d or fewer", len(limits), MaxLimits)
	}
	var bySet [MaxSets][]Limit
	names := map[string]bool{}
	for i, l := range limits {
		switch {
		case l.Name == "":
			return Sets{}, MistakeIn("name", "", "limit %d has no name", i+1)
		case !validName.MatchString(l.Name):
			return Sets{}, InLimit(l.Name, MistakeIn("name", l.Name, "a name is up to 64 letters, digits, - and _"))
		case names[l.Name]:
			return Sets{}, InLimit(l.Name, MistakeIn("name", l.Name, "another limit has this name"))
		case l.Scope > PerText:
			return Sets{}, InLimit(l.Name, MistakeIn("per", int(l.Scope), "unknown scope %d", l.Scope))
		}
		at := int(l.Scope)
		if err := l.compileText(); err != nil {
			return Sets{}, InLimit(l.Name, err)
		}
		if l.Scope.IsText() {
			if at = textSet(bySet[:], l.Text); at == MaxSets {
				return Sets{}, InLimit(l.Name, MistakeIn("", nil,
					"the limits on repeated text have more than %d different combinations of per, similar, from_length and count_emotes: "+
						"give it the same four values as limit %q", MaxTexts, bySet[PerUserText][0].Name))
			}
		}
		names[l.Name] = true
		l.Place = i
		bySet[at] = append(bySet[at], l)
	}
	var sets Sets
	for i, of := range bySet {
		if len(of) == 0 && Scope(i) != PerUser {
			continue
		}
		s, err := newSet(of, roles, strikes)
		if err != nil {
			return Sets{}, err
		}
		sets[i] = s
	}
	return sets, nil
}

// newSet compiles limits that are judged together; there may be none of scope PerUser.
func newSet(limits []Limit, roles *RoleList, strikes Strikes) (*Set, error) {
	s := &Set{limits: limits, roles: roles, strikes: strikes, head: headerWords}
	if len(limits) > 0 {
		s.shared = limits[0].Scope.IsShared()
		if limits[0].Scope.IsText() {
			s.text = &limits[0].Text
			s.prefix = s.text.keyPrefix()
		}
	}
	if roles == nil {
		s.roles = new(RoleList)
	}
	if len(s.roles.names) > rolesInMeta {
		s.roleWord = true
		s.head++
	}
	if s.text != nil {
		s.low = s.head
		s.head++
	}
	for _, l := range limits {
		r, err := compile(l.Params)
		if err != nil {
			return nil, err
		}
		s.rules = append(s.rules, r)
		s.ranked = s.ranked || r.buckets != nil || r.reserve > 0
		s.special = s.special || r.observes || r.countThrottled || r.releaseTime != nil || s.ranked
	}
	if err := s.compileRoles(); err != nil {
		return nil, err
	}
	if err := s.layOut(); err != nil {
		return nil, err
	}
	s.zoned = newZoned(s)
	noted := *s
	noted.addUnsent()
	s.noted = &noted
	return s, nil
}

// SetOwner sets the Owner. Call it before the set is used.
func (s *Set) SetOwner(owner any) { s.Owner, s.noted.Owner = owner, owner }

// addUnsent adds the words for what wasn't sent yet, after the limits.
func (s *Set) addUnsent() {
	s.unsent = s.width
	s.width += unsentWords
}

const unsentWords = 5

// hasUnsent reports whether a row has something that wasn't sent yet.
func (s *Set) hasUnsent(row []uint64) bool {
	return s.unsent > 0 && (row[s.unsent] > 0 || row[s.unsent+1] > 0 || s.hasUnsentStrikes(row))
}

func (s *Set) hasUnsentStrikes(row []uint64) bool {
	return row[wordStrikeAt] != 0 && row[wordStrikeAt] != row[s.unsent+2]
}

// withNumbers returns the parameters with other numbers.
func (p Params) withNumbers(n Numbers) Params {
	for _, number := range []struct{ own, other *int64 }{{&p.Burst, &n.Burst}, {&p.ExtraBurst, &n.ExtraBurst}, {&p.Queue, &n.Queue}, {&p.Messages, &n.Messages}} {
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
	if n.ExtraRefill != 0 {
		p.ExtraRefill = n.ExtraRefill
	}
	return p
}

// layOut assigns each limit its position in a row, with room for the largest state that any role's
// numbers need. The error names the first limit that doesn't fit.
func (s *Set) layOut() error {
	words := make([]int, len(s.rules))
	for i := range words {
		words[i] = s.rules[i].words
		for _, r := range s.byRole[i].rules {
			words[i] = max(words[i], r.words)
		}
	}
	s.assignWords(words)
	for i, r := range s.rules {
		if r.end > MaxRow {
			parameter, value := largeParameter(&r, &s.limits[i].Params)
			return InLimit(r.name, MistakeIn(parameter, value, "with it, %d words are needed for each user, want %d or fewer: "+
				"a sliding-log takes a word for each of its messages, so allow fewer, or use a sliding-window", r.end, MaxRow))
		}
	}
	return nil
}

// largeParameter returns the parameter that decides how many words a limit takes, and its value. It
// is empty if the number of words is fixed.
func largeParameter(r *Rule, p *Params) (name string, value any) {
	switch {
	case r.isLog:
		return "messages", p.Messages
	case r.slices > 1:
		return "slices", p.Slices
	}
	return "", nil
}

// assignWords assigns each limit the given number of words in a row.
func (s *Set) assignWords(words []int) {
	s.width = s.head
	for i := range s.rules {
		start, end := s.width, s.width+words[i]
		s.rules[i].start, s.rules[i].end = start, end
		for k := range s.byRole[i].rules {
			s.byRole[i].rules[k].start, s.byRole[i].rules[k].end = start, end
		}
		s.width = end
	}
}

// withRoom returns the set with at least the needed number of state words for each limit. If the
// row would exceed its maximum, earlier limits get the room first. A log makes the same decisions
// if it has room for as many messages as its limit allows, even if not for all its contents.
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
	roomy.roomyOf, roomy.fresh = s.origin(), nil
	roomy.rules, roomy.byRole, roomy.variants = slices.Clone(s.rules), slices.Clone(s.byRole), newVariants()
	roomy.zoned = newZoned(s)
	for i := range roomy.byRole {
		roomy.byRole[i].rules = slices.Clone(s.byRole[i].rules)
	}
	if roomy.assignWords(words); s.unsent > 0 {
		roomy.addUnsent()
	}
	return &roomy
}

// noWords is the row of a new user in most sets. It must not be changed.
var noWords [MaxRow + unsentWords]uint64

// newRow returns the row of a new user, which must not be changed.
func (s *Set) newRow() []uint64 {
	if s.fresh != nil {
		return s.fresh
	}
	return noWords[:s.width:s.width]
}

// origin returns the set without additional room.
func (s *Set) origin() *Set { return cmp.Or(s.roomyOf, s) }

// indexOf returns the index of a limit, or -1.
func (s *Set) indexOf(name string) int {
	return slices.IndexFunc(s.limits, func(l Limit) bool { return l.Name == name })
}
