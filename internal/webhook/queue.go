package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

const (
	// MaxWaiting is the maximum number of deliveries that wait for a hook. If there are more, the
	// oldest becomes a dead letter.
	MaxWaiting = 256
	// MaxDead is the maximum number of dead letters of a hook. If there are more, the oldest is
	// removed.
	MaxDead = 200

	// MaxTries is how often a delivery is tried before it becomes a dead letter, and MaxAge how old
	// it may become.
	MaxTries = 10
	MaxAge   = 24 * time.Hour

	// The pauses after failed tries: the first one, the factor from one to the next, and the
	// longest. With ten tries, they last about two and a half hours.
	firstPause  = 5 * time.Second
	pauseFactor = 4
	mostPause   = 30 * time.Minute
)

// queue is a hook with its deliveries. The Sender's mu guards it.
type queue struct {
	Hook
	// isAbsent means that the hook was deleted, or removed from the configuration; it receives
	// nothing.
	isAbsent bool
	state    hookState
	waiting  []*delivery // oldest first
	dead     []*delivery // oldest first
	flying   *delivery   // whose request is in progress; nil if there is none

	failures  int       // tries that have failed since the last success
	notBefore time.Time // of the next try, by the steady clock

	wake chan struct{}      // has an element if the goroutine should look again; nil before the first
	busy chan struct{}      // has an element while a request is in progress
	stop context.CancelFunc // ends the goroutine; nil if there is none
}

// hookState is what is known about a hook. It is stored as JSON.
type hookState struct {
	SuccessAt time.Time `json:"success_at,omitzero"` // last delivery
	FailureAt time.Time `json:"failure_at,omitzero"` // last failed try
	Failure   string    `json:"failure,omitempty"`   // its reason
	// Off is why nothing is sent any more; empty if the hook is on. OffAddress identifies the
	// address that was switched off.
	Off        string `json:"off,omitempty"`
	OffAddress string `json:"off_address,omitempty"`
	Removed    int    `json:"removed,omitempty"` // dead letters that had no room
}

// delivery is an event for a hook.
type delivery struct {
	journal.WebhookDelivery
	event Event
}

func newQueue(h Hook) *queue {
	return &queue{Hook: h, busy: make(chan struct{}, 1)}
}

// fingerprint identifies an address without containing it.
func fingerprint(a Address) string {
	sum := sha256.Sum256([]byte(a))
	return hex.EncodeToString(sum[:8])
}

// resume makes a restored queue wait as long as the earlier process would have, but at most
// mostWait: the clock may have changed.
func (q *queue) resume(now, steady time.Time) {
	if len(q.waiting) == 0 {
		return
	}
	first := q.waiting[0]
	q.failures = first.Tries
	if wait := first.NextAt.Sub(now); !first.NextAt.IsZero() && wait > 0 {
		q.notBefore = steady.Add(min(wait, mostWait))
	}
}

// look makes the goroutine look at the queue again. It never blocks.
func (q *queue) look() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// hurry ends the pause before the next try.
func (q *queue) hurry() {
	q.failures, q.notBefore = 0, time.Time{}
	for _, d := range q.waiting {
		d.NextAt = time.Time{}
	}
	q.look()
}

// halt ends the goroutine.
func (q *queue) halt() {
	if q.stop != nil {
		q.stop()
		q.stop = nil
	}
}

// pause returns the pause after a number of failed tries in a row. It varies by a fifth, so that
// many programs don't come back at once.
func pause(failures int) time.Duration {
	length := firstPause
	for range failures - 1 {
		if length *= pauseFactor; length >= mostPause {
			length = mostPause
			break
		}
	}
	return time.Duration(float64(length) * (0.8 + 0.4*rand.Float64()))
}

// enqueue adds an event, whose JSON is text, to a queue. The caller holds mu.
func (s *Sender) enqueue(q *queue, e Event, text string) {
	s.last++
	d := &delivery{event: e, WebhookDelivery: journal.WebhookDelivery{ID: s.last, WebhookID: q.ID, QueuedAt: s.opts.Now().UTC(), Event: text}}
	if q.state.Off != "" {
		s.bury(q, d, "the webhook is switched off")
		s.store(q)
		return
	}
	if len(q.waiting) >= MaxWaiting {
		oldest := 0
		if q.waiting[0] == q.flying {
			oldest = 1
		}
		full := q.waiting[oldest]
		q.waiting = slices.Delete(q.waiting, oldest, oldest+1)
		s.bury(q, full, fmt.Sprintf("%d newer deliveries were waiting", MaxWaiting))
	}
	q.waiting = append(q.waiting, d)
	s.opts.Store.PutWebhookDelivery(d.WebhookDelivery)
	q.look()
}

// bury makes a delivery a dead letter. The caller has removed it from the waiting ones, and holds
// mu.
func (s *Sender) bury(q *queue, d *delivery, reason string) {
	d.DeadAt, d.NextAt, d.Reason = s.opts.Now().UTC(), time.Time{}, reason
	q.dead = append(q.dead, d)
	s.opts.Store.PutWebhookDelivery(d.WebhookDelivery)
	if len(q.dead) > MaxDead {
		s.opts.Store.DeleteWebhookDelivery(q.dead[0].ID)
		q.dead = slices.Delete(q.dead, 0, 1)
		q.state.Removed++
		s.store(q)
	}
}
