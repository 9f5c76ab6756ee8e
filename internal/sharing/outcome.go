package sharing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/shared"
)

// finish handles the outcome of the swap. It returns false if the batch must be tried again, on the
// rows that the store has.
func (b *batch) finish(s *Rows, now int64) (decided bool) {
	b.answered = b.swap.Err == nil
	switch swap := &b.swap; {
	case swap.Done && b.restores:
		s.counters.swaps.Add(1)
		b.finishRestore(s, now)
		return true
	case swap.Done:
		s.counters.swaps.Add(1)
		b.confirm(s, now)
		return true
	case swap.Err != nil:
		b.fail(s, swap.Err, swap.Unknown, now)
		return true
	case swap.Unknown && !b.restores && b.writes() && b.maybeSwapped(s):
		// Count the messages once: as they were decided.
		for i := range b.rows {
			_ = b.rows[i].observe(s, swap.Rows[i].Now, now) // a row that can't be read is noticed at the next message
		}
		b.release()
		return true
	}
	s.counters.conflicts.Add(1)
	b.unstage(false)
	lost := false
	for i := range b.rows {
		r := &b.rows[i]
		if err := r.observe(s, b.swap.Rows[i].Now, now); err != nil {
			s.counters.setProblem(r.ref.key, err)
			if b.splitOff(s, i) {
				return !b.begin(s, now)
			}
			b.unreadable = true
			b.fail(s, fmt.Errorf("chatguard: the row of channel %q, user %q can't be read, and isn't changed: %w", r.ref.key.ChannelID, r.ref.key.UserID, err), false, now)
			return true
		}
		lost = lost || r.lost
	}
	if lost {
		b.restores = s.noteLoss(now)
	}
	// The store has returned all rows as they were at the same moment. A decision that changes none
	// of them needs no other round trip, unless a notice has come since.
	if b.decide(s, now, false); b.changes() || !b.isObserved() {
		return false
	}
	if b.restores {
		b.finishRestore(s, now)
	} else {
		b.confirm(s, now)
	}
	return true
}

// finishRestore records that the store has the batch's rows again. Another node may know later
// writes of them, and restores these. Until all nodes have done so, the batch's messages are decided
// as if the store were away, and nothing that is owed is paid back.
func (b *batch) finishRestore(s *Rows, now int64) {
	for i := range b.rows {
		b.rows[i].restore(s, now)
	}
	if b.requests[0].reconciles {
		b.release()
		return
	}
	b.decideOffline(s, errSettling)
}

// settleFor is how long after a loss nodes restore rows, and change none of those that they have
// restored.
const settleFor = time.Second

// noteLoss notes that the store has lost writes. It returns false if the nodes have had the time to
// restore them.
func (s *Rows) noteLoss(now int64) bool {
	const sameLoss = 10 * settleFor
	if at := s.lost.Load(); at == 0 || now-at > int64(sameLoss) || now < at {
		s.lost.CompareAndSwap(at, now)
	}
	return s.isSettling(s.lost.Load(), now)
}

// isSettling reports whether nodes still restore rows after a loss; 0 is none.
func (s *Rows) isSettling(loss, now int64) bool {
	return loss != 0 && loss == s.lost.Load() && now-loss < int64(settleFor) && now >= loss
}

// rowError is a [shared.ErrAway] that concerns some rows only: the store answers.
type rowError string

func (e rowError) Error() string { return string(e) }

func (rowError) Is(target error) bool { return target == shared.ErrAway }

const (
	errSettling rowError = "chatguard: the shared store has lost rows, which the nodes are restoring: try again in a second"
	errBusy     rowError = "chatguard: other nodes change the same row all the time: try again"
)

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
	b.requests, b.rows, b.restores = others, b.firstRows[:0], false
	offline := batch{requests: using, unreadable: true}
	offline.decideOffline(s, shared.ErrAway)
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
// rows now. If it isn't known, an edit gets an error, and messages are decided as if the store were
// away.
func (b *batch) maybeSwapped(s *Rows) bool {
	for i := range b.rows {
		r := &b.rows[i]
		if r.next == nil {
			continue
		}
		if yes, known := limits.WritesOf(b.swap.Rows[i].Now).Include(r.next.Writes().Stamp); known {
			return yes
		}
	}
	s.counters.assume(true)
	for _, req := range b.requests {
		if req.offline = true; req.edit != nil && req.err == nil {
			req.err = unconfirmed(errOvertaken)
		}
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
	if b.unstage(unknown); b.restores {
		b.decideOffline(s, err)
		return
	}
	defer b.lockDeciding(s)()
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
		b.rows[i].recordOffline(s, unknown, b.requests[0])
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

// decideOffline decides a batch without asking the store. The error says why.
func (b *batch) decideOffline(s *Rows, err error) {
	defer b.lockDeciding(s)()
	b.restores = false
	now := s.Now().UnixNano()
	b.decide(s, now, true)
	b.recordOffline(s, err, false, now)
}

// lockDeciding keeps other batches of the flight from deciding without the store at the same time.
// They would make each other decide again.
func (b *batch) lockDeciding(s *Rows) (unlock func()) {
	mu := &s.known.stripe(b.requests[0].refs[0].flight).deciding
	mu.Lock()
	return mu.Unlock
}
