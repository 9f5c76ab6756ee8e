package helix

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// rivals is a Moderator and a human moderator who act on the same user. The clock is stopped.
type rivals struct {
	*Moderator
	t   *testing.T
	srv *faketwitch.Server
	msg chatguard.Message
	now time.Time
}

func newRivals(t *testing.T) *rivals {
	srv := twitchtest.Start(t, "room")
	m, msg := newModerator(t, srv)
	q := &rivals{m, t, srv, msg, m.Helix.now()}
	m.Helix.Clock.NowFunc = func() time.Time { return q.now }
	m.Helix.Clock.SleepFunc = func(_ context.Context, d time.Duration) error {
		q.now = q.now.Add(d)
		return nil
	}
	m.Login = srv.BotLogin
	return q
}

// report makes the chat report a timeout, or a ban if length is 0.
func (q *rivals) report(length time.Duration, by string) {
	q.Removed(chat.Removal{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, Silence: length, Banned: length == 0, By: by, At: q.now})
}

// act makes the bot time the user out, or ban them if length is 0.
func (q *rivals) act(length time.Duration) {
	q.t.Helper()
	give := func() error { return q.Timeout(q.t.Context(), q.msg, length, "") }
	if length == 0 {
		give = func() error { return q.Ban(q.t.Context(), q.msg, "") }
	}
	if err := give(); err != nil {
		q.t.Error(err)
	}
}

func (q *rivals) lift() error { return q.Lift(q.t.Context(), q.msg.ChannelID, q.msg.User.ID) }

// TestModerator_OthersSilencesStay checks that a sanction given by somebody else is neither
// shortened nor lifted, and that it is distinguished from the bot's own sanctions.
func TestModerator_OthersSilencesStay(t *testing.T) {
	const long, short = 14 * 24 * time.Hour, 30 * time.Second
	for name, c := range map[string]struct {
		act    func(q *rivals)
		given  int  // timeouts and bans sent
		theirs bool // lifting it is refused
	}{
		"theirs lasts longer":              {func(q *rivals) { q.report(long, "mo"); q.act(short) }, 0, true},
		"theirs is told by nobody's name":  {func(q *rivals) { q.report(long, ""); q.act(short) }, 0, true},
		"theirs is a ban":                  {func(q *rivals) { q.report(0, "mo"); q.act(short); q.act(0) }, 0, true},
		"theirs is shorter":                {func(q *rivals) { q.report(short, "mo"); q.act(long) }, 1, false},
		"a ban is more than their timeout": {func(q *rivals) { q.report(long, "mo"); q.act(0) }, 1, false},
		"theirs is over":                   {func(q *rivals) { q.report(short, "mo"); q.now = q.now.Add(short) }, 0, false},
		"they lifted it: the user can write": {func(q *rivals) {
			q.report(long, "mo")
			q.now = q.now.Add(time.Minute)
			q.msg.SentAt = q.now
			q.act(short)
		}, 1, false},
		"another user's": {func(q *rivals) {
			q.Removed(chat.Removal{ChannelID: q.msg.ChannelID, UserID: "5", Banned: true})
			q.act(short)
		}, 1, false},
		"only a message": {func(q *rivals) {
			q.Removed(chat.Removal{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, MessageID: "m"})
			q.act(short)
		}, 1, false},
		"the bot's, told without a name": {func(q *rivals) { q.act(short); q.report(short, "") }, 1, false},
		"the bot's, told late": {func(q *rivals) {
			q.act(long)
			q.now = q.now.Add(time.Minute)
			q.Removed(chat.Removal{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, Silence: long, At: q.now.Add(-time.Minute)})
		}, 1, false},
		"the bot's, told by name":           {func(q *rivals) { q.report(long, q.srv.BotLogin()) }, 0, false},
		"of another length, without a name": {func(q *rivals) { q.act(short); q.report(long, "") }, 1, true},
		"of the same length, by another":    {func(q *rivals) { q.act(short); q.report(short, "mo") }, 1, true},
		"of the same length, but later": {func(q *rivals) {
			q.act(long)
			q.now = q.now.Add(inTransit + time.Second)
			q.report(long, "")
		}, 1, true},
		"banned before the bot came":        {func(q *rivals) { q.srv.Silence("room", "ann", 0); q.act(short) }, 0, true},
		"banned before the bot would":       {func(q *rivals) { q.srv.Silence("room", "ann", 0); q.act(0) }, 0, true},
		"banned by the bot itself":          {func(q *rivals) { q.act(0); q.msg.SentAt = q.now.Add(time.Minute); q.act(short) }, 1, false},
		"banned after the bot's timeout":    {func(q *rivals) { q.act(short); q.report(0, ""); q.now = q.now.Add(time.Hour) }, 1, true},
		"the bot's answer comes after that": {actWhileReported(short, 0), 1, true},
	} {
		q := newRivals(t)
		c.act(q)
		if got := len(q.srv.Bans()); got != c.given {
			t.Errorf("%s: %d given, want %d", name, got, c.given)
		}
		if err := q.lift(); errors.Is(err, ErrNotOurs) != c.theirs || err != nil && !c.theirs && !errors.Is(err, chat.ErrNotSilenced) {
			t.Errorf("%s: lifting it: %v", name, err)
		}
	}
}

// actWhileReported makes the bot give a sanction for which Twitch's answer takes long. Before the
// answer, the chat reports this sanction, and a second one that somebody else gave after it.
func actWhileReported(length, theirs time.Duration) func(q *rivals) {
	return func(q *rivals) {
		q.srv.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			q.now = q.now.Add(time.Minute)
			q.report(length, "")
			q.report(theirs, "")
			return faketwitch.Fault{}, false
		})
		q.act(length)
		q.srv.SetHelixFaults(nil)
	}
}

// TestModerator_OthersSilenceDuringRetry checks that a timeout that is being retried doesn't
// replace a longer one that somebody else acts meanwhile.
func TestModerator_OthersSilenceDuringRetry(t *testing.T) {
	q := newRivals(t)
	q.srv.FailNext(statusFaults(503)...)
	waiting := q.Helix.Clock.SleepFunc
	q.Helix.Clock.SleepFunc = func(ctx context.Context, d time.Duration) error {
		q.report(14*24*time.Hour, "")
		return waiting(ctx, d)
	}
	q.act(30 * time.Second)
	if len(q.srv.Bans()) != 0 || len(q.srv.Requests()) != 1 {
		t.Errorf("%d requests, given %+v", len(q.srv.Requests()), q.srv.Bans())
	}
	if err := q.lift(); !errors.Is(err, ErrNotOurs) {
		t.Error(err)
	}
}
