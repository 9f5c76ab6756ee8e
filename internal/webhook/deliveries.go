package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// Delivery is an event for a hook as people see it.
type Delivery struct {
	ID      int64     `json:"id"`
	Event   Kind      `json:"event"`
	Channel string    `json:"channel,omitempty"` // its login, or a room's name
	At      time.Time `json:"at"`                // when it happened
	Text    string    `json:"text"`
	Tries   int       `json:"tries"` // that have failed
	NextAt  time.Time `json:"next_at,omitzero"`
	DeadAt  time.Time `json:"dead_at,omitzero"` // when it was given up
	Reason  string    `json:"reason,omitempty"` // why the last try failed, or why it was given up
}

// maxShown is the maximum length of a delivery's text, in bytes.
const maxShown = 600

func (d *delivery) shown() Delivery {
	shown := Delivery{
		ID: d.ID, Event: d.event.Kind, At: d.event.At, Text: hostile.Clip(d.event.Text, maxShown),
		Tries: d.Tries, NextAt: d.NextAt, DeadAt: d.DeadAt, Reason: d.Reason,
	}
	if d.event.Channel != nil {
		shown.Channel = d.event.Channel.Login
	}
	return shown
}

// Deliveries returns a hook's waiting deliveries, oldest first, and its dead letters, newest first.
func (s *Sender) Deliveries(id string) (waiting, dead []Delivery, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(id)
	if err != nil {
		return nil, nil, err
	}
	waiting, dead = []Delivery{}, []Delivery{}
	for _, d := range q.waiting {
		waiting = append(waiting, d.shown())
	}
	for _, d := range slices.Backward(q.dead) {
		dead = append(dead, d.shown())
	}
	return waiting, dead, nil
}

// Resend puts a dead letter at the end of its hook's queue.
func (s *Sender) Resend(ctx context.Context, id string, number int64, author string) (saved bool, err error) {
	s.mu.Lock()
	q, i, err := s.findDead(id, number)
	switch {
	case err != nil:
	case q.state.Off != "":
		err = ErrOff
	case len(q.waiting) >= MaxWaiting:
		err = ErrFull
	}
	if err != nil {
		s.mu.Unlock()
		return false, err
	}
	old := q.dead[i]
	q.dead = slices.Delete(q.dead, i, i+1)
	s.opts.Store.DeleteWebhookDelivery(old.ID)
	s.enqueue(q, old.event, old.Event) // a new number keeps the order after a restart
	s.mu.Unlock()
	return s.record(ctx, author, journal.WebhookDetail{Name: q.Name, Did: "sent again", Event: string(old.event.Kind)})
}

// Discard removes a dead letter.
func (s *Sender) Discard(ctx context.Context, id string, number int64, author string) (saved bool, err error) {
	s.mu.Lock()
	q, i, err := s.findDead(id, number)
	if err != nil {
		s.mu.Unlock()
		return false, err
	}
	old := q.dead[i]
	q.dead = slices.Delete(q.dead, i, i+1)
	s.opts.Store.DeleteWebhookDelivery(old.ID)
	s.mu.Unlock()
	return s.record(ctx, author, journal.WebhookDetail{Name: q.Name, Did: "discarded", Event: string(old.event.Kind)})
}

// findDead returns the queue that has a dead letter, and the letter's index in q.dead. The caller
// holds mu.
func (s *Sender) findDead(id string, number int64) (q *queue, i int, err error) {
	if q, err = s.find(id); err != nil {
		return nil, 0, err
	}
	if i = slices.IndexFunc(q.dead, func(d *delivery) bool { return d.ID == number }); i < 0 {
		return nil, 0, ErrNoDelivery
	}
	return q, i, nil
}
