package limits

import (
	"slices"
	"sync"
)

// SeenRow is a row as it was last seen, for IsFrozen.
type SeenRow struct {
	Set   *Set
	Row   *Row           // read with that set; nil if there is none
	Order map[string]int // as in Place
}

// IsFrozen judges a message by rows as they were last seen, and reports whether the decision
// certainly also holds for the rows as they are now. The decision holds if the user is exempt. A
// refusal holds if it changes nothing and a message of cost 1 has no room either, and if both are
// still true after the duration skew. The clock of another node may be ahead by skew. Then nobody
// can have changed the rows in the meantime, except by hand. Rows of limits with other scopes must
// refuse by themselves, since messages in other channels or of other users use them, too.
//
// until is the time up to which the same request certainly gets the same decision, except for its
// At and LeaveAt, which are the request's time. It is 0 if that isn't known.
func IsFrozen(rows []SeenRow, q *Request, d *Decision, skew int64) (until int64, frozen bool) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if s.judge(rows, q, d) {
		return 0, false
	}
	if d.Exempt {
		return 0, true
	}
	if d.Allowed || d.Remaining != 0 {
		return 0, false
	}
	least := min(q.At+skew, MaxTime-1)
	if len(rows) == 1 && !rows[0].Set.ranked && q.Cost == 1 && !q.UpTo && !q.Try && d.RetryAt-1 > least && d.RetryAt < MaxTime && d.At == q.At {
		// Refusals don't change in between: limits, strikes and silences only ever expire. The
		// priority of a refused message may change and change back.
		s.later = *q
		s.later.At = d.RetryAt - 1
		if !s.judge(rows, &s.later, &s.decision) && s.decision.repeats(d) {
			return s.later.At, true
		}
	}
	s.later = Request{At: least, Latest: q.Latest, Cost: 1, Roles: q.Roles, Zone: q.Zone, Exempt: q.Exempt}
	return 0, !s.judge(rows, &s.later, &s.decision) && !s.decision.Allowed && s.othersRefuse(len(rows), least)
}

// othersRefuse reports whether each row except the first has no room for a message of cost 1. The
// user's row in the channel is the first: only messages that use all rows change it, unless there
// are limits on repeated text.
func (s *scratch) othersRefuse(rows int, at int64) bool {
	first := 1
	if s.drafts[rows-1].set.text != nil {
		first = 0 // the user's messages with other texts don't use all rows
	}
	for i := first; i < rows; i++ {
		d := &s.drafts[i]
		// Messages in other channels use the other rows, and may be enforced there.
		practice := s.drafts[0].set.strikes.Practice && (i == 0 || !d.set.limits[0].Scope.InAllChannels())
		if !d.refuses(at, practice) {
			return false
		}
	}
	return true
}

// refuses reports whether one of the limits has no room for a message of cost 1. With practice, it
// includes limits that observe.
func (a *account) refuses(at int64, practice bool) bool {
	at = max(at, int64(a.row[wordLast]))
	for i := range a.rules {
		if r := &a.rules[i]; (practice || !r.observes) && a.blocks(i, at) {
			return true
		}
	}
	return false
}

// blocks reports whether a limit has no room. If users with other roles use it, too, it must have
// none with the numbers of any role.
func (a *account) blocks(limit int, at int64) bool {
	if !a.set.shared {
		return a.next(&a.rules[limit], at, 1) > at
	}
	hasRoom := func(r Rule) bool { return a.next(&r, at, 1) <= at }
	return !hasRoom(a.set.rules[limit]) && !slices.ContainsFunc(a.set.byRole[limit].rules, hasRoom)
}

// repeats reports whether the decision is the same as an earlier refusal, except for its time.
func (d *Decision) repeats(earlier *Decision) bool {
	same := *d
	same.At, same.LeaveAt = earlier.At, earlier.LeaveAt
	return same == *earlier
}

// scratch is memory for decisions without effects.
type scratch struct {
	drafts   [MaxSets]Draft
	words    [MaxSets][64]uint64 // enough for most rows
	later    Request
	decision Decision
}

// scratches is a pool, so that a refusal from memory needs no new memory.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// judge judges a message by copies of the rows, and reports whether the decision changes any.
func (s *scratch) judge(rows []SeenRow, q *Request, d *Decision) (changed bool) {
	var drafts [MaxSets]*Draft
	var orders [MaxSets]map[string]int
	for i, r := range rows {
		s.drafts[i].load(r.Set, r.Row, q.At, s.words[i][:0])
		drafts[i], orders[i] = &s.drafts[i], r.Order
	}
	JudgeDrafts(drafts[:len(rows)], orders[:len(rows)], q, d)
	for _, draft := range drafts[:len(rows)] {
		changed = changed || draft.changed
	}
	return changed
}
