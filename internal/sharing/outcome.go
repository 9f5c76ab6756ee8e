package sharing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// finish handles the outcome of the swap. It returns false if the batch must be tried again, on the
// rows that the store has.
func (b *batch) finish(s *Rows, now int64) (decided bool) {
	switch swap := &b.swap; {
	case swap.Done:
		s.counters.swaps.Add(1)
		b.confirm(s, now)
		return true
	case swap.Err != nil:
		b.fail(s, swap.Err, swap.Unknown, now)
		return true
	case swap.Unknown && b.maybeSwapped():
		// Count the messages once: as they were decided.
		for i := range b.rows {
			_ = b.rows[i].observe(swap.Rows[i].Now, now) // a row that can't be read is noticed at the next message
		}
		b.release()
		return true
	}
	s.counters.conflicts.Add(1)
	b.unstage(false)
	for i := range b.rows {
		r := &b.rows[i]
		if err := r.observe(b.swap.Rows[i].Now, now); err != nil {
			s.counters.setProblem(r.ref.key, err)
			if b.splitOff(s, i) {
				return !b.begin(s, now)
			}
			b.unreadable = true
			b.fail(s, fmt.Errorf("chatguard: the row of channel %q, user %q can't be read, and isn't changed: %w", r.ref.key.ChannelID, r.ref.key.UserID, err), false, now)
			return true
		}
	}
	// The store has returned all rows as they were at the same moment. A decision that changes none
	// of them needs no other round trip, unless a notice has come since.
	if b.decide(s, now, false); b.changes() || !b.isObserved() {
		return false
	}
	b.confirm(s, now)
	return true
}

// splitOff decides the messages that use an unreadable row, without the store. If all messages of
// the batch use it, splitOff returns false and does nothing.
func (b *batch) splitOff(s *Rows, row int) bool {
	var using, others []*request
	for _, req := range b.requests {
		if slices.Contains(req.at[:len(req.refs)], row) {
			using = append(using, req)
		} else {
			others = append(others, req)
		}
	}
	if len(others) == 0 {
		return false
	}
	b.release()
	b.requests, b.rows = others, b.firstRows[:0]
	offline := batch{requests: using, unreadable: true}
	offline.decideOffline(s)
	return true
}

// confirm records that the store has the rows as the batch leaves them. now is a time before the
// store's reply.
func (b *batch) confirm(s *Rows, now int64) {
	for i := range b.rows {
		b.rows[i].confirm(s, now)
	}
	b.release()
}

// maybeSwapped reports whether the swap has happened, or may have, although the store has other
// rows now. An edit that may have happened gets an error.
func (b *batch) maybeSwapped() bool {
	for i := range b.rows {
		r := &b.rows[i]
		if r.next == nil {
			continue
		}
		if yes, known := limits.WritesOf(b.swap.Rows[i].Now).Include(r.next.Writes().Stamp); known {
			return yes
		}
	}
	if req := b.requests[0]; req.edit != nil && req.err == nil {
		req.err = unconfirmed(errOvertaken)
	}
	return true
}

// unconfirmed returns the error of a change by hand that may have been made. It isn't ErrAway, even
// if the cause is.
func unconfirmed(cause error) error {
	return fmt.Errorf("%w (%s)", shared.ErrUnconfirmed, strings.TrimPrefix(cause.Error(), "chatguard: "))
}

var errOvertaken = errors.New("other nodes have changed the row since")

// fail decides the batch without the store. The error says why; unknown means that the swap may
// have happened.
func (b *batch) fail(s *Rows, err error, unknown bool, now int64) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	b.unstage(unknown)
	b.recordOffline(s, err, unknown, now)
}

// isCurrent reports whether what is known of the rows is what the batch was decided on. Their
// stripes must be locked.
func (b *batch) isCurrent() bool {
	return !slices.ContainsFunc(b.rows, func(r rowDraft) bool { return r.known.version != r.version })
}

// lockStripes locks the stripes of the batch's rows, for a decision without the store. Nothing else
// holds more than one stripe's lock at a time.
func (b *batch) lockStripes(s *Rows) (unlock func()) {
	var uses [stripeCount]bool
	for i := range b.rows {
		uses[b.rows[i].known.stripe.index] = true
	}
	for i := range s.known.stripes {
		if uses[i] {
			s.known.stripes[i].mu.Lock()
		}
	}
	return func() {
		for i := range s.known.stripes {
			if uses[i] {
				s.known.stripes[i].mu.Unlock()
			}
		}
	}
}

// recordOffline records in the rows what the batch spends without the store. If what is known of
// them has changed, it decides again, unless the swap may have happened: then the decision may
// count already.
func (b *batch) recordOffline(s *Rows, err error, unknown bool, now int64) {
	unlock := b.lockStripes(s)
	for !unknown && !b.isCurrent() {
		unlock()
		b.decide(s, now, true)
		unlock = b.lockStripes(s)
	}
	b.recordSpent()
	for i := range b.rows {
		b.rows[i].recordOffline(unknown, b.requests[0].edit == nil)
	}
	unlock()
	for _, req := range b.requests {
		req.offline = true
		switch {
		case req.edit == nil || req.readOnly:
			if b.unreadable {
				s.counters.unreadable.Add(1)
			} else {
				s.counters.offline.Add(1)
			}
			req.err = err
		case req.err == nil && unknown:
			req.err = unconfirmed(err)
		case req.err == nil:
			req.err = err
		}
	}
	b.release()
}

// recordSpent records in each row what the batch's messages have spent.
func (b *batch) recordSpent() {
	for _, req := range b.requests {
		d := &req.decision
		spent := limits.Spent{At: d.At, N: max(0, d.Taken), Roles: req.message.Roles, Zone: req.message.Zone}
		if !d.Allowed && d.Counted > 0 {
			spent.Charged = req.message.Cost
		}
		if req.edit != nil || spent.IsZero() {
			continue
		}
		for i := range req.refs {
			r := &b.rows[req.at[i]]
			r.spent = append(r.spent, spent)
		}
	}
}

// decideOffline decides a batch without asking the store.
func (b *batch) decideOffline(s *Rows) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	now := s.Now().UnixNano()
	b.decide(s, now, true)
	b.recordOffline(s, shared.ErrAway, false, now)
}
