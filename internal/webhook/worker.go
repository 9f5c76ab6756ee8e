package webhook

import (
	"context"
	"slices"
	"time"
)

// finishTime is how long a request in progress may take after the Sender's end.
const finishTime = 3 * time.Second

// work sends the deliveries of a hook until ctx ends. wake makes it look at the queue again.
func (s *Sender) work(ctx context.Context, q *queue, wake <-chan struct{}) {
	for ctx.Err() == nil {
		d, wait := s.next(q)
		switch {
		case d == nil:
			select {
			case <-wake:
			case <-ctx.Done():
			}
		case wait > 0:
			select {
			case <-s.opts.After(wait):
			case <-wake:
			case <-ctx.Done():
			}
		default:
			s.try(ctx, q, d)
		}
	}
}

// next returns the oldest delivery, or nil, and how long to wait before the next try.
func (s *Sender) next(q *queue) (d *delivery, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil, 0
	}
	return q.waiting[0], q.notBefore.Sub(s.opts.Steady())
}

// try sends a delivery once, unless it no longer is the next one.
func (s *Sender) try(ctx context.Context, q *queue, d *delivery) {
	select {
	case q.busy <- struct{}{}:
		defer func() { <-q.busy }()
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	if len(q.waiting) == 0 || q.waiting[0] != d || q.notBefore.After(s.opts.Steady()) {
		s.mu.Unlock()
		return
	}
	q.flying = d
	h := q.Hook
	s.mu.Unlock()

	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(finishTime, cancel) })
	defer stop()
	o := s.client.send(asking, h, &d.event)

	s.mu.Lock()
	defer s.mu.Unlock()
	q.flying = nil
	if asking.Err() == nil {
		s.settle(q, d, o.since(h, q.Hook))
	}
}

// settle records the outcome of a try, and plans the next one or ends the delivery. The caller
// holds mu.
func (s *Sender) settle(q *queue, d *delivery, o outcome) {
	s.note(q, o, false)
	d.Tries++
	isDone := func(other *delivery) bool { return other == d }
	switch {
	case o.fate == switchOff: // note has buried all
	case o.fate == delivered:
		q.waiting = s.forget(q.waiting, isDone)
	case o.fate == undeliverable || d.Tries >= MaxTries:
		s.giveUp(q, o.reason, isDone)
	case slices.Contains(q.waiting, d): // unless a person has removed it
		d.Reason, d.NextAt = o.reason, s.opts.Now().Add(q.notBefore.Sub(s.opts.Steady())).UTC()
		s.opts.Store.PutWebhookDelivery(d.WebhookDelivery)
	}
	if o.fate != delivered {
		oldest := s.opts.Now().Add(-MaxAge)
		s.giveUp(q, o.reason, func(other *delivery) bool { return other.QueuedAt.Before(oldest) })
	}
}

// giveUp makes dead letters of the waiting deliveries for which isWanted returns true. The caller
// holds mu.
func (s *Sender) giveUp(q *queue, reason string, isWanted func(*delivery) bool) {
	var given []*delivery
	q.waiting = slices.DeleteFunc(q.waiting, func(d *delivery) bool {
		gone := isWanted(d)
		if gone {
			given = append(given, d)
		}
		return gone
	})
	for _, d := range given {
		s.bury(q, d, reason)
	}
	if len(given) > 0 {
		s.opts.Log.Warn("deliveries of a webhook were given up: the dashboard lists them", "webhook", q.Name, "deliveries", len(given), "reason", reason)
	}
}

// note updates the state of a hook after a request to it. A failed test doesn't delay deliveries,
// unless the server asks for it. The caller holds mu.
func (s *Sender) note(q *queue, o outcome, isTest bool) {
	now, steady := s.opts.Now().UTC(), s.opts.Steady()
	defer s.store(q)
	if o.fate == delivered {
		if q.failures > 0 {
			s.opts.Log.Info("a webhook works again", "webhook", q.Name)
		}
		q.state.SuccessAt, q.state.Off, q.state.OffAddress = now, "", ""
		q.hurry()
		q.notBefore = steady.Add(o.wait)
		return
	}
	q.state.FailureAt, q.state.Failure = now, o.reason
	wait := o.wait
	if !isTest {
		if q.failures++; q.failures == 1 {
			s.opts.Log.Warn("a webhook fails", "webhook", q.Name, "reason", o.reason)
		}
		wait = max(wait, pause(q.failures))
	}
	if until := steady.Add(wait); until.After(q.notBefore) {
		q.notBefore = until
	}
	if o.fate == switchOff {
		q.state.Off, q.state.OffAddress = o.reason, fingerprint(q.Address)
		s.opts.Log.Error("a webhook was switched off", "webhook", q.Name, "reason", o.reason)
		s.giveUp(q, o.reason, func(*delivery) bool { return true })
	}
}
