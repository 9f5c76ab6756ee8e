package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/persisttest"
	"github.com/chatguard/chatguard/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = persisttest.Must

// patience is how long a request or a pause may take to come. It only matters if the Sender is
// broken.
const patience = time.Minute

// fakeClock is a clock that only tests move.
type fakeClock struct {
	mu     sync.Mutex
	moved  *sync.Cond // a timer was added
	now    time.Time
	timers []timer
}

type timer struct {
	due    time.Time
	length time.Duration
	fires  chan time.Time
}

func newFakeClock() *fakeClock {
	c := &fakeClock{now: persisttest.Start}
	c.moved = sync.NewCond(&c.mu)
	return c
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After is as time.After.
func (c *fakeClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := timer{c.now.Add(d), d, make(chan time.Time, 1)}
	c.timers = append(c.timers, t)
	c.moved.Broadcast()
	return t.fires
}

// skipPause waits until a hook pauses, moves the clock to the end of the pause, and returns how
// long it was.
func (c *fakeClock) skipPause() time.Duration {
	expired := false
	defer time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		expired = true
		c.moved.Broadcast()
	}).Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if expired {
			panic(fmt.Sprintf("no hook pauses; the timers are %v", c.timers))
		}
		i := slices.IndexFunc(c.timers, func(t timer) bool { return t.length != pruneEvery })
		if i < 0 {
			c.moved.Wait()
			continue
		}
		length := c.timers[i].due.Sub(c.now)
		c.move(length)
		return length
	}
}

// advance moves the clock.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(d)
}

func (c *fakeClock) move(d time.Duration) {
	c.now = c.now.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t timer) bool {
		if t.due.After(c.now) {
			return false
		}
		t.fires <- c.now
		return true
	})
}

// request is what a server has received.
type request struct {
	header http.Header
	path   string
	body   []byte
}

// server is a receiver of webhooks on loopback.
type server struct {
	*httptest.Server
	t        testing.TB
	requests chan request

	mu     sync.Mutex
	answer http.HandlerFunc
}

// serve starts a server that answers 204 at first.
func serve(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, requests: make(chan request, 1000)}
	s.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the request can't be read: %v", err)
		}
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		s.requests <- request{r.Header, r.URL.Path, body}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// next waits for the next request.
func (s *server) next() request {
	s.t.Helper()
	select {
	case r := <-s.requests:
		return r
	case <-time.After(patience):
		s.t.Fatal("no request comes")
		return request{}
	}
}

func (s *server) answers(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

func (s *server) answersStatus(status int) {
	s.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

// bench is a Sender with a real database and a fake clock.
type bench struct {
	testing.TB
	*Sender
	clock *fakeClock
	path  string // of the database
	store *persist.Store
	log   waittest.Output
	stop  func() // stops the Sender, and closes the database
}

// begin runs a Sender with these hooks of the configuration until the test ends.
func begin(t testing.TB, hooks ...Hook) *bench {
	t.Helper()
	b := &bench{TB: t, clock: newFakeClock(), path: persisttest.DatabasePath(t)}
	b.start(nil, hooks...)
	t.Cleanup(func() { b.stop() })
	return b
}

// answering runs a Sender with a hook whose server answers with this status.
func answering(t testing.TB, status int, formats ...Format) (*server, *bench) {
	t.Helper()
	s := serve(t)
	s.answersStatus(status)
	return s, begin(t, to(s, formats...))
}

// answerOnce is answering with one event, which the server has answered.
func answerOnce(t testing.TB, status int) (*server, *bench) {
	t.Helper()
	s, b := answering(t, status)
	b.Send(pauseBy("anna"))
	s.next()
	b.settled(hookID)
	return s, b
}

// restart stops the Sender as the process's end does, and starts another one.
func (b *bench) restart(hooks ...Hook) {
	b.Helper()
	b.stop()
	b.start(nil, hooks...)
}

// start starts a Sender. adjust may change its options.
func (b *bench) start(adjust func(*Options), hooks ...Hook) {
	b.Helper()
	ctx := context.Background()
	guard, err := chatguard.New(persisttest.Policy(), nil)
	must(b, err)
	b.store, err = persist.Open(ctx, b.path, &persist.Options{Logger: slog.New(slog.DiscardHandler)})
	must(b, err)
	_, err = b.store.Restore(ctx, guard)
	must(b, err)
	o := Options{Store: b.store, Now: b.clock.Now, Steady: b.clock.Now, After: b.clock.After, Log: slog.New(slog.NewTextHandler(&b.log, nil))}
	if adjust != nil {
		adjust(&o)
	}
	b.Sender = New(o)
	must(b, b.Restore(ctx))
	b.SetConfigured(hooks)
	sending, stopSending := context.WithCancel(ctx)
	writing, stopWriting := context.WithCancel(ctx)
	sent, written := make(chan error, 1), make(chan error, 1)
	sender := b.Sender
	go func() { sent <- sender.Run(sending) }()
	go func() { written <- b.store.Run(writing, guard) }()
	b.stop = sync.OnceFunc(func() {
		stopSending()
		err := <-sent
		stopWriting()
		must(b, errors.Join(err, <-written, b.store.Close()))
	})
}

// settled waits until the request in progress to a hook has had its consequences.
func (b *bench) settled(id string) {
	b.mu.Lock()
	q := b.hooks[id]
	b.mu.Unlock()
	q.busy <- struct{}{}
	<-q.busy
}

// status returns a hook's status.
func (b *bench) status(id string) Status {
	b.Helper()
	list := b.List()
	i := slices.IndexFunc(list, func(s Status) bool { return s.ID == id })
	if i < 0 {
		b.Fatalf("there is no hook %s: %+v", id, list)
	}
	return list[i]
}

// dead returns a hook's dead letters, newest first.
func (b *bench) dead(id string) []Delivery {
	b.Helper()
	_, dead, err := b.Deliveries(id)
	must(b, err)
	return dead
}

const (
	hookID = "config:test"
	secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
)

// to returns a hook of the configuration for all events, in the format Signed unless another one is
// given.
func to(s *server, formats ...Format) Hook {
	h := Hook{ID: hookID, Name: "test", Address: Address(s.URL + "/hooks/secret-part-of-it"), Format: cmp.Or(append(formats, Signed)...), Events: Kinds, AllowPrivate: true}
	if h.Format == Signed {
		h.Secret = secret
	}
	return h
}

var channel = &Channel{ID: "7", Login: "somechannel"}

// pauseBy returns an event that is recognized by its author.
func pauseBy(author string) Event {
	return Event{Kind: Pause, Channel: channel, Pause: &PauseChange{Paused: true, By: author}}
}
