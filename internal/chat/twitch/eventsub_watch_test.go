package twitch

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestEventSubRemovals: what other moderators take away is told, in its place among the messages.
func TestEventSubRemovals(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		id := st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		now := time.Now()
		st.RemoveMessage(id)
		st.Silence("gardenhour", "anna", 10*time.Minute)
		st.Silence("gardenhour", "berta", 0)
		st.Clear("gardenhour")
		if err := st.events.Helix.BanUser(t.Context(), Room{garden, st.BotID()}, "4711", ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := []chat.Removal{
			{ChannelID: garden, MessageID: id, UserID: st.UserID("anna"), By: "gardenhour", At: now},
			{ChannelID: garden, UserID: st.UserID("anna"), Silence: 10 * time.Minute, By: "gardenhour", At: now},
			{ChannelID: garden, UserID: st.UserID("berta"), Banned: true, By: "gardenhour", At: now},
			{ChannelID: garden, By: "gardenhour", At: now},
			{ChannelID: garden, UserID: "4711", Banned: true, By: st.BotLogin(), At: now},
		}
		st.mu.Lock()
		defer st.mu.Unlock()
		if !slices.Equal(st.removals, want) {
			t.Errorf("got %+v\nwant %+v", st.removals, want)
		}
	})
}

// TestEventSubOrder: messages and removals that arrive together are handed over in the order in which Twitch sent them.
func TestEventSubOrder(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		stuck := make(chan struct{})
		st.stuck.Store(&stuck)
		for _, text := range []string{"one", "two", "three"} {
			st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: text})
			st.Clear("gardenhour")
		}
		st.stuck.Store(nil)
		close(stuck)
		synctest.Wait()
		if want := []string{"one", "removed", "two", "removed", "three", "removed"}; !slices.Equal(st.order, want) {
			t.Errorf("got %q, want %q", st.order, want)
		}
	})
}

// TestEventSubNoModerator: where the bot is no moderator, reading goes on without what the moderators do; that is said, and noticed when it
// changes, either way.
func TestEventSubNoModerator(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		st.takeNotes()
		st.SetBotModerator("gardenhour", false)
		after(10 * time.Second)
		s := st.events.Status()
		if c := s.Channels[0]; !c.Joined || c.Problem != ErrNotModerator.Error() || s.Channels[1].Problem != "" {
			t.Errorf("%+v", s.Channels)
		}
		if told := slices.Compact(st.takeNotes()); !slices.Equal(told, []string{"doesn't moderate " + garden}) {
			t.Errorf("told %q", told)
		}
		st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		asked := st.posted()
		after(30 * time.Minute)
		if st.heardTexts() != "hello" || st.posted() != asked || st.EventSubConnections() != 1 {
			t.Errorf("heard %q, asked %d times in vain", st.heardTexts(), st.posted()-asked)
		}
		st.SetBotModerator("gardenhour", true)
		after(lookAgain)
		if c := st.events.Status().Channels[0]; c.Problem != "" || st.EventSubscriptions("channel.moderate") != 2 {
			t.Errorf("%+v", c)
		}
		if told := st.takeNotes(); !slices.Equal(told, []string{"moderates " + garden}) {
			t.Errorf("told %q", told)
		}
	})
}

// TestEventSubScopes: without the scopes that seeing moderation takes, reading goes on; nobody is told that the bot is no moderator.
func TestEventSubScopes(t *testing.T) {
	scopes := []string{"user:read:chat", "user:read:moderated_channels"}
	for n := range 2 {
		onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "chatguard_bot"}, Scopes: scopes[:n+1]}, func(t *testing.T, st *eventStage) {
			st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			after(10 * time.Minute)
			for _, c := range st.events.Status().Channels {
				if !c.Joined || c.Problem != notTold {
					t.Errorf("%+v", c)
				}
			}
			if told := st.takeNotes(); st.heardTexts() != "hello" || len(told) != 2 || st.posted() != 4 {
				t.Errorf("heard %q, told %q, asked for %d subscriptions", st.heardTexts(), told, st.posted())
			}
		})
	}
}

// TestEventSubRevoked: a subscription that Twitch ends is named, and made again where that can help.
func TestEventSubRevoked(t *testing.T) {
	for _, why := range []string{"user_removed", "version_removed", "authorization_revoked"} {
		onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
			st.RevokeSubscriptions("gardenhour", "channel.chat.message", why)
			synctest.Wait()
			s := st.events.Status()
			if c := s.Channels[0]; c.Joined || !strings.Contains(c.Problem, why) || !strings.Contains(s.Detail, "#gardenhour") || !s.Channels[1].Joined {
				t.Errorf("%+v", s)
			}
			after(calmDown)
			if c := st.events.Status().Channels[0]; !c.Joined || c.Problem != "" || st.EventSubConnections() != 1 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestEventSubRevocationsForEver: a server that ends every subscription at once isn't asked for ever new ones at once.
func TestEventSubRevocationsForEver(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		for range 100 {
			st.RevokeSubscriptions("gardenhour", "channel.chat.message", "user_removed")
			after(100 * time.Millisecond)
		}
		if n := st.posted(); n > 2+10 {
			t.Errorf("asked for %d subscriptions in 10 s", n)
		}
	})
}

// TestEventSubBotsStanding: that the bot is made a moderator, or no longer is one, is told from the event, too.
func TestEventSubBotsStanding(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		st.takeNotes()
		for n, action := range []string{"unmod", "mod"} {
			for _, who := range []string{"4711", st.BotID()} {
				st.SendEventSub(notification(action+who, kindModerate, garden, `{"broadcaster_user_id":"`+garden+`","action":"`+action+`","`+action+`":{"user_id":"`+who+`"}}`))
			}
			synctest.Wait()
			want := []string{"doesn't moderate " + garden, "moderates " + garden}[n]
			if told := st.takeNotes(); !slices.Equal(told, []string{want}) {
				t.Errorf("%s: told %q", action, told)
			}
		}
		st.RevokeSubscriptions("gardenhour", kindModerate, "moderator_removed")
		synctest.Wait()
		if told := st.takeNotes(); !slices.Equal(told, []string{"doesn't moderate " + garden}) {
			t.Errorf("told %q", told)
		}
	})
}

// TestEventSubWrongClock: where this machine's clock is wrong, that is said, and chat is read all the same.
func TestEventSubWrongClock(t *testing.T) {
	for off, want := range map[time.Duration]string{
		11 * time.Minute: "this machine's clock differs from Twitch's by 11m: set it right", -2 * time.Hour: "differs from Twitch's by 2h0m",
		30 * time.Second: "", -30 * time.Second: "",
	} {
		byTwitch := func() time.Time { return time.Now().Add(off) }
		onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}, Now: byTwitch}, func(t *testing.T, st *eventStage) {
			st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "too old", SentAt: byTwitch().Add(-maxEventAge - time.Second)})
			after(time.Hour)
			st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "later"})
			s := st.events.Status()
			if st.heardTexts() != "hello, later" || s.Skipped[Stale] != 1 || !strings.Contains(s.Detail, want) || want == "" && s.Detail != "" {
				t.Errorf("%v off: heard %q, %+v", off, st.heardTexts(), s)
			}
		})
	}
}
