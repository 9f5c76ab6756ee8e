package twitch

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

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// eventStage is an EventSub that reads a fake Twitch in memory, and what came of it.
type eventStage struct {
	*faketwitch.Server
	t      *testing.T
	events *EventSub
	stop   func() error // ends Run and returns its error

	stuck    atomic.Pointer[chan struct{}] // holds the consumer up until it is closed; nil for not at all
	mu       sync.Mutex
	heard    []chatguard.Message
	removals []chat.Removal
	order    []string // of both: the messages' texts, and "removed"
	told     []string // what the callbacks were told, in order
}

// onEventStage runs a test under a simulated clock, with an EventSub that reads these channels.
func onEventStage(t *testing.T, opts faketwitch.Options, test func(t *testing.T, st *eventStage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.InMemory = true
		srv, err := faketwitch.Start(opts)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DialContext: srv.Dial}}
		st := &eventStage{Server: srv, t: t}
		st.events = &EventSub{
			URL: srv.EventSubURL(), UserID: srv.BotID, Channels: opts.Channels, HTTP: client,
			Helix:   &Helix{BaseURL: srv.HelixURL(), AuthURL: srv.AuthURL(), ClientID: srv.ClientID, Token: tokenOf(srv.Token()), HTTP: client},
			Entered: func(login, roomID string) { st.note("entered " + login + " " + roomID) },
			Moderates: func(roomID string, yes bool) {
				st.note(map[bool]string{true: "moderates ", false: "doesn't moderate "}[yes] + roomID)
			},
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

// run begins to read, and waits until all that is asked for without delay is done.
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

func (st *eventStage) Messages(messages []chatguard.Message) {
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

func (st *eventStage) note(what string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.told = append(st.told, what)
}

// says lets somebody say something, and returns its ID once it has arrived where it arrives at once.
func (st *eventStage) says(l faketwitch.Line) string {
	st.t.Helper()
	id := say(st.t, st.Server, l)
	synctest.Wait()
	return id
}

// messages returns what was delivered so far.
func (st *eventStage) messages() []chatguard.Message {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.heard)
}

// takeNotes returns what the callbacks were told since the last time.
func (st *eventStage) takeNotes() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	told := st.told
	st.told = nil
	return told
}

// heardTexts are the texts of what was delivered so far.
func (st *eventStage) heardTexts() string {
	var texts []string
	for _, m := range st.messages() {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, ", ")
}

// after lets simulated time pass.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// posted counts the subscriptions that were asked for.
func (st *eventStage) posted() (n int) {
	for _, r := range st.Requests() {
		if r.Method == http.MethodPost && r.Path == "/helix/eventsub/subscriptions" {
			n++
		}
	}
	return n
}
