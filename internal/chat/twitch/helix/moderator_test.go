package helix

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

var _ chat.Moderator = (*Moderator)(nil)

// TestModerator_TimeoutsDoNotShrink checks that a timeout that lasts longer than a new one stays
// until it is over or somebody has lifted it.
func TestModerator_TimeoutsDoNotShrink(t *testing.T) {
	for _, c := range []struct {
		name             string
		first, second    time.Duration
		after, sent      time.Duration // times of the second timeout and of its message
		otherUser, sent2 bool
	}{
		{name: "shorter", first: 10 * time.Minute, second: 30 * time.Second},
		{name: "sent while the first was given", first: 10 * time.Minute, second: 30 * time.Second, after: 10 * time.Second, sent: inTransit},
		{name: "ends at the same time", first: 10 * time.Minute, second: 9 * time.Minute, after: time.Minute},
		{name: "ends later", first: 10 * time.Minute, second: 9*time.Minute + time.Second, after: time.Minute, sent2: true},
		{name: "longer", first: 30 * time.Second, second: 10 * time.Minute, sent2: true},
		{name: "after the end", first: 30 * time.Second, second: 30 * time.Second, after: 31 * time.Second, sent: 31 * time.Second, sent2: true},
		{name: "lifted: the user can write", first: 10 * time.Minute, second: 30 * time.Second, after: time.Minute, sent: time.Minute, sent2: true},
		{name: "another user", first: 10 * time.Minute, second: 30 * time.Second, otherUser: true, sent2: true},
	} {
		srv := twitchtest.Start(t, "room")
		moderator, msg := newModerator(t, srv)
		must(t, moderator.Timeout(t.Context(), msg, c.first, ""))
		start := moderator.Helix.now()
		moderator.Helix.Clock.NowFunc = func() time.Time { return start.Add(c.after) }
		msg.SentAt = start.Add(c.sent)
		if c.otherUser {
			msg.User.ID = "5"
		}
		must(t, moderator.Timeout(t.Context(), msg, c.second, ""))
		if got := len(srv.Bans()) == 2; got != c.sent2 {
			t.Errorf("%s: second timeout sent: %v, want %v", c.name, got, c.sent2)
		}
	}
}

// TestModerator_TimeoutBeginsWhenGiven checks that the timeout doesn't count as lifted if its user
// sent a message while the request waited.
func TestModerator_TimeoutBeginsWhenGiven(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	waited := moderator.Helix.now()
	moderator.Helix.Clock.NowFunc = func() time.Time { return waited }
	moderator.Helix.Clock.SleepFunc = func(context.Context, time.Duration) error {
		waited = waited.Add(20 * time.Second)
		return nil
	}
	msg.SentAt = waited
	srv.FailNext(statusFaults(503)...)
	must(t, moderator.Timeout(t.Context(), msg, 10*time.Minute, ""))
	msg.SentAt = msg.SentAt.Add(10 * time.Second)
	must(t, moderator.Timeout(t.Context(), msg, 30*time.Second, ""))
	if n := len(srv.Bans()); n != 1 {
		t.Errorf("%d timeouts, want the longer one alone", n)
	}
}

// TestModerator_FailedTimeout checks that a timeout that Twitch refused isn't in force.
func TestModerator_FailedTimeout(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	srv.FailNext(statusFaults(403)...)
	if err := moderator.Timeout(t.Context(), msg, 10*time.Minute, ""); err == nil {
		t.Fatal("no error")
	}
	if err := moderator.Timeout(t.Context(), msg, 30*time.Second, ""); err != nil || len(srv.Bans()) != 1 {
		t.Errorf("%v, %d timeouts given", err, len(srv.Bans()))
	}
}

// TestModerator_LiftedTimeout checks that after a timeout was lifted, a new one is given even if it
// is shorter.
func TestModerator_LiftedTimeout(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	for _, err := range []error{
		moderator.Timeout(t.Context(), msg, 10*time.Minute, ""), moderator.Lift(t.Context(), msg.ChannelID, msg.User.ID),
		moderator.Timeout(t.Context(), msg, 30*time.Second, ""),
	} {
		must(t, err)
	}
	if n := len(srv.Bans()); n != 2 {
		t.Errorf("%d timeouts given, want 2", n)
	}
}

// TestModerator_Left checks that Left returns how many requests can be sent at once.
func TestModerator_Left(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	moderator, msg := newModerator(t, srv)
	before := moderator.Left(0)
	if err := moderator.Delete(t.Context(), msg); err != nil || moderator.Left(0) != before-1 {
		t.Errorf("%d left, then %d, %v", before, moderator.Left(0), err)
	}
}

// TestUserHistory_Bounded checks that entries that expire first are forgotten first.
func TestUserHistory_Bounded(t *testing.T) {
	now := twitchtest.NewSleeps().Now()
	m := &Moderator{Helix: &Client{Clock: clock.Clock{NowFunc: func() time.Time { return now }}}}
	m.Removed(chat.Removal{ChannelID: "1", UserID: "lasting", Silence: time.Hour})
	for n := range 2 * maxUsers {
		m.Removed(chat.Removal{ChannelID: "1", UserID: strconv.Itoa(n), Silence: time.Minute})
	}
	if len(m.users) != maxUsers {
		t.Errorf("%d remembered, want %d", len(m.users), maxUsers)
	}
	if !m.sanctionedByOther(target{"1", "lasting"}) {
		t.Error("forgot the one that lasts")
	}
}
