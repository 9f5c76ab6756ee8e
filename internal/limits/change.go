package limits

import "slices"

// Change holds the users to another set, as of the moment at, and keeps what they have spent: of a limit that stays under its name and
// algorithm, converted where its parameters changed. Strikes given for practice lapse where the new set is in earnest. It goes from shard to shard, so that a decision waits for a part of the rows only; when it
// returns, every decision is by the new set.
func (t *Table) Change(set *Set, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.set = set
	t.each(func(_ int, s *shard) { s.change(set, at) })
}

func (s *shard) change(set *Set, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, oldRows := s.set, s.rows
	s.set, s.rows = set, make([]uint64, s.count*set.width)
	from := set.origins(old)
	for number := range uint32(s.count) {
		row, before := s.row(number), oldRows[int(number)*old.width:][:old.width]
		copy(row[:headerWords], before)
		set.convert(row, old, before, from, at)
		if old.strikes.Practice && !set.strikes.Practice {
			setStrikeCount(row, 0)
		}
		if !slices.Equal(row, before) {
			s.touch(number)
		}
	}
}

// origins returns, for each limit, the place in the old set of the limit whose state it takes over, or -1.
func (s *Set) origins(old *Set) []int {
	from := make([]int, len(s.rules))
	for i, r := range s.rules {
		from[i] = slices.IndexFunc(old.rules, func(o Rule) bool { return o.name == r.name && o.algorithm == r.algorithm })
	}
	return from
}

func (s *Set) convert(row []uint64, old *Set, before []uint64, from []int, at int64) {
	rules, oldRules := s.rulesFor(rolesOf(row)), old.rulesFor(rolesOf(row))
	for i := range rules {
		if from[i] < 0 {
			continue
		}
		r, o := &rules[i], &oldRules[from[i]]
		state := s.state(row, i)
		copy(state, old.state(before, from[i]))
		r.convert(o, r, state, at)
	}
}
