package sharing

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// User is the author of a message, and the rows that the message uses.
type User struct {
	ID string
	// Order maps the names of the limits that count in all channels to their policy indexes.
	Order map[string]int
	Texts []string // keys of the rows of repeated text
}

// Judge judges a message of a user in a channel. offline reports whether the decision was made
// without the store. The error is the context's, if the context ends while another goroutine
// decides the message. The cost is then still spent if the message is allowed.
func (s *Rows) Judge(ctx context.Context, clock Reading, c *Channel, user User, q *limits.Request, d *limits.Decision) (offline bool, err error) {
	c.use(clock.Now.UnixNano())
	if only := s.scopes.onlyScope(c); only != nil && s.repeatRefusal(clock, Key{c.id, user.ID}, only.set, q, d) {
		return false, nil
	}
	r := newRequest(q, clock)
	if r.refs = s.scopes.refs(r.refs, c, user); !s.judgeFromMemory(clock, r.refs, q, &r.decision) {
		if err := s.decide(ctx, r); err != nil {
			return false, err // the request is still being decided
		}
	}
	*d, offline = r.decision, r.offline
	r.free()
	return offline, nil
}

// BatchSize is the maximum number of messages that JudgeAll judges.
const BatchSize = 16

// Outcome is what JudgeAll says about a message besides the decision.
type Outcome struct {
	Offline   bool // the decision was made without the store
	Abandoned bool // the context has ended, and another goroutine is deciding the message
}

// JudgeAll judges messages of a channel, like Judge. The users are those of the cases. Messages
// that are abandoned have no decision. If there are any, the error is the context's.
func (s *Rows) JudgeAll(ctx context.Context, c *Channel, users []User, cases []limits.Case, outcomes []Outcome) error {
	var requests, open [BatchSize]*request
	n, clock := 0, s.Read()
	c.use(clock.Now.UnixNano())
	for i := range cases {
		each := &cases[i]
		r := newRequest(&each.Request, clock)
		requests[i], r.refs = r, s.scopes.refs(r.refs, c, users[i])
		if !s.judgeFromMemory(clock, r.refs, &r.message, &r.decision) {
			open[n] = r
			n++
		}
	}
	err := s.decideAll(ctx, open[:n])
	for i := range cases {
		r := requests[i]
		if outcomes[i].Abandoned = r.abandoned; !r.abandoned {
			outcomes[i].Offline, cases[i].Decision = r.offline, r.decision
			r.free()
		}
	}
	return err
}

// repeatRefusal fills in the decision on a message that uses only one row, if the row's last
// refusal certainly holds for it, too. It is the quickest way to refuse.
func (s *Rows) repeatRefusal(clock Reading, key Key, set *limits.Set, q *limits.Request, d *limits.Decision) bool {
	if clock.Skew >= time.Second {
		return false
	}
	t := s.known.stripe(key)
	t.mu.Lock()
	known := t.find(key)
	ok := known.isCertain(clock.Now.UnixNano()) && known.refusal.repeat(set, q, int64(clock.Skew), d)
	t.mu.Unlock()
	if ok {
		s.counters.fromMemory.Add(1)
	}
	return ok
}

// judgeFromMemory judges a message by the known rows, and reports whether the decision is certain.
func (s *Rows) judgeFromMemory(clock Reading, refs []rowRef, q *limits.Request, d *limits.Decision) bool {
	if clock.Skew >= time.Second {
		return false
	}
	var room [limits.MaxSets]limits.SeenRow
	rows := room[:len(refs)]
	for i, ref := range refs {
		t := s.known.stripe(ref.key)
		t.mu.Lock()
		known := t.find(ref.key)
		ok := known.isCertain(clock.Now.UnixNano()) && known.row.ReadWith(ref.set)
		if ok {
			rows[i] = limits.SeenRow{Set: ref.set, Row: known.row, Order: ref.order}
		}
		t.mu.Unlock()
		if !ok {
			return false
		}
		if i == 0 && q.Exempt && len(refs) > 1 { // the user's own row may suffice
			if limits.IsFrozen(rows[:1], q, d, int64(clock.Skew)); d.Exempt {
				s.counters.fromMemory.Add(1)
				return true
			}
		}
	}
	until, frozen := limits.IsFrozen(rows, q, d, int64(clock.Skew))
	if !frozen {
		return false
	}
	s.counters.fromMemory.Add(1)
	if until > 0 && len(refs) == 1 {
		s.known.rememberRefusal(refs[0], rows[0].Row, q, d, until)
	}
	return true
}

// rememberRefusal remembers a refusal by a row, unless the row has changed since.
func (rows *knownRows) rememberRefusal(ref rowRef, row *limits.Row, q *limits.Request, d *limits.Decision, until int64) {
	t := rows.stripe(ref.key)
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.rows[ref.key]; known != nil && known.row == row {
		known.refusal = &refusal{set: ref.set, roles: q.Roles, zone: q.Zone, exempt: q.Exempt, from: q.At, to: until, decision: *d}
	}
}
