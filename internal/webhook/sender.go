package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/journal"
)

// Store keeps webhooks and deliveries. Its methods that write don't wait for the disk: while the
// database fails, what they have received is pending.
type Store interface {
	// Webhooks returns all stored webhooks and deliveries.
	Webhooks(ctx context.Context) ([]journal.Webhook, []journal.WebhookDelivery, error)
	PutWebhook(journal.Webhook)
	DeleteWebhook(id string)
	PutWebhookDelivery(journal.WebhookDelivery)
	DeleteWebhookDelivery(id int64)
	// Record adds a change to the audit log. It returns once all earlier changes are stored, or
	// saved = false if the database fails.
	Record(ctx context.Context, a journal.Audit) (saved bool, err error)
}

// Options configure a Sender. Store is required.
type Options struct {
	Store     Store
	Retention time.Duration // of dead letters; 0 means 30 days
	Log       *slog.Logger  // nil logs nothing

	Resolver *net.Resolver                        // looks up names; nil means the machine's
	Now      func() time.Time                     // the wall clock; nil means time.Now
	Steady   func() time.Time                     // ignores steps of the wall clock; nil means clock.Monotonic
	After    func(time.Duration) <-chan time.Time // by the steady clock; nil means time.After
}

// Sender sends events to hooks. It is safe for concurrent use. Create one with New.
//
// Each hook has a queue, and a goroutine that sends the oldest delivery until it is done, so that
// the order is kept and no hook waits for another.
type Sender struct {
	opts   Options
	client *client

	mu      sync.Mutex // never held while a request or the disk is waited for
	hooks   map[string]*queue
	last    int64           // highest ID of a delivery
	running context.Context // of the goroutines; nil unless Run runs
	workers sync.WaitGroup
}

// New returns a Sender without hooks.
func New(o Options) *Sender {
	o.Retention = cmp.Or(o.Retention, 30*24*time.Hour)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Steady == nil {
		o.Steady = clock.Monotonic()
	}
	if o.After == nil {
		o.After = time.After
	}
	return &Sender{opts: o, client: newClient(o.Resolver, o.Now), hooks: map[string]*queue{}}
}

// settings is the stored form of a Hook.
type settings struct {
	Name     string   `json:"name"`
	Address  string   `json:"url"`
	Format   Format   `json:"format"`
	Secret   string   `json:"secret,omitempty"`
	Events   []Kind   `json:"events"`
	Channels []string `json:"channels,omitempty"`
}

// row returns the stored form of a hook.
func (q *queue) row() (journal.Webhook, error) {
	state, err := json.Marshal(q.state)
	if err != nil || q.IsConfigured {
		return journal.Webhook{ID: q.ID, State: string(state)}, err
	}
	kept, err := json.Marshal(settings{q.Name, string(q.Address), q.Format, string(q.Secret), q.Events, q.Channels})
	return journal.Webhook{ID: q.ID, Settings: string(kept), State: string(state)}, err
}

// store stores a hook with its state, unless it was deleted. The caller holds mu.
func (s *Sender) store(q *queue) {
	if s.hooks[q.ID] != q {
		return
	}
	row, err := q.row()
	if err != nil {
		panic(err) // settings and states can be encoded
	}
	s.opts.Store.PutWebhook(row)
}

// Restore loads the hooks that people have made, and all deliveries. Call it before the other
// methods. What can't be read is logged and left alone.
func (s *Sender) Restore(ctx context.Context) error {
	hooks, deliveries, err := s.opts.Store.Webhooks(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range hooks {
		if err := s.restoreHook(row); err != nil {
			s.opts.Log.Error("a webhook can't be read: it receives nothing", "webhook", row.ID, "error", err)
		}
	}
	slices.SortFunc(deliveries, func(a, b journal.WebhookDelivery) int { return cmp.Compare(a.ID, b.ID) })
	for _, row := range deliveries {
		s.last = max(s.last, row.ID)
		if err := s.restoreDelivery(row); err != nil {
			s.opts.Log.Error("a webhook's delivery can't be read", "webhook", row.WebhookID, "delivery", row.ID, "error", err)
		}
	}
	for _, q := range s.hooks {
		q.resume(s.opts.Now(), s.opts.Steady())
	}
	return nil
}

func (s *Sender) restoreHook(row journal.Webhook) error {
	q := newQueue(Hook{ID: row.ID})
	q.isAbsent = row.Settings == ""
	if err := json.Unmarshal([]byte(row.State), &q.state); err != nil {
		return err
	}
	if q.isAbsent { // a hook of the configuration: SetConfigured adds its settings
		q.IsConfigured = true
		s.hooks[row.ID] = q
		return nil
	}
	var kept settings
	if err := json.Unmarshal([]byte(row.Settings), &kept); err != nil {
		return errors.New("its settings aren't JSON") // the error could have the address
	}
	q.Hook = Hook{ID: row.ID, Name: kept.Name, Address: Address(kept.Address), Format: kept.Format, Secret: Secret(kept.Secret), Events: kept.Events, Channels: kept.Channels}
	s.hooks[row.ID] = q
	return nil
}

func (s *Sender) restoreDelivery(row journal.WebhookDelivery) error {
	d := &delivery{WebhookDelivery: row}
	if err := json.Unmarshal([]byte(row.Event), &d.event); err != nil {
		return err
	}
	q := s.hooks[row.WebhookID]
	if q == nil {
		return errors.New("its webhook is gone")
	}
	if row.DeadAt.IsZero() {
		q.waiting = append(q.waiting, d)
	} else {
		q.dead = append(q.dead, d)
	}
	return nil
}

// SetConfigured replaces the hooks of the configuration. A hook that is no longer there keeps its
// deliveries in case it comes back, until they are too old.
func (s *Sender) SetConfigured(hooks []Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, q := range s.hooks {
		isThere := func(h Hook) bool { return h.ID == id }
		if q.IsConfigured && !q.isAbsent && !slices.ContainsFunc(hooks, isThere) {
			q.isAbsent = true
			q.halt()
		}
	}
	for _, h := range hooks {
		h.IsConfigured = true
		s.put(h)
	}
}

// put adds a hook, or replaces the settings of the hook with its ID. The caller holds mu.
func (s *Sender) put(h Hook) *queue {
	q := s.hooks[h.ID]
	if q == nil {
		q = newQueue(h)
		s.hooks[h.ID] = q
	}
	if q.state.OffAddress != fingerprint(h.Address) {
		q.state.Off, q.state.OffAddress = "", ""
	}
	if q.Address != "" && (q.Address != h.Address || q.AllowPrivate != h.AllowPrivate || q.Secret != h.Secret) {
		q.hurry()
	}
	q.Hook, q.isAbsent = h, false
	s.store(q)
	s.start(q)
	return q
}

// Send queues an event for each hook that wants it. It never blocks, and may be called at any time.
// It cleans the event's texts, and sets its ID and Text.
func (s *Sender) Send(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = s.complete(e)
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // events can be encoded
	}
	for _, q := range s.hooks {
		if !q.isAbsent && q.wants(&e) {
			s.enqueue(q, e, string(text))
		}
	}
}

// complete returns an event as hooks receive it.
func (s *Sender) complete(e Event) Event {
	e.ID, e.At = "msg_"+rand.Text(), e.At.UTC()
	if e.At.IsZero() {
		e.At = s.opts.Now().UTC()
	}
	e.clean()
	e.Text = sentence(&e)
	return e
}

// Wants reports whether any hook receives events of a kind.
func (s *Sender) Wants(kind Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.hooks {
		if !q.isAbsent && slices.Contains(q.Events, kind) {
			return true
		}
	}
	return false
}

// pruneEvery is how often dead letters are checked for their age.
const pruneEvery = time.Hour

// Run sends deliveries until ctx ends. A request in progress then has a short time to finish.
// Deliveries that aren't done stay in the store. Call Run once.
func (s *Sender) Run(ctx context.Context) error {
	s.mu.Lock()
	s.prune() // not before: SetConfigured says which hooks still exist
	s.running = ctx
	for _, q := range s.hooks {
		s.start(q)
	}
	s.mu.Unlock()
	for ctx.Err() == nil {
		select {
		case <-s.opts.After(pruneEvery):
			s.mu.Lock()
			s.prune()
			s.mu.Unlock()
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	s.running = nil
	s.mu.Unlock()
	s.workers.Wait()
	return nil
}

// start starts the goroutine of a hook, if it should run. The caller holds mu.
func (s *Sender) start(q *queue) {
	if s.running == nil || q.isAbsent || q.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(s.running)
	q.stop, q.wake = stop, make(chan struct{}, 1)
	wake := q.wake
	s.workers.Go(func() { s.work(ctx, q, wake) })
}

// prune removes dead letters that are too old, and waiting deliveries of absent hooks that are too
// old. The caller holds mu.
func (s *Sender) prune() {
	oldest := s.opts.Now().Add(-s.opts.Retention)
	isOld := func(d *delivery) bool {
		if d.DeadAt.IsZero() {
			return d.QueuedAt.Before(oldest)
		}
		return d.DeadAt.Before(oldest)
	}
	for id, q := range s.hooks {
		q.dead = s.forget(q.dead, isOld)
		if !q.isAbsent {
			continue
		}
		if q.waiting = s.forget(q.waiting, isOld); len(q.waiting)+len(q.dead) == 0 && q.stop == nil {
			delete(s.hooks, id)
			s.opts.Store.DeleteWebhook(id)
		}
	}
}

// forget removes the deliveries for which isWanted returns true from a list and from the store. The
// caller holds mu.
func (s *Sender) forget(list []*delivery, isWanted func(*delivery) bool) []*delivery {
	return slices.DeleteFunc(list, func(d *delivery) bool {
		gone := isWanted(d)
		if gone {
			s.opts.Store.DeleteWebhookDelivery(d.ID)
		}
		return gone
	})
}

// Totals returns how many deliveries wait, and how many are dead letters.
func (s *Sender) Totals() (waiting, dead int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.hooks {
		if !q.isAbsent {
			waiting, dead = waiting+len(q.waiting), dead+len(q.dead)
		}
	}
	return waiting, dead
}

// sorted returns the hooks that exist: those of the configuration first, each part by name. The
// caller holds mu.
func (s *Sender) sorted() []*queue {
	list := slices.DeleteFunc(slices.Collect(maps.Values(s.hooks)), func(q *queue) bool { return q.isAbsent })
	slices.SortFunc(list, func(a, b *queue) int {
		return cmp.Or(strings.Compare(fmt.Sprint(!a.IsConfigured), fmt.Sprint(!b.IsConfigured)), strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return list
}
