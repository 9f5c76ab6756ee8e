package node

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/redistest"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

// lease is a lease of a channel that the test holds or not.
type lease struct{ held bool }

func (l lease) Leading() (fence int64, until time.Time, ok bool) {
	return 1, time.Now().Add(time.Minute), l.held
}
func (l lease) Leader() string                       { return "some node" }
func (l lease) Problem() (since time.Time, _ string) { return since, "" }
func (l lease) SetJudgedUntil(time.Time)             {}
func (l lease) JudgedUntil() (sure, maybe time.Time) { return sure, maybe }
func (l lease) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// oneMessageEach is a chat with a message in each of some channels.
type oneMessageEach []string

func (c oneMessageEach) Run(_ context.Context, sink chat.Sink) error {
	for _, id := range c {
		sink.Messages(time.Time{}, []chat.Message{{Message: chatguard.Message{ID: "m", ChannelID: id, User: chatguard.User{ID: "1"}, SentAt: time.Now()}}})
	}
	return nil
}

// nobody is a bot that does nothing.
type nobody struct{}

func (nobody) Messages(time.Time, []chat.Message) {}
func (nobody) Removed(chat.Removal)               {}
func (nobody) Lifted(chat.Lift)                   {}

// A node knows who acts in a channel once it has seen a message there.
func TestLeads(t *testing.T) {
	n := &Node{}
	if leads, known := n.Leads("1"); leads || known {
		t.Error("a node alone has somebody who leads")
	}
	n.Standby = chat.NewStandby(func(channelID string) chat.Lease { return lease{channelID == "mine"} }, nil)
	defer n.Standby.Close()
	if err := n.Standby.Source(oneMessageEach{"mine", "theirs"}).Run(t.Context(), nobody{}); err != nil {
		t.Fatal(err)
	}
	for channelID, want := range map[string][2]bool{"mine": {true, true}, "theirs": {false, true}, "unknown": {false, false}} {
		if leads, known := n.Leads(channelID); leads != want[0] || known != want[1] {
			t.Errorf("%s: %v, %v; want %v", channelID, leads, known, want)
		}
	}
}

// TestSeeds checks that a Node that only copies a database's state into the store reads that state
// from the database, in any mode, and doesn't share people's changes.
func TestSeeds(t *testing.T) {
	store, err := redisstore.Open(t.Context(), "redis://127.0.0.1:1", &redisstore.Options{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer store.Close()
	for _, mode := range []shared.Mode{shared.Exact, shared.Synchronised} {
		for _, seeds := range []bool{false, true} {
			n := &Node{store: store, seeds: seeds}
			n.config.Shared.Mode = string(mode)
			o := &chatguard.Options{Now: time.Now}
			n.Share(o)
			want := mode
			if seeds {
				want = shared.Exact
			}
			if o.Shared != store || o.SharedMode != want || o.Now != nil {
				t.Errorf("%s, seeds %v: %+v", mode, seeds, o)
			}
			if documents, keeps := n.Documents() != nil, n.KeepsState(); documents == seeds || keeps != (mode == shared.Exact && !seeds) {
				t.Errorf("%s, seeds %v: documents %v, keeps the state %v", mode, seeds, documents, keeps)
			}
		}
	}
}

// TestDocuments_Stale checks that a change based on a document that another node has replaced is
// refused as package policies expects.
func TestDocuments_Stale(t *testing.T) {
	t.Parallel()
	store, err := redisstore.Open(t.Context(), redistest.Start(t).URL(), &redisstore.Options{Timeout: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer store.Close()
	shared := (&Node{store: store}).Documents()
	must(t, shared.SetDocument(t.Context(), "lobby", []byte("{}"), 0))
	if err := shared.SetDocument(t.Context(), "lobby", []byte("{}"), 0); !errors.Is(err, policies.ErrStale) {
		t.Errorf("%v, want %v", err, policies.ErrStale)
	}
}
