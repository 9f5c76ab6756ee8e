package limits

import (
	"runtime"
	"slices"
)

// Change holds the users to another set, as of the moment at, and keeps what they have spent: of a limit that stays under its name and
// algorithm, converted where its parameters changed. Strikes given for practice lapse where the new set is in earnest. Users for whose rows, if they
// become wider, there is no memory any more are dropped. It goes from shard to shard, so that a decision waits for a part of the rows only; when it returns, every decision is by the new set.
func (t *Table) Change(set *Set, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.change(set, at)
}

func (t *Table) change(set *Set, at int64) {
	c := conversionOf(t.set, set, t.longest(), at)
	fresh := t.fresh
	seen := false
	fitting := t.fitting(c.set.width)
	t.each(func(_ int, s *shard) {
		if !seen { // before the first user is seen, nobody can have spent anything under the old set
			seen, fresh = true, c.fresh(t.fresh)
		}
		s.mu.Lock()
		s.change(c, fresh, fitting.count(s.count))
		s.mu.Unlock()
		runtime.Gosched() // whoever has waited for the shard goes on before the next is changed
	})
	t.set, t.fresh = c.set, fresh
}

// longest returns, for each limit, how many words of state the user has who needs most: a log may be longer than the new numbers make room
// for, and what is in it goes on counting. Other states are always as long, and not looked at.
func (t *Table) longest() []int {
	words := make([]int, len(t.set.rules))
	logs := slices.ContainsFunc(t.set.rules, func(r Rule) bool { return r.end-r.start > longState })
	if !logs {
		return words
	}
	t.each(func(_ int, s *shard) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for slot := range s.len() {
			if !s.inUse(slot) {
				continue
			}
			for i := range t.set.rules {
				words[i] = max(words[i], needed(t.set.rules[i].state(s.row(slot))))
			}
		}
	})
	return words
}

// needed is how many of a state's words have something in them. A log says itself how long it is: a message of the instant 0 is none of its zeros.
func needed(state []uint64) int {
	if len(state) > longState {
		return 1 + len(logged(state))
	}
	return len(trim(state))
}

// longState is more words than the state of any limit has but a log's.
const longState = 2

// conversion brings rows from one set to another.
type conversion struct {
	old, set *Set
	from     []int // for each limit the place in the old set of the limit whose state it takes over, or -1
	at       int64
}

// conversionOf returns the way to the new set, with room for the states of the old one, which are so many words long at most.
func conversionOf(old, set *Set, words []int, at int64) conversion {
	c := conversion{old: old, set: set, from: make([]int, len(set.rules)), at: at}
	room := make([]int, len(set.rules))
	for i, r := range set.rules {
		c.from[i] = slices.IndexFunc(old.rules, func(o Rule) bool { return o.name == r.name && o.algorithm == r.algorithm })
		if words != nil && c.from[i] >= 0 {
			room[i] = words[c.from[i]]
		}
	}
	c.set = set.withRoom(room)
	return c
}

// fresh returns the row of a user never seen, who was to be held to the old set. It isn't empty while a day runs on that the old set began:
// those whose rows were dropped must not gain by that.
func (c conversion) fresh(before []uint64) []uint64 {
	if before == nil {
		before = make([]uint64, c.old.width)
	}
	row := make([]uint64, c.set.width)
	copy(row, before[:headerWords])
	c.convert(row, c.set.rules, before, c.old.rules)
	return row
}

// convert fills a row, which has its header and nothing else, with what its user has spent under the old rules. That is never as of a
// moment before the last spending. Where a state has become another, the row counts as spent at.
func (c conversion) convert(row []uint64, rules []Rule, before []uint64, oldRules []Rule) {
	at := max(c.at, int64(row[wordLast]))
	for i, from := range c.from {
		if from < 0 {
			continue
		}
		state, was := rules[i].state(row), oldRules[from].state(before)
		rules[i].convert(&oldRules[from], &rules[i], was, state, at)
		if !sameState(state, was) {
			row[wordLast] = uint64(at)
		}
	}
}

// sameState reports whether two states hold the same words, however much room they have.
func sameState(a, b []uint64) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return slices.Equal(a, b[:len(a)]) && !slices.ContainsFunc(b[len(a):], func(w uint64) bool { return w != 0 })
}

// change converts the shard's rows, of which so many may stay.
func (s *shard) change(c conversion, fresh []uint64, most int) {
	s.evictTo(most, c.at)
	if enough := s.enough(s.count); c.set.width > s.width && enough < s.len() {
		s.layOut(enough)
	}
	spentUnder := s.personalRules()
	old := s.slots
	s.set, s.fresh, s.width = c.set, fresh, c.set.width
	if s.width != old.width {
		s.rows = make([]uint64, s.len()*s.width)
	}
	before := make([]uint64, old.width)
	for slot := range s.len() {
		if !s.inUse(slot) {
			continue
		}
		row := s.row(slot)
		copy(before, old.row(slot))
		clear(row[headerWords:])
		copy(row, before[:headerWords])
		oldRules := spentUnder[row[wordUser]]
		if oldRules == nil {
			oldRules = c.old.rulesFor(rolesOf(row))
		}
		c.convert(row, s.rulesOf(row), before, oldRules)
		if c.old.strikes.rehearses() && !c.set.strikes.rehearses() {
			setStrikeCount(row, 0)
			row[wordSilentUntil] = 0
		}
		if !slices.Equal(row, before) {
			s.touch(slot, row)
		}
	}
}

// personalRules returns the rules of those who have some of their own, which are made anew after a change.
func (s *shard) personalRules() map[uint64][]Rule {
	rules := make(map[uint64][]Rule, len(s.personal))
	for key, p := range s.personal {
		if slot, ok := s.find(key); ok {
			rules[key] = p.rulesFor(s.set, rolesOf(s.row(slot)))
		}
		p.variants = nil
	}
	return rules
}
