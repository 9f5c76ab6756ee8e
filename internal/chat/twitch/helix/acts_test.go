package helix

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/journal"
)

// TestModerator_ActsForPeople checks that a person's timeout or ban counts as theirs, even if the
// chat reports the bot as its author: the bot neither shortens nor lifts it by itself, but a person
// can lift it.
func TestModerator_ActsForPeople(t *testing.T) {
	const long = time.Hour
	for name, c := range map[string]struct {
		length time.Duration
		report func(q *rivals)
		by     string
	}{
		"timeout":                     {long, func(*rivals) {}, "anna"},
		"timeout told without a name": {long, func(q *rivals) { q.report(long, "") }, "anna"},
		"timeout told by name":        {long, func(q *rivals) { q.report(long, q.srv.BotLogin()) }, "anna"},
		"ban":                         {0, func(q *rivals) { q.report(0, q.srv.BotLogin()) }, "anna"},
		"replaced by another's":       {long, func(q *rivals) { q.report(0, "mo") }, "twitch:mo"},
		"replaced by somebody's":      {long, func(q *rivals) { q.report(2*long, "") }, ""},
	} {
		q := newRivals(t)
		to := journal.Target{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, Author: "anna"}
		act := func() error { return q.TimeOutUser(t.Context(), to, c.length, "spam") }
		if c.length == 0 {
			act = func() error { return q.BanUser(t.Context(), to, "spam") }
		}
		if err := act(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if given := q.srv.Bans(); len(given) != 1 || given[0].Length != c.length || given[0].Reason != "spam" {
			t.Errorf("%s: given %+v", name, given)
		}
		c.report(q)
		if s, ok := q.Silence(to.ChannelID, to.UserID); !ok || s.By != c.by {
			t.Errorf("%s: known: %+v, %v; want by %q", name, s, ok, c.by)
		}
		q.act(time.Second)
		if n := len(q.srv.Bans()); n != 1 {
			t.Errorf("%s: the bot gave %d of its own", name, n-1)
		}
		if err := q.lift(); !errors.Is(err, ErrNotOurs) {
			t.Errorf("%s: the bot lifts it: %v", name, err)
		}
		if err := q.UnbanUser(t.Context(), to.ChannelID, to.UserID); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s, ok := q.Silence(to.ChannelID, to.UserID); !ok || s.IsInForce(q.now) {
			t.Errorf("%s: known after the lift: %+v, %v", name, s, ok)
		}
		if err := q.UnbanUser(t.Context(), to.ChannelID, to.UserID); !errors.Is(err, chat.ErrNotSilenced) {
			t.Errorf("%s: lifted twice: %v", name, err)
		}
	}
}

// TestModerator_LiftUnanswered checks that a timeout counts as lifted if Twitch lifted it without
// an answer, although it knows of none when it is asked again.
func TestModerator_LiftUnanswered(t *testing.T) {
	q := newRivals(t)
	q.act(time.Minute)
	q.srv.FailNext(faketwitch.Fault{After: true})
	if err := q.lift(); err != nil {
		t.Errorf("lifted without an answer: %v", err)
	}
	if err := q.lift(); !errors.Is(err, chat.ErrNotSilenced) {
		t.Errorf("lifted again: %v", err)
	}
}

// TestModerator_Silence checks what is known of a penalty, of a timeout that is over, and of
// nothing.
func TestModerator_Silence(t *testing.T) {
	q := newRivals(t)
	silence := func() (journal.Silence, bool) { return q.Silence(q.msg.ChannelID, q.msg.User.ID) }
	if s, ok := silence(); ok {
		t.Errorf("at first: %+v", s)
	}
	q.act(time.Minute)
	if s, ok := silence(); !ok || s.By != journal.ProgramAuthor || s.Banned || !s.Until.Equal(q.now.Add(time.Minute)) {
		t.Errorf("after a penalty: %+v, %v", s, ok)
	}
	q.now = q.now.Add(time.Minute)
	if s, ok := silence(); !ok || s.IsInForce(q.now) {
		t.Errorf("a minute later: %+v, %v", s, ok)
	}
}

// TestModerator_SilenceOver checks when a timeout that the chat has reported counts as over before
// its end, and that each change of what is known is announced.
func TestModerator_SilenceOver(t *testing.T) {
	for name, c := range map[string]struct {
		then func(q *rivals, channel, user string)
		over bool
	}{
		"lifted": {func(q *rivals, channel, user string) {
			q.Lifted(chat.Lift{ChannelID: channel, UserID: user, At: q.now})
		}, true},
		"lifted without a time": {func(q *rivals, channel, user string) { q.Lifted(chat.Lift{ChannelID: channel, UserID: user}) }, true},
		"another lifted before it": {func(q *rivals, channel, user string) {
			q.Lifted(chat.Lift{ChannelID: channel, UserID: user, At: q.now.Add(-time.Second)})
		}, false},
		"somebody else lifted":         {func(q *rivals, channel, _ string) { q.Lifted(chat.Lift{ChannelID: channel, UserID: "9", At: q.now}) }, false},
		"a message since":              {func(q *rivals, channel, user string) { q.Wrote(channel, user, q.now.Add(inTransit+time.Millisecond)) }, true},
		"a message that it overtook":   {func(q *rivals, channel, user string) { q.Wrote(channel, user, q.now.Add(inTransit)) }, false},
		"a message of somebody else":   {func(q *rivals, channel, _ string) { q.Wrote(channel, "9", q.now.Add(time.Minute)) }, false},
		"a message in another channel": {func(q *rivals, _, user string) { q.Wrote("9", user, q.now.Add(time.Minute)) }, false},
	} {
		q := newRivals(t)
		channel, user, changes := q.msg.ChannelID, q.msg.User.ID, []string{}
		q.Changed = func(channelID, userID, login string) {
			s, _ := q.Silence(channelID, userID)
			changes = append(changes, fmt.Sprint(channelID, " ", userID, " ", login, " ", s.IsInForce(q.now)))
		}
		q.Removed(chat.Removal{ChannelID: channel, UserID: user, Login: "ann", Silence: time.Hour, At: q.now})
		c.then(q, channel, user)
		if s, ok := q.Silence(channel, user); !ok || s.IsInForce(q.now) == c.over {
			t.Errorf("%s: known: %+v, %v", name, s, ok)
		}
		want := []string{channel + " " + user + " ann true"}
		if c.over {
			want = append(want, channel+" "+user+"  false")
		}
		changes = slices.DeleteFunc(changes, func(change string) bool { return !strings.HasPrefix(change, channel+" "+user+" ") })
		if !slices.Equal(changes, want) {
			t.Errorf("%s: announced %q, want %q", name, changes, want)
		}
	}
}

// TestModerator_BannedUser checks that a timeout of a banned user, and a second ban, are
// distinguished from other refusals.
func TestModerator_BannedUser(t *testing.T) {
	q := newRivals(t)
	q.srv.Silence("room", "ann", 0)
	to := journal.Target{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, Author: "anna"}
	for _, err := range []error{q.TimeOutUser(t.Context(), to, time.Minute, ""), q.BanUser(t.Context(), to, "")} {
		if !errors.Is(err, ErrBanned) {
			t.Error(err)
		}
	}
	if s, ok := q.Silence(to.ChannelID, to.UserID); !ok || !s.Banned || s.By != "" {
		t.Errorf("known: %+v, %v", s, ok)
	}
	to.UserID = to.ChannelID // the broadcaster
	if err := q.BanUser(t.Context(), to, ""); !errors.Is(err, ErrProtected) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// TestModerator_OverlappingRequests checks that the answer to a penalty isn't taken for the answer
// to a person's ban that was requested meanwhile.
func TestModerator_OverlappingRequests(t *testing.T) {
	q := newRivals(t)
	who := target{q.msg.ChannelID, q.msg.User.ID}
	penalty := q.noteRequest(who, sanction{length: time.Minute, from: q.now})
	ban := q.noteRequest(who, sanction{from: q.now, byOther: true, by: "anna"})
	q.noteAnswer(who, penalty, nil)
	if s, _ := q.Silence(who.channelID, who.userID); s.Banned || s.By != journal.ProgramAuthor {
		t.Errorf("after the penalty's answer: %+v", s)
	}
	q.noteAnswer(who, ban, nil)
	if s, _ := q.Silence(who.channelID, who.userID); !s.Banned || s.By != "anna" {
		t.Errorf("after the ban's answer: %+v", s)
	}
}

// TestModerator_OverlappingActs checks that the last of two sanctions that two people request at
// once counts, in whatever order Twitch's answers and reports arrive, and that it counts as given
// by the person who requested it.
func TestModerator_OverlappingActs(t *testing.T) {
	for _, by := range []string{"", "the bot"} {
		for _, order := range []string{"1a 1r 2a 2r", "1r 2r 1a 2a", "1r 2r 2a 1a", "1r 1a 2r 2a", "2a 1a 1r 2r", "1a 2a"} {
			q := newRivals(t)
			if by != "" {
				by = q.srv.BotLogin()
			}
			who := target{q.msg.ChannelID, q.msg.User.ID}
			requests := []*sanctionRequest{
				q.noteRequest(who, sanction{length: time.Hour, from: q.now, byOther: true, by: "anna"}),
				q.noteRequest(who, sanction{from: q.now, byOther: true, by: "berta"}),
			}
			for _, step := range strings.Fields(order) {
				q.now = q.now.Add(time.Millisecond)
				request := requests[step[0]-'1']
				if step[1] == 'a' {
					q.noteAnswer(who, request, nil)
				} else {
					q.report(request.length, by)
				}
			}
			if s, _ := q.Silence(who.channelID, who.userID); !s.Banned || s.By != "berta" {
				t.Errorf("%s, reported by %q: %+v", order, by, s)
			}
		}
	}
}

// TestModerator_LateReport checks that the report of a timeout that a person has lifted since
// doesn't count, but that of a later one does.
func TestModerator_LateReport(t *testing.T) {
	q := newRivals(t)
	to := journal.Target{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, Author: "anna"}
	told := chat.Removal{ChannelID: to.ChannelID, UserID: to.UserID, Silence: time.Hour, At: q.now}
	act := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		q.now = q.now.Add(time.Second)
	}
	act(q.TimeOutUser(t.Context(), to, time.Hour, ""))
	act(q.UnbanUser(t.Context(), to.ChannelID, to.UserID))
	q.Removed(told)
	if s, _ := q.Silence(to.ChannelID, to.UserID); s.IsInForce(q.now) {
		t.Errorf("after the lift: %+v", s)
	}
	told.At = q.now
	q.Removed(told)
	if s, _ := q.Silence(to.ChannelID, to.UserID); !s.IsInForce(q.now) {
		t.Errorf("after another timeout: %+v", s)
	}
}

// TestModerator_Recall checks what is known of a timeout or ban from before the start, and that
// what the chat has reported since the start counts instead.
func TestModerator_Recall(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(q *rivals, channel, user string)
		by            string // of the silence in force; empty if there is none
	}{
		"nothing since": {by: "anna"},
		"lifted since":  {after: func(q *rivals, channel, user string) { q.Lifted(chat.Lift{ChannelID: channel, UserID: user}) }},
		"wrote since":   {after: func(q *rivals, channel, user string) { q.Wrote(channel, user, q.now) }},
		"banned since":  {after: func(q *rivals, _, _ string) { q.report(0, "mo") }, by: "twitch:mo"},
		"banned before": {before: func(q *rivals, _, _ string) { q.report(0, "mo") }, by: "twitch:mo"},
		"lifted before": {before: func(q *rivals, channel, user string) { q.Lifted(chat.Lift{ChannelID: channel, UserID: user}) }},
	} {
		q := newRivals(t)
		to := journal.Target{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID}
		for _, step := range []func(q *rivals, channel, user string){
			c.before,
			func(*rivals, string, string) {
				q.Recall(to, journal.Silence{At: q.now.Add(-time.Minute), Until: q.now.Add(time.Hour), By: "anna"})
			},
			c.after,
		} {
			if step != nil {
				step(q, to.ChannelID, to.UserID)
			}
		}
		s, ok := q.Silence(to.ChannelID, to.UserID)
		if !ok || s.IsInForce(q.now) != (c.by != "") || s.By != c.by || c.by == "anna" && !s.Until.Equal(q.now.Add(time.Hour)) {
			t.Errorf("%s: %+v, %v; want by %q", name, s, ok, c.by)
		}
	}
}

// TestModerator_RestoresOwn checks that a timeout that a person restores counts as the bot's own if
// the bot gave it: the bot may lift it.
func TestModerator_RestoresOwn(t *testing.T) {
	q := newRivals(t)
	to := journal.Target{ChannelID: q.msg.ChannelID, UserID: q.msg.User.ID, Author: journal.ProgramAuthor}
	if err := q.TimeOutUser(t.Context(), to, time.Hour, ""); err != nil {
		t.Fatal(err)
	}
	q.report(time.Hour, q.srv.BotLogin())
	if s, _ := q.Silence(to.ChannelID, to.UserID); s.By != journal.ProgramAuthor {
		t.Errorf("known: %+v", s)
	}
	if err := q.lift(); err != nil {
		t.Errorf("the bot lifts it: %v", err)
	}
}
