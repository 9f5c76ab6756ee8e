package sharing_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/limitinfo"
	"github.com/chatguard/chatguard/shared"
)

// A message that isn't decided by the store counts once, by the reason.
func TestSharing_ReasonsOnce(t *testing.T) {
	server := newFakeServer()
	node, guard := server.connect(dayOnly(), sharedNoon)
	messages := make([]chatguard.Message, 5)
	for i := range messages {
		messages[i] = chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}}
	}
	checkAll := func() {
		t.Helper()
		must(t, guard.CheckAll(t.Context(), messages, make([]chatguard.Verdict, len(messages))))
	}
	server.rows[[2]string{"c", "7"}] = []byte("not a row")
	checkAll()
	if s := guard.Shared().Counts(); s.Unreadable != 5 || s.Offline != 0 {
		t.Errorf("%d decisions because of an unreadable row and %d offline, want 5 and 0", s.Unreadable, s.Offline)
	}
	node.setAway(true)
	checkAll()
	if s := guard.Shared().Counts(); s.Unreadable != 5 || s.Offline != 5 {
		t.Errorf("%d decisions because of an unreadable row and %d offline, want 5 and 5", s.Unreadable, s.Offline)
	}
}

// Overrides that were made on another node are listed also before a message, in one round trip for
// many of them.
func TestUserOverrides_OfOtherNodes(t *testing.T) {
	server := newFakeServer()
	_, a := server.connect(dayOnly(), sharedNoon)
	node, b := server.connect(dayOnly(), sharedNoon)
	want := map[string]bool{}
	for _, user := range []string{"7", "8", "9"} {
		must(t, a.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: user}, chatguard.UserOverride{Exempt: chatguard.ExemptAlways}))
		want[user] = true
	}
	list := func() (map[string]bool, error) {
		got := map[string]bool{}
		all, err := b.UserOverrides(t.Context(), "c")
		for user, o := range all {
			got[user] = o.Exempt == chatguard.ExemptAlways
		}
		return got, err
	}
	calls := 0
	node.before = func(context.Context) error { calls++; return nil }
	if got, err := list(); !maps.Equal(got, want) || err != nil {
		t.Errorf("the other node lists %v, %v, want %v", got, err, want)
	}
	if calls != 2 {
		t.Errorf("%d calls of the store, want 2: the list, and the rows", calls)
	}
	node.setAway(true)
	if got, err := list(); !maps.Equal(got, want) || !errors.Is(err, shared.ErrAway) {
		t.Errorf("while the store is away: %v, %v, want what is known, %v, and ErrAway", got, err, want)
	}
}

// A row that can't be read doesn't matter to others who are decided at the same time.
func TestShared_UnreadableAlone(t *testing.T) {
	server := newFakeServer()
	_, guard := server.connect(withRoom(dayOnly()), sharedNoon)
	server.rows[[2]string{"c", "7"}] = []byte("not a row")
	messages := make([]chatguard.Message, 20)
	for i := range messages {
		messages[i] = chatguard.Message{ChannelID: "c", User: chatguard.User{ID: fmt.Sprint(i)}}
	}
	verdicts := make([]chatguard.Verdict, len(messages))
	must(t, guard.CheckAll(t.Context(), messages, verdicts))
	for i, v := range verdicts {
		if !v.Allowed || v.Degraded != (i == 7) {
			t.Errorf("user %d: %+v", i, v)
		}
	}
	room := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "new"}}
	if e, err := limitinfo.Explain(t.Context(), guard, room); err != nil || e.Limits[1].Used != 20 {
		t.Errorf("%+v (%v), want 20 messages in the channel", e.Limits, err)
	}
	if s := guard.Shared().Counts(); s.Unreadable != 1 || s.Offline != 0 {
		t.Errorf("%+v, want one decision because of an unreadable row", s)
	}
}
