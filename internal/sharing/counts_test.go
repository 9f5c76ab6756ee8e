package sharing_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// A message that isn't decided by the store counts once, by the reason.
func TestSharing_ReasonsOnce(t *testing.T) {
	server := newServer(t, shared.Exact, dayOnly())
	node, messages := server.join(), slices.Repeat([]chatguard.Message{message("7")}, 5)
	server.rows[[2]string{"c", "7"}] = []byte("not a row")
	judgeAll(t, node, messages)
	if s := node.counts(); s.Unreadable != 5 || s.Offline != 0 {
		t.Errorf("%d decisions because of an unreadable row and %d offline, want 5 and 0", s.Unreadable, s.Offline)
	}
	node.setAway(true)
	judgeAll(t, node, messages)
	if s := node.counts(); s.Unreadable != 5 || s.Offline != 5 {
		t.Errorf("%d decisions because of an unreadable row and %d offline, want 5 and 5", s.Unreadable, s.Offline)
	}
}

// Overrides that were made on another node are listed also before a message, in one round trip for
// many of them.
func TestUserOverrides_OfOtherNodes(t *testing.T) {
	server := newServer(t, shared.Exact, dayOnly())
	a, b := server.join(), server.join()
	want := map[string]chatguard.UserOverride{"7": exempt, "8": exempt, "9": exempt}
	for user := range want {
		must(t, a.SetUserOverride(t.Context(), chatguard.Key{ChannelID: "c", UserID: user}, exempt))
	}
	equal := func(got map[string]chatguard.UserOverride) bool {
		return maps.EqualFunc(got, want, func(o, _ chatguard.UserOverride) bool { return o.Exempt == chatguard.ExemptAlways })
	}
	calls := 0
	b.before = func(context.Context) error { calls++; return nil }
	if got, err := b.UserOverrides(t.Context(), "c"); !equal(got) || err != nil {
		t.Errorf("the other node lists %v, %v, want %v", got, err, want)
	}
	if calls != 2 {
		t.Errorf("%d calls of the store, want 2: the list, and the rows", calls)
	}
	b.setAway(true)
	if got, err := b.UserOverrides(t.Context(), "c"); !equal(got) || !errors.Is(err, shared.ErrAway) {
		t.Errorf("while the store is away: %v, %v, want what is known, %v, and ErrAway", got, err, want)
	}
}

// A row that can't be read doesn't matter to others who are decided at the same time.
func TestShared_UnreadableAlone(t *testing.T) {
	server := newServer(t, shared.Exact, withRoom(dayOnly()))
	node := server.join()
	server.rows[[2]string{"c", "7"}] = []byte("not a row")
	for i, v := range judgeAll(t, node, messagesOf(20)) {
		if !v.Allowed || v.Degraded != (i == 7) {
			t.Errorf("user %d: %+v", i, v)
		}
	}
	if e := explain(t, node, "new"); e.Limits[1].Used != 20 {
		t.Errorf("%+v, want 20 messages in the channel", e.Limits)
	}
	if s := node.counts(); s.Unreadable != 1 || s.Offline != 0 {
		t.Errorf("%+v, want one decision because of an unreadable row", s)
	}
}

// A row that can't be read is a problem until it can, and for at most ten minutes.
func TestSharing_ProblemEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, shared.Exact, enforced())
		node := server.join()
		server.rows[[2]string{"c", "7"}] = []byte("not a row")
		if v := check(t, node, "7"); !v.Degraded || !strings.Contains(node.counts().Problem, `user "7"`) {
			t.Errorf("%+v, problem %q", v, node.counts().Problem)
		}
		time.Sleep(10 * time.Minute)
		if s := node.counts(); s.Problem != "" || s.Unreadable != 1 {
			t.Errorf("ten minutes later: %+v", s)
		}
		check(t, node, "7")
		delete(server.rows, [2]string{"c", "7"})
		check(t, node, "8")
		if node.counts().Problem == "" {
			t.Error("a message of another user has ended the problem")
		}
		check(t, node, "7")
		if s := node.counts(); s.Problem != "" || s.Unreadable != 2 {
			t.Errorf("after the row was deleted: %+v", s)
		}
	})
}

// A row that can't be read doesn't keep others from being exchanged.
func TestShared_ExchangePassesUnreadableRows(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	node := server.join()
	node.setAway(true)
	const users = 1000
	checkEach(t, node, users)
	for _, user := range []string{"0", "500", "999"} {
		server.rows[[2]string{"c", user}] = []byte("hello")
	}
	node.setAway(false)
	if err := node.Shared().Exchange(t.Context()); err == nil || !strings.Contains(err.Error(), `channel "c", user "`) {
		t.Errorf("Exchange: %v, want an error that names a row", err)
	}
	if got := node.counts(); got.Pending != 3 || got.Exchanged != users-3 {
		t.Errorf("%+v, want all rows exchanged but the three that can't be read", got)
	}
	if got := string(server.rows[[2]string{"c", "500"}]); got != "hello" {
		t.Errorf("the row is overwritten: %q", got)
	}
}

// The number of rows in memory is bounded, also while none of them can be written.
func TestShared_OwingRowsAreBounded(t *testing.T) {
	server := newServer(t, shared.Exact, enforced())
	const most, users = 640, 5000
	server.opts.SharedRows = most
	node := server.join()
	node.setAway(true)
	checkEach(t, node, users)
	got := node.counts()
	if got.Rows > most || got.Pending != got.Rows || got.Lost != int64(users-got.Rows) {
		t.Errorf("%+v, want at most %d rows, all pending, and the others counted as lost", got, most)
	}
	node.setAway(false)
	if node.exchange(); len(server.rows) != got.Pending {
		t.Errorf("%d rows are written, want %d", len(server.rows), got.Pending)
	}
}

// Users that make room for others before an exchange are counted as lost.
func TestSynchronised_EvictedIsLost(t *testing.T) {
	server := newServer(t, shared.Synchronised, dayOnly())
	server.opts.MaxMemory = 20_000
	node := server.join()
	const users = 2000
	checkEach(t, node, users)
	node.exchange()
	if lost := node.counts().Lost; lost == 0 || int64(len(server.rows))+lost != users {
		t.Errorf("%d users are lost and %d are in the store, want %d together", lost, len(server.rows), users)
	}
}
