package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// Status is a hook as people see it. Its JSON has neither the whole address nor the secret.
type Status struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Address      Address  `json:"address"` // in JSON, the host and the last characters
	Format       Format   `json:"format"`
	Events       []Kind   `json:"events"`
	Channels     []string `json:"channels"`
	AllowPrivate bool     `json:"allow_private"`
	IsConfigured bool     `json:"configured"` // only the configuration can change it

	Off       string    `json:"off,omitempty"` // why nothing is sent any more
	SuccessAt time.Time `json:"success_at,omitzero"`
	FailureAt time.Time `json:"failure_at,omitzero"`
	Failure   string    `json:"failure,omitempty"` // the reason of the last failure
	Waiting   int       `json:"waiting"`
	NextAt    time.Time `json:"next_at,omitzero"` // of the next try, if the last one failed
	Dead      int       `json:"dead"`
	Removed   int       `json:"removed,omitempty"` // dead letters that had no room
}

// status returns a hook as people see it. The caller holds mu.
func (q *queue) status() Status {
	st := Status{
		ID: q.ID, Name: q.Name, Address: q.Address, Format: q.Format, Events: append([]Kind{}, q.Events...), Channels: append([]string{}, q.Channels...),
		AllowPrivate: q.AllowPrivate, IsConfigured: q.IsConfigured,
		Off: q.state.Off, SuccessAt: q.state.SuccessAt, FailureAt: q.state.FailureAt, Failure: q.state.Failure,
		Waiting: len(q.waiting), Dead: len(q.dead), Removed: q.state.Removed,
	}
	if len(q.waiting) > 0 {
		st.NextAt = q.waiting[0].NextAt
	}
	return st
}

// List returns all hooks: those of the configuration first, each part by name.
func (s *Sender) List() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Status{}
	for _, q := range s.sorted() {
		list = append(list, q.status())
	}
	return list
}

// The errors of the methods below, besides sentences about what is wrong with a hook.
var (
	ErrNoHook     = errors.New("there is no such webhook")
	ErrNoDelivery = errors.New("there is no such delivery: it was sent or removed meanwhile")
	ErrConfigured = errors.New("this webhook is in the configuration: change it there")
	ErrOff        = errors.New("the webhook is switched off: a test that arrives switches it on again")
	ErrFull       = fmt.Errorf("%d deliveries wait already: try again when some have been sent", MaxWaiting)
	ErrBusy       = errors.New("a request to this webhook is still in progress: try again in a few seconds")
)

// InvalidError says, as a sentence for people, why a hook can't be as wanted.
type InvalidError struct{ err error }

func (e *InvalidError) Error() string { return e.err.Error() }

// Wanted is a hook as a person wants it.
type Wanted struct {
	Name     string
	Address  Address // empty keeps the present one
	Format   Format
	Events   []Kind
	Channels []string
	// NewSecret replaces the secret. A hook whose format is Signed also gets a new secret if it has
	// none, or if its address changes, because the former receiver knows the former secret.
	NewSecret bool
}

// Changed is the result of adding or changing a hook.
type Changed struct {
	Hook   Status
	Secret string // the new secret, which is shown only now; empty if there is none
	Saved  bool   // false: in force, but not written yet
}

// Add adds a hook.
func (s *Sender) Add(ctx context.Context, w Wanted, author string) (Changed, error) {
	s.mu.Lock()
	made := 0
	for _, q := range s.hooks {
		if !q.IsConfigured {
			made++
		}
	}
	if made >= maxHooks {
		s.mu.Unlock()
		return Changed{}, &InvalidError{fmt.Errorf("there are already %d webhooks: delete one first, or put them into the configuration", maxHooks)}
	}
	return s.change(ctx, Hook{ID: strings.ToLower(rand.Text()[:12])}, w, author, "added")
}

// Change changes a hook that isn't of the configuration.
func (s *Sender) Change(ctx context.Context, id string, w Wanted, author string) (Changed, error) {
	s.mu.Lock()
	q, err := s.own(id)
	if err != nil {
		s.mu.Unlock()
		return Changed{}, err
	}
	return s.change(ctx, q.Hook, w, author, "changed")
}

// change gives a hook the wanted settings and stores it. The caller holds mu, which change
// releases.
func (s *Sender) change(ctx context.Context, h Hook, w Wanted, author, did string) (done Changed, err error) {
	h.Name, h.Format, h.Events, h.Channels = w.Name, w.Format, slices.Clone(w.Events), slices.Clone(w.Channels)
	moved := w.Address != "" && w.Address != h.Address
	if moved {
		h.Address = w.Address
	}
	switch {
	case h.Format != Signed:
		h.Secret = ""
	case h.Secret == "" || w.NewSecret || moved:
		h.Secret = NewSecret()
		done.Secret = string(h.Secret)
	}
	if err = h.Check(); err == nil && slices.ContainsFunc(s.sorted(), func(q *queue) bool { return q.ID != h.ID && q.Name == h.Name }) {
		err = errors.New("another webhook has this name: choose another one")
	}
	if err != nil {
		s.mu.Unlock()
		return Changed{}, &InvalidError{err}
	}
	done.Hook = s.put(h).status()
	s.mu.Unlock()
	detail := journal.WebhookDetail{Name: h.Name, Did: did, Host: h.Address.Host(), Format: string(h.Format), NewSecret: done.Secret != "" && did != "added"}
	for _, kind := range h.Events {
		detail.Events = append(detail.Events, string(kind))
	}
	done.Saved, err = s.record(ctx, author, detail)
	return done, err
}

// Remove removes a hook that isn't of the configuration, with its deliveries.
func (s *Sender) Remove(ctx context.Context, id, author string) (saved bool, err error) {
	s.mu.Lock()
	q, err := s.own(id)
	if err != nil {
		s.mu.Unlock()
		return false, err
	}
	lost := len(q.waiting) + len(q.dead)
	all := func(*delivery) bool { return true }
	q.waiting, q.dead = s.forget(q.waiting, all), s.forget(q.dead, all)
	q.halt()
	q.isAbsent = true // a request may be in progress
	delete(s.hooks, id)
	s.opts.Store.DeleteWebhook(id)
	s.mu.Unlock()
	return s.record(ctx, author, journal.WebhookDetail{Name: q.Name, Did: "deleted", Deliveries: &lost})
}

// own returns a hook that people may change. The caller holds mu.
func (s *Sender) own(id string) (*queue, error) {
	q, err := s.find(id)
	if err == nil && q.IsConfigured {
		return nil, ErrConfigured
	}
	return q, err
}

// find returns a hook. The caller holds mu.
func (s *Sender) find(id string) (*queue, error) {
	if q := s.hooks[id]; q != nil && !q.isAbsent {
		return q, nil
	}
	return nil, ErrNoHook
}

// record adds a change to the audit log.
func (s *Sender) record(ctx context.Context, author string, detail journal.WebhookDetail) (saved bool, err error) {
	return s.opts.Store.Record(ctx, journal.Audit{At: s.opts.Now().UTC(), Author: author, Action: journal.WebhookChanged, Detail: detail})
}

// Tested is the result of a test.
type Tested struct {
	Delivered bool   `json:"delivered"`
	Status    int    `json:"status,omitempty"` // of the server's answer; 0 if there was none
	Problem   string `json:"problem,omitempty"`
	// Answer is the beginning of what the server answered. It is empty for a hook that may go to
	// private addresses.
	Answer string `json:"answer,omitempty"`
	TookMS int64  `json:"took_ms"`
	Hook   Status `json:"webhook"`
}

// Test sends a test to a hook, and returns what happened. A test is tried once and never waits in
// the queue. If it arrives, the hook is on, and waiting deliveries follow at once.
func (s *Sender) Test(ctx context.Context, id, author string) (done Tested, err error) {
	s.mu.Lock()
	q, err := s.find(id)
	s.mu.Unlock()
	if err != nil {
		return done, err
	}
	select {
	case q.busy <- struct{}{}:
		defer func() { <-q.busy }()
	case <-ctx.Done():
		return done, ErrBusy
	}
	s.mu.Lock()
	h, e := q.Hook, s.complete(Event{Kind: Test, Test: true})
	s.mu.Unlock()
	began := s.opts.Steady()
	o := s.client.send(ctx, h, &e)
	s.mu.Lock()
	if ctx.Err() == nil && !q.isAbsent {
		s.note(q, o.since(h, q.Hook), true)
	}
	done = Tested{
		Delivered: o.fate == delivered, Status: o.status, Problem: o.reason, Answer: o.excerpt,
		TookMS: s.opts.Steady().Sub(began).Milliseconds(), Hook: q.status(),
	}
	s.mu.Unlock()
	_, err = s.record(context.WithoutCancel(ctx), author, journal.WebhookDetail{Name: h.Name, Did: "tested", Delivered: &done.Delivered})
	return done, err
}
