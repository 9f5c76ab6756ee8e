package limits

import "slices"

// Change applies another set to the table, as of the time at, and keeps the users' usage. It
// converts the usage of a limit whose parameters changed, if the name and algorithm are the same.
// Practice strikes lapse if the new set enforces. If rows become wider, Change drops users that no
// longer fit into memory. Change converts one shard at a time, so a decision waits for only part of
// the rows. When it returns, every decision uses the new set.
func (t *Table) Change(set *Set, at int64) { (&Changes{At: at}).Apply(t, set) }

// Changes changes many tables as of the same time. It prepares what they have in common only once.
// It is not safe for concurrent use.
type Changes struct {
	At    int64
	known map[setPair]conversion
}

type setPair struct{ old, set *Set }

// Apply changes a table, as Table.Change does.
func (c *Changes) Apply(t *Table, set *Set) {
	c.apply(t, set)
	if t.budget != nil {
		t.budget.settle(t, c.At)
	}
}

func (c *Changes) apply(t *Table, set *Set) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.notes {
		set = set.noted
	}
	if t.useIfUnused(set) {
		return
	}
	next := c.conversion(t, set)
	t.set = next.set
	fitting := t.fittingPart(next.set.width)
	t.forEach(func(s *shard) { s.change(&next, fitting.count(s.count)) })
	t.account(next.set.width)
}

// useIfUnused sets the set of a table in which no user has had a row yet. Nobody can have spent
// anything under the old set. It returns false for any other table.
func (t *Table) useIfUnused(set *Set) bool {
	s := &t.first
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == closed || s.len() > 0 {
		return false
	}
	t.set, s.set, s.width = set, set, set.width
	return true
}

// conversion returns the conversion of the table's rows. If the rows contain no log, it depends on
// the two sets only.
func (c *Changes) conversion(t *Table, set *Set) conversion {
	if t.set.hasLog() {
		return conversionOf(t.set, set, t.maxLogWords(), c.At)
	}
	pair := setPair{t.set, set}
	known, ok := c.known[pair]
	if !ok {
		if c.known == nil {
			c.known = map[setPair]conversion{}
		}
		known = conversionOf(t.set, set, nil, c.At)
		c.known[pair] = known
	}
	return known
}

// hasLog reports whether a limit has a log.
func (s *Set) hasLog() bool {
	return slices.ContainsFunc(s.rules, func(r Rule) bool { return r.isLog })
}

// maxLogWords returns, for each limit with a log, the largest number of state words that any user
// needs. A log may be longer than the new numbers require, and its contents still count.
func (t *Table) maxLogWords() []int {
	words := make([]int, len(t.set.rules))
	t.forEach(func(s *shard) {
		for slot := range s.len() {
			if !s.inUse(slot) {
				continue
			}
			for i, r := range t.set.rules {
				if r.isLog {
					words[i] = max(words[i], r.sizeOf(r.state(s.row(slot))))
				}
			}
		}
	})
	return words
}

// conversion converts rows from one set to another.
type conversion struct {
	old, set *Set
	// from is, for each limit, the index in the old set of the limit whose state it continues, or
	// -1.
	from   []int
	at     int64
	before []uint64 // scratch space for a row of the old set
}

// conversionOf returns the conversion from the old set to the new one. words has the maximum length
// of each log of the old set, and may be nil; the new rows have room for these logs.
func conversionOf(old, set *Set, words []int, at int64) conversion {
	c := conversion{old: old, set: set, from: make([]int, len(set.rules)), at: at, before: make([]uint64, old.width)}
	room := make([]int, len(set.rules))
	for i, r := range set.rules {
		c.from[i] = slices.IndexFunc(old.rules, func(o Rule) bool { return o.name == r.name && o.algorithm.name == r.algorithm.name })
		if words != nil && c.from[i] >= 0 {
			room[i] = words[c.from[i]]
		}
	}
	c.set = set.withRoom(room)
	if fresh := c.newUserRow(); slices.ContainsFunc(fresh, func(w uint64) bool { return w != 0 }) {
		own := *c.set
		own.fresh = fresh
		c.set = &own
	}
	return c
}

// newUserRow returns the row of a user who hadn't been seen before the change. The row isn't empty
// while a period that a change of unit has extended or shortened continues. Otherwise users whose
// rows were dropped would have an advantage.
func (c conversion) newUserRow() []uint64 {
	before := c.old.fresh
	if before == nil {
		before = make([]uint64, c.old.width)
	}
	row := make([]uint64, c.set.width)
	c.copyHead(row, before)
	c.convert(row, c.set.rules, before, c.old.rules)
	return row
}

// copyHead copies the words before the first limit's state.
func (c conversion) copyHead(row, before []uint64) {
	copy(row, before[:headerWords])
	if c.set.low > 0 {
		row[c.set.low] = before[c.old.low]
	}
	if c.old.roles != c.set.roles {
		row[wordMeta] &^= maxRoles << rolesShift
	}
	c.set.setRoles(row, Roles{c.old.roles, c.old.rolesOf(before)}.in(c.set.roles))
}

// convert fills a row, which contains only its header, with the user's usage under the old rules.
// It converts as of the time at, or as of the last use if that is later. If a state changes, that
// time becomes the row's last use.
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

// sameState reports whether two states hold the same words; unused room is ignored.
func sameState(a, b []uint64) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return slices.Equal(a, b[:len(a)]) && !slices.ContainsFunc(b[len(a):], func(w uint64) bool { return w != 0 })
}

// change evicts rows until no more than most are left, and converts these.
func (s *shard) change(c *conversion, most int) {
	s.evictTo(most, c.at)
	if enough := s.nextSize(s.count); c.set.width > s.width && enough < s.len() {
		s.layOut(enough)
	}
	spentUnder := s.personalRules()
	old := s.slots
	s.set, s.width = c.set, c.set.width
	if s.width != old.width {
		s.rows = make([]uint64, s.len()*s.width)
	}
	before := c.before
	for slot := range s.len() {
		if !s.inUse(slot) {
			continue
		}
		row := s.row(slot)
		copy(before, old.row(slot))
		clear(row[headerWords:])
		c.copyHead(row, before)
		oldRules := spentUnder[row[wordUser]]
		if oldRules == nil {
			oldRules = c.old.rulesFor(c.old.rolesOf(before))
		}
		c.convert(row, s.rulesOf(row), before, oldRules)
		if c.set.unsent > 0 {
			copy(row[c.set.unsent:], before[c.old.unsent:])
		}
		if c.old.strikes.isPractice() && !c.set.strikes.isPractice() {
			setStrikeCount(row, 0)
			row[wordSilentUntil] = 0
		}
		if !slices.Equal(row, before) {
			s.touch(slot, row)
		}
	}
}

// personalRules returns the current rules of users with a personal record, by key. It clears the
// records' rules, so that they are built again after a change.
func (s *shard) personalRules() map[uint64][]Rule {
	if len(s.personal) == 0 {
		return nil
	}
	rules := make(map[uint64][]Rule, len(s.personal))
	for key, p := range s.personal {
		if slot, ok := s.find(key, 0, hashOf(key), ""); ok {
			rules[key] = p.rulesFor(s.set, s.set.rolesOf(s.row(slot)))
		}
		p.rules = nil
	}
	return rules
}
