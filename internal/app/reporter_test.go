package app

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/internal/webhook"
)

// lease is a lease of a channel that the test holds or not.
type lease struct{ held bool }

func (l lease) Leading() (fence int64, until time.Time, ok bool) {
	return 1, time.Now().Add(time.Minute), l.held
}
func (l lease) Leader() string           { return "some node" }
func (l lease) SetJudgedUntil(time.Time) {}
func (l lease) JudgedUntil() time.Time   { return time.Time{} }
func (l lease) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// oneMessageEach is a chat with a message in each of some channels.
type oneMessageEach []string

func (c oneMessageEach) Run(_ context.Context, sink chat.Sink) error {
	for _, id := range c {
		sink.Messages(time.Time{}, []chatguard.Message{{ID: "m", ChannelID: id, User: chatguard.User{ID: "1"}, SentAt: time.Now()}})
	}
	return nil
}

// nobody is a bot that does nothing.
type nobody struct{}

func (nobody) Messages(time.Time, []chatguard.Message) {}
func (nobody) Removed(chat.Removal)                    {}

// Of several nodes, the one that acts in a channel reports what happens there by itself.
func TestReporter_Acts(t *testing.T) {
	a := &App{node: &node.Node{}}
	r := &reporter{app: a}
	if !r.acts("1", false) {
		t.Error("a node alone doesn't report")
	}
	a.node.Standby = chat.NewStandby(func(channelID string) chat.Lease { return lease{channelID == "mine"} }, nil)
	defer a.node.Standby.Close()
	must(t, a.node.Standby.Source(oneMessageEach{"mine", "theirs"}).Run(t.Context(), nobody{}))
	for _, otherwise := range []bool{false, true} {
		for channelID, want := range map[string]bool{"mine": true, "theirs": false, "unknown": otherwise} {
			if got := r.acts(channelID, otherwise); got != want {
				t.Errorf("%s, otherwise %v: %v", channelID, otherwise, got)
			}
		}
	}
}

// A ban for several messages has an entry for each, but is one ban. What is known of one of them is
// known of the ban.
func TestAddBan(t *testing.T) {
	var list []webhook.BannedUser
	for _, user := range []webhook.BannedUser{
		{UserID: "1", Unknown: true}, {UserID: "1", Unknown: true}, {UserID: "2", Unknown: true}, {UserID: "1", By: "anna"}, {UserID: "2"}, {UserID: "2", Unknown: true}, {}, {},
	} {
		list = addBan(list, user)
	}
	if want := []webhook.BannedUser{{UserID: "1", Unknown: true}, {UserID: "2"}, {UserID: "1", By: "anna"}, {}, {}}; !slices.Equal(list, want) {
		t.Errorf("%+v\nwant %+v", list, want)
	}
}
