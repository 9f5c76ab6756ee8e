// Package twitchtest contains what the tests of the Twitch packages share: a fake Twitch, an inbox,
// and replacements for waiting.
package twitchtest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/waittest"
)

// Must fails the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Start starts a fake Twitch with these channels.
func Start(t testing.TB, channels ...string) *faketwitch.Server {
	t.Helper()
	return StartWith(t, faketwitch.Options{Channels: channels})
}

// StartWith is Start with options.
func StartWith(t testing.TB, o faketwitch.Options) *faketwitch.Server {
	t.Helper()
	srv, err := faketwitch.Start(o)
	Must(t, err)
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// Say makes a user send a line, and fails the test if that fails.
func Say(t testing.TB, srv *faketwitch.Server, l faketwitch.Line) string {
	t.Helper()
	id, err := srv.Say(l)
	Must(t, err)
	return id
}

// Inbox collects the messages that a connection delivers.
type Inbox struct {
	mu       sync.Mutex
	messages []chat.Message
}

// Deliver adds messages.
func (in *Inbox) Deliver(messages []chat.Message) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.messages = append(in.messages, messages...)
}

// All returns the messages received so far.
func (in *Inbox) All() []chat.Message {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.messages)
}

// Wait returns the messages once there are n of them.
func (in *Inbox) Wait(t testing.TB, n int) []chat.Message {
	t.Helper()
	Eventually(t, "messages", func() bool { return len(in.All()) >= n })
	return in.All()
}

// MessagesTo is a chat.Sink that receives only messages.
type MessagesTo func([]chat.Message)

// Messages passes the messages on.
func (f MessagesTo) Messages(_ time.Time, messages []chat.Message) { f(messages) }

// Removed does nothing.
func (f MessagesTo) Removed(chat.Removal) {}

// Lifted does nothing.
func (f MessagesTo) Lifted(chat.Lift) {}

// Bubble runs a test in simulated time against a fake Twitch in memory.
func Bubble(t *testing.T, channels []string, test func(*testing.T, *faketwitch.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, StartWith(t, faketwitch.Options{Channels: channels, InMemory: true}))
	})
}

// Pass advances simulated time by d, then waits until all goroutines are idle.
func Pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// Eventually waits until ok returns true because of another goroutine's work. It reaches its time
// limit only if the program is broken.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !waittest.Poll(context.Background(), time.Millisecond, ok) {
		t.Fatalf("timed out waiting: %s", what)
	}
}

// Sleeps replaces waiting: it records each duration and advances a clock by it.
type Sleeps struct {
	mu    sync.Mutex
	taken []time.Duration
	clock time.Time
}

// NewSleeps returns a Sleeps whose clock starts on an evening in March 2026.
func NewSleeps() *Sleeps { return &Sleeps{clock: time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)} }

// Sleep records how long to wait, and returns at once.
func (n *Sleeps) Sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken = append(n.taken, d)
	n.clock = n.clock.Add(d)
	return ctx.Err()
}

// Now returns the clock's time after all calls of Sleep so far.
func (n *Sleeps) Now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clock
}

// All returns the durations of all calls of Sleep so far.
func (n *Sleeps) All() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.taken)
}

// Gate replaces waiting: it sends each duration to Asked, and the caller waits until Open is closed
// or receives a value.
type Gate struct {
	Asked chan time.Duration
	Open  chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{Asked: make(chan time.Duration), Open: make(chan struct{})} }

// Sleep waits until the gate is opened, or until ctx ends.
func (g *Gate) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case g.Asked <- d:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-g.Open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Received returns how often the chat server received a line.
func Received(srv *faketwitch.Server, line string) (n int) {
	for _, r := range srv.Received() {
		if r.Line == line {
			n++
		}
	}
	return n
}

// LoginOf returns a function that always returns login.
func LoginOf(login string) func() string { return func() string { return login } }

// TokenOf returns a function that always returns token.
func TokenOf(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// Run runs a source until the test ends or until stop is called. stop returns the error of the
// source's Run.
func Run(t testing.TB, source chat.Source, sink chat.Sink) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx, sink) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return stop
}
