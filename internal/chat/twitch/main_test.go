package twitch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

var (
	_ chat.Source    = (*IRC)(nil)
	_ chat.Moderator = (*Moderator)(nil)
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startTwitch starts a fake Twitch with these channels.
func startTwitch(t testing.TB, channels ...string) *faketwitch.Server {
	t.Helper()
	srv, err := faketwitch.Start(faketwitch.Options{Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

// say lets a user say something that has to be said.
func say(t testing.TB, srv *faketwitch.Server, l faketwitch.Line) string {
	t.Helper()
	id, err := srv.Say(l)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// inbox gathers what an IRC delivers.
type inbox struct {
	mu       sync.Mutex
	messages []chatguard.Message
}

func (in *inbox) deliver(messages []chatguard.Message) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.messages = append(in.messages, messages...)
}

func (in *inbox) all() []chatguard.Message {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.messages)
}

// wait returns the messages once there are n.
func (in *inbox) wait(t testing.TB, n int) []chatguard.Message {
	t.Helper()
	eventually(t, "messages", func() bool { return len(in.all()) >= n })
	return in.all()
}

// messagesTo is a chat.Sink that takes messages only.
type messagesTo func([]chatguard.Message)

func (f messagesTo) Messages(messages []chatguard.Message) { f(messages) }
func (f messagesTo) Removed(chat.Removal)                  {}

// run runs i until the test ends, or until stop is called, which returns Run's error.
func run(t testing.TB, i *IRC, deliver func([]chatguard.Message)) (stop func() error) {
	t.Helper()
	return runInto(t, i, messagesTo(deliver))
}

func runInto(t testing.TB, i *IRC, sink chat.Sink) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- i.Run(ctx, sink) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return stop
}

// bubble runs a test in simulated time against a fake Twitch in memory.
func bubble(t *testing.T, channels []string, test func(*testing.T, *faketwitch.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := faketwitch.Start(faketwitch.Options{Channels: channels, InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, srv)
	})
}

// pass lets simulated time go by, and what is due then happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// asBot lets i log in with the bot's token.
func asBot(srv *faketwitch.Server, i *IRC) *IRC {
	i.Login, i.Token = srv.BotLogin, tokenOf(srv.Token())
	return i
}

// connect runs an IRC on the fake Twitch's channels until the test ends, and returns once it has joined them.
func connect(t testing.TB, srv *faketwitch.Server, i *IRC) *inbox {
	t.Helper()
	i.Address, i.Dial = srv.IRCAddress(), srv.Dial
	in := &inbox{}
	run(t, i, in.deliver)
	joined(t, i)
	return in
}

// joined waits until all channels are joined.
func joined(t testing.TB, i *IRC) {
	t.Helper()
	eventually(t, "all channels joined", func() bool {
		s := i.Status()
		return len(s.Channels) > 0 && !slices.ContainsFunc(s.Channels, func(c Channel) bool { return !c.Joined })
	})
}

// eventually waits for something that another goroutine brings about. Its bound is for a broken program only.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// naps stands in for waiting: it notes how long would have been waited, and lets a clock run by as much.
type naps struct {
	mu    sync.Mutex
	taken []time.Duration
	clock time.Time
}

func newNaps() *naps { return &naps{clock: time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)} }

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken = append(n.taken, d)
	n.clock = n.clock.Add(d)
	return ctx.Err()
}

func (n *naps) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clock
}

func (n *naps) all() []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.taken)
}

// gate stands in for waiting: it tells how long is to be waited, and lets the waiter go when it is opened.
type gate struct {
	asked chan time.Duration
	open  chan struct{}
}

func newGate() *gate { return &gate{asked: make(chan time.Duration), open: make(chan struct{})} }

func (g *gate) sleep(ctx context.Context, d time.Duration) error {
	select {
	case g.asked <- d:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// received counts the lines that the chat server got.
func received(srv *faketwitch.Server, line string) (n int) {
	for _, r := range srv.Received() {
		if r.Line == line {
			n++
		}
	}
	return n
}
