package limits

import "time"

// clockJump is how far a message may lie before the last one that its author spent at and still count as late. Beyond it, the clock has jumped.
const clockJump = int64(time.Minute)

// Request is what a decision needs to know of a message.
type Request struct {
	At    int64 // nanoseconds since the Unix epoch, from 0 and before MaxTime
	Cost  int64 // 1 or more
	Roles uint8 // a bit for each role
}

// Decision is what was decided, and on what grounds. Times are nanoseconds since the Unix epoch.
type Decision struct {
	Allowed   bool
	Limit     int   // place of the limit that throttles; when all allow, of the one with the least remaining. -1 without limits
	Remaining int64 // messages of cost 1 that this limit would still take
	RetryAt   int64 // when the request would be allowed; Never where no waiting helps
	ResetAt   int64 // when that limit will have forgotten everything
	Strikes   int   // after a throttled message
	NewStrike bool  // the message gave a strike
}

// judge decides on a request and writes the consequences into the row, and says whether there were any: the only place where state is
// read and spent.
// All limits are looked at first; only when every one allows does each one spend.
func (s *Set) judge(row []uint64, q Request) (d Decision, changed bool) {
	rules := s.rulesFor(q.Roles)
	at := q.At
	switch last := int64(row[wordLast]); {
	case at < last-clockJump:
		s.rewind(row, rules, at)
		changed = true
	case at < last:
		at = last // a late message counts as of now
	}
	d = Decision{Allowed: true, Limit: -1, RetryAt: at}
	if limit, ready := s.ready(row, rules, at, q.Cost); ready > at {
		d.Allowed, d.RetryAt = false, ready
		d.Strikes, d.NewStrike = s.strike(row, at)
		s.report(&d, row, rules, limit, at)
		return d, changed || d.NewStrike
	}
	for i := range rules {
		rules[i].spend(&rules[i], s.state(row, i), at, q.Cost)
	}
	row[wordLast] = uint64(at)
	setRoles(row, q.Roles&maxRoles)
	for i := range rules {
		s.report(&d, row, rules, i, at)
	}
	return d, true
}

// ready returns the first time from at on at which all limits allow the cost, and the limit with the longest wait (in ties the first).
func (s *Set) ready(row []uint64, rules []Rule, at, cost int64) (limit int, ready int64) {
	for {
		longest := at
		for i := range rules {
			if t := rules[i].next(&rules[i], s.state(row, i), at, cost); t > longest {
				limit, longest = i, t
			}
		}
		if longest == at || longest == Never {
			return limit, longest
		}
		at = longest // then another limit may stand in the way: look again
	}
}

// report makes limit i the one that the decision speaks of, if it has less left than the one so far.
func (s *Set) report(d *Decision, row []uint64, rules []Rule, i int, at int64) {
	remaining, resetAt := rules[i].level(&rules[i], s.state(row, i), at)
	if d.Limit < 0 || remaining < d.Remaining {
		d.Limit, d.Remaining, d.ResetAt = i, remaining, resetAt
	}
}

// rewind takes the row along when the clock has jumped back to at.
func (s *Set) rewind(row []uint64, rules []Rule, at int64) {
	row[wordLast] = uint64(at)
	row[wordStrikeAt] = uint64(min(int64(row[wordStrikeAt]), at))
	for i := range rules {
		rules[i].rewind(&rules[i], s.state(row, i), at)
	}
}

// strike counts a throttled message against its author.
func (s *Set) strike(row []uint64, at int64) (strikes int, isNew bool) {
	since := at - int64(row[wordStrikeAt])
	if since < -clockJump {
		row[wordStrikeAt] = uint64(at) // the clock has jumped back since
	}
	since = max(0, since)
	count := strikeCount(row)
	if count > 0 && s.strikes.Forget > 0 && since >= int64(s.strikes.Forget) {
		count = 0
	}
	if isNew = count == 0 || since >= int64(s.strikes.Every); isNew {
		count = min(count+1, maxStrikes)
		row[wordStrikeAt] = uint64(at)
	}
	setStrikeCount(row, count)
	return count, isNew
}
