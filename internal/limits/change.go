package limits

import "slices"

// Change holds the users to another set, as of the moment at, and keeps what they have spent: of a limit that stays under its name and
// algorithm, converted where its parameters changed. It goes from shard to shard, so that a decision waits for a part of the rows only; when it
// returns, every decision is by the new set.
func (t *Table) Change(set *Set, at int64, clearStrikes bool) {
	t.changing.Lock()
	defer t.changing.Unlock()
	for i := range t.shards {
		t.shards[i].change(set, at, clearStrikes)
	}
}

func (s *shard) change(set *Set, at int64, clearStrikes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, oldRows := s.set, s.rows
	s.set, s.rows = set, make([]uint64, s.count*set.width)
	from := set.origins(old)
	for number := range uint32(s.count) {
		row, before := s.row(number), oldRows[int(number)*old.width:][:old.width]
		copy(row[:headerWords], before)
		set.convert(row, old, before, from, at)
		if clearStrikes {
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
	for i := range s.rules {
		if from[i] < 0 {
			continue
		}
		r, o := &s.rules[i], &old.rules[from[i]]
		state := s.state(row, i)
		copy(state, old.state(before, from[i]))
		r.convert(o, r, state, at)
	}
}
