package eventsub

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// eventStage is a Conn that reads a fake Twitch in memory, and what it delivered.
type eventStage struct {
	*faketwitch.Server
	t      *testing.T
	events *Conn
	stop   func() error // ends Run and returns its error

	// stuck blocks the consumer until the Go channel is closed. Nil means that the consumer isn't
	// blocked.
	stuck    atomic.Pointer[chan struct{}]
	mu       sync.Mutex
	heard    []chat.Message
	removals []chat.Removal
	lifts    []chat.Lift
	// order contains each message's text, and "removed" for each removal, in order of delivery.
	order []string
	told  []string // callback calls in order
}

// testEventStage runs a test under a simulated clock, with a Conn that reads the fake's channels.
func testEventStage(t *testing.T, opts faketwitch.Options, test func(t *testing.T, st *eventStage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.InMemory = true
		srv, err := faketwitch.Start(opts)
		must(t, err)
		client := &http.Client{Transport: &http.Transport{DialContext: srv.Dial}}
		st := &eventStage{Server: srv, t: t}
		st.events = &Conn{
			URL: srv.EventSubURL(), UserID: srv.BotID, Channels: opts.Channels, HTTP: client,
			Helix:   &helix.Client{BaseURL: srv.HelixURL(), ClientID: srv.ClientID, Token: twitchtest.TokenOf(srv.Token()), HTTP: client},
			Entered: func(login, roomID string) { st.note("entered " + login + " " + roomID) },
			Moderates: func(roomID string, yes bool) {
				st.note(map[bool]string{true: "moderates ", false: "doesn't moderate "}[yes] + roomID)
			},
			StaffChanged: func(roomID, userID string) { st.note("staff of " + roomID + " changed: " + userID) },
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer func() {
			cancel()
			if st.stop != nil {
				if err := st.stop(); err != nil {
					t.Error(err)
				}
			}
			client.CloseIdleConnections()
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
		}()
		st.run(ctx)
		test(t, st)
	})
}

// run starts reading and waits until all immediate requests are done.
func (st *eventStage) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- st.events.Run(ctx, st) }()
	st.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	synctest.Wait()
}

func (st *eventStage) Messages(_ time.Time, messages []chat.Message) {
	if stuck := st.stuck.Load(); stuck != nil {
		<-*stuck
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.heard = append(st.heard, messages...)
	for _, m := range messages {
		st.order = append(st.order, m.Text)
	}
}

func (st *eventStage) Removed(r chat.Removal) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.removals = append(st.removals, r)
	st.order = append(st.order, "removed")
}

func (st *eventStage) Lifted(l chat.Lift) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.lifts = append(st.lifts, l)
	st.order = append(st.order, "lifted")
}

func (st *eventStage) note(what string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.told = append(st.told, what)
}

// say sends a message and returns its ID. It waits until the message has been delivered, unless
// its delivery is delayed.
func (st *eventStage) say(l faketwitch.Line) string {
	st.t.Helper()
	id := twitchtest.Say(st.t, st.Server, l)
	synctest.Wait()
	return id
}

// messages returns the messages delivered so far.
func (st *eventStage) messages() []chat.Message {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.heard)
}

// takeNotes returns the callback calls since the last time.
func (st *eventStage) takeNotes() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	told := st.told
	st.told = nil
	return told
}

// messageTexts returns the texts delivered so far.
func (st *eventStage) messageTexts() string {
	var texts []string
	for _, m := range st.messages() {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, ", ")
}

// advance advances the simulated time.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// subscriptionRequests returns the number of requested subscriptions.
func (st *eventStage) subscriptionRequests() (n int) {
	for _, r := range st.Requests() {
		if r.Method == http.MethodPost && r.Path == "/helix/eventsub/subscriptions" {
			n++
		}
	}
	return n
}
