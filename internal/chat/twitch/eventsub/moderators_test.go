package eventsub

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
)

// TestEventSub_Removals checks that removals by other moderators are delivered, in order with the
// messages.
func TestEventSub_Removals(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		id := st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		now := time.Now()
		st.RemoveMessage(id)
		st.Silence("gardenhour", "anna", 10*time.Minute)
		st.Silence("gardenhour", "berta", 0)
		st.Clear("gardenhour")
		bot := helix.Moderator{Helix: st.events.Helix, UserID: st.BotID}
		must(t, bot.Ban(t.Context(), chatguard.Message{ChannelID: garden, User: chatguard.User{ID: "4711"}}, ""))
		synctest.Wait()
		want := []chat.Removal{
			{ChannelID: garden, MessageID: id, UserID: st.UserID("anna"), By: "gardenhour", At: now},
			{ChannelID: garden, UserID: st.UserID("anna"), Login: "anna", Silence: 10 * time.Minute, By: "gardenhour", At: now},
			{ChannelID: garden, UserID: st.UserID("berta"), Login: "berta", Banned: true, By: "gardenhour", At: now},
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

// TestEventSub_Order checks that messages and removals that arrive together are delivered in the
// order in which Twitch sent them.
func TestEventSub_Order(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		stuck := make(chan struct{})
		st.stuck.Store(&stuck)
		for _, text := range []string{"one", "two", "three"} {
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: text})
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

// TestEventSub_StaffChanged checks that changes of other moderators are reported.
func TestEventSub_StaffChanged(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		st.takeNotes()
		st.SetModerator("gardenhour", "anna", true)
		st.SetModerator("gardenhour", "anna", false)
		synctest.Wait()
		note := "staff of " + garden + " changed: " + st.UserID("anna")
		if told := st.takeNotes(); !slices.Equal(told, []string{note, note}) || len(st.removals) != 0 {
			t.Errorf("told %q", told)
		}
	})
}

// TestEventSub_NotModerator checks that in a channel where the bot isn't a moderator, reading works
// without moderation events. The status shows this. A change in either direction is noticed.
func TestEventSub_NotModerator(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		st.takeNotes()
		st.SetBotModerator("gardenhour", false)
		advance(10 * time.Second)
		s := st.events.Status()
		if c := s.Channels[0]; !c.Joined || c.Problem != twitch.ErrNotModerator.Error() || s.Channels[1].Problem != "" {
			t.Errorf("%+v", s.Channels)
		}
		if told := slices.Compact(st.takeNotes()); !slices.Equal(told, []string{"doesn't moderate " + garden}) {
			t.Errorf("told %q", told)
		}
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		asked := st.subscriptionRequests()
		advance(30 * time.Minute)
		if st.messageTexts() != "hello" || st.subscriptionRequests() != asked || st.EventSubConnections() != 1 {
			t.Errorf("heard %q, asked %d times without effect", st.messageTexts(), st.subscriptionRequests()-asked)
		}
		st.SetBotModerator("gardenhour", true)
		advance(retryEvery)
		if c := st.events.Status().Channels[0]; c.Problem != "" || st.EventSubscriptions("channel.moderate") != 2 {
			t.Errorf("%+v", c)
		}
		if told := st.takeNotes(); !slices.Equal(told, []string{"moderates " + garden}) {
			t.Errorf("told %q", told)
		}
	})
}

// TestEventSub_MissingScopes checks that reading works without the scopes for moderation events,
// and that missing scopes aren't reported as missing moderator rights.
func TestEventSub_MissingScopes(t *testing.T) {
	scopes := []string{"user:read:chat", "user:read:moderated_channels"}
	for n := range 2 {
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "chatguard_bot"}, Scopes: scopes[:n+1]}, func(t *testing.T, st *eventStage) {
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			advance(10 * time.Minute)
			for _, c := range st.events.Status().Channels {
				if !c.Joined || c.Problem != notTold {
					t.Errorf("%+v", c)
				}
			}
			if told := st.takeNotes(); st.messageTexts() != "hello" || len(told) != 2 || st.subscriptionRequests() != 6 {
				t.Errorf("heard %q, told %q, asked for %d subscriptions", st.messageTexts(), told, st.subscriptionRequests())
			}
		})
	}
}

// TestEventSub_Revoked checks that a subscription that Twitch ends is reported, and made again if
// that can help.
func TestEventSub_Revoked(t *testing.T) {
	for _, why := range []string{"user_removed", "version_removed", "authorization_revoked"} {
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
			st.RevokeSubscriptions("gardenhour", "channel.chat.message", why)
			synctest.Wait()
			s := st.events.Status()
			if c := s.Channels[0]; c.Joined || !strings.Contains(c.Problem, why) || !strings.Contains(s.Detail, "#gardenhour") || !s.Channels[1].Joined {
				t.Errorf("%+v", s)
			}
			advance(settleTime)
			if c := st.events.Status().Channels[0]; !c.Joined || c.Problem != "" || st.EventSubConnections() != 1 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestEventSub_RevocationLoop checks that if a server keeps ending every subscription, new ones are
// requested only after a delay.
func TestEventSub_RevocationLoop(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		for range 100 {
			st.RevokeSubscriptions("gardenhour", "channel.chat.message", "user_removed")
			advance(100 * time.Millisecond)
		}
		if n := st.subscriptionRequests(); n > 2+10 {
			t.Errorf("asked for %d subscriptions in 10 s", n)
		}
	})
}

// TestEventSub_BotModeratorChanges checks that events also report that the bot becomes a moderator
// or stops being one.
func TestEventSub_BotModeratorChanges(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		garden := st.UserID("gardenhour")
		st.takeNotes()
		for n, action := range []string{"unmod", "mod"} {
			for _, who := range []string{"4711", st.BotID()} {
				st.SendEventSub(notification(action+who, helix.KindModerate, garden, `{"broadcaster_user_id":"`+garden+`","action":"`+action+`","`+action+`":{"user_id":"`+who+`"}}`))
			}
			synctest.Wait()
			want := []string{"doesn't moderate " + garden, "moderates " + garden}[n]
			if told := st.takeNotes(); !slices.Equal(told, []string{"staff of " + garden + " changed: 4711", want}) {
				t.Errorf("%s: told %q", action, told)
			}
		}
		st.RevokeSubscriptions("gardenhour", helix.KindModerate, "moderator_removed")
		synctest.Wait()
		if told := st.takeNotes(); !slices.Equal(told, []string{"doesn't moderate " + garden}) {
			t.Errorf("told %q", told)
		}
	})
}

// TestEventSub_WrongClock checks that a wrong clock on this machine is reported and chat is still
// read.
func TestEventSub_WrongClock(t *testing.T) {
	for off, want := range map[time.Duration]string{
		11 * time.Minute: "this machine's clock differs from Twitch's by 11m: correct it", -2 * time.Hour: "differs from Twitch's by 2h0m",
		30 * time.Second: "", -30 * time.Second: "",
	} {
		byTwitch := func() time.Time { return time.Now().Add(off) }
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}, Now: byTwitch}, func(t *testing.T, st *eventStage) {
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "too old", SentAt: byTwitch().Add(-maxEventAge - time.Second)})
			advance(time.Hour)
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "later"})
			s := st.events.Status()
			if st.messageTexts() != "hello, later" || s.Skipped[Stale] != 1 || !strings.Contains(s.Detail, want) || want == "" && s.Detail != "" {
				t.Errorf("%v off: heard %q, %+v", off, st.messageTexts(), s)
			}
		})
	}
}
