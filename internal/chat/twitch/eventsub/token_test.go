package eventsub

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/helix"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
)

// TestEventSub_TokenRefused checks that a refused token without a replacement is reported and tried
// again now and then. Once there is a good token, reading continues.
func TestEventSub_TokenRefused(t *testing.T) {
	for name, lose := range map[string]func(*eventStage){
		"at connect": func(st *eventStage) {
			st.Revoke()
			st.DropEventSub()
		},
		"while it reads": func(st *eventStage) { st.Revoke() },
	} {
		testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
			token := st.restartRenewable()
			lose(st)
			advance(time.Hour)
			s := st.events.Status()
			if s.Channels[0].Joined || !strings.Contains(s.Detail, twitch.ErrToken.Error()) || strings.Contains(s.Detail, *token.Load()) || s.Reconnects > 100 {
				t.Errorf("%s: %+v", name, s)
			}
			token.Store(st.logIn(st.BotLogin()))
			advance(time.Minute)
			st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			if s := st.events.Status(); !s.Channels[0].Joined || st.messageTexts() != "hello" {
				t.Errorf("%s: heard %q, %+v", name, st.messageTexts(), s)
			}
		})
	}
}

// TestEventSub_TokenRefusedForAWhile checks that reading continues while the token is refused.
func TestEventSub_TokenRefusedForAWhile(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusUnauthorized}, true
		})
		st.RevokeSubscriptions("teatime", helix.KindChat, "user_removed")
		advance(5 * time.Minute)
		st.say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		s := st.events.Status()
		if st.messageTexts() != "hello" || s.Reconnects != 0 || s.Channels[1].Joined || !strings.Contains(s.Detail, twitch.ErrToken.Error()) {
			t.Errorf("heard %q, %+v", st.messageTexts(), s)
		}
		st.SetHelixFaults(nil)
		advance(time.Minute)
		if s := st.events.Status(); !s.Channels[1].Joined {
			t.Errorf("%+v", s)
		}
	})
}

// TestEventSub_OtherUser checks that if the bot's account changes, chat is read as the new account
// within a minute.
func TestEventSub_OtherUser(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		must(t, st.stop())
		var who atomic.Value
		who.Store(st.BotID())
		st.events.UserID = func() string { return who.Load().(string) }
		token := st.restartRenewable()
		token.Store(st.logIn("berta"))
		who.Store(st.UserID("berta"))
		advance(time.Minute + time.Second)
		if s := st.events.Status(); !s.Channels[0].Joined || s.Reconnects != 1 || !strings.Contains(s.Detail, twitch.ErrNotModerator.Error()) {
			t.Errorf("%+v", s)
		}
		requests := st.Requests()
		for n := len(requests) - 1; n >= 0; n-- {
			if strings.Contains(requests[n].Body, helix.KindChat) {
				if !strings.Contains(requests[n].Body, `"user_id":"`+st.UserID("berta")+`"`) {
					t.Errorf("subscribed by %s", requests[n].Body)
				}
				return
			}
		}
	})
}

// TestEventSub_NotBehindModeration checks that a lost connection is replaced in time while
// moderation uses all requests.
func TestEventSub_NotBehindModeration(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		st.FailNext(faketwitch.Fault{Status: faketwitch.AsAsked, Header: http.Header{"Ratelimit-Limit": {"800"}, "Ratelimit-Remaining": {"20"}}})
		_, err := st.events.Helix.Users(t.Context(), "gardenhour")
		must(t, err)
		if left := st.events.Helix.Left(0); left != 0 {
			t.Fatalf("%d requests left for moderation, want none", left)
		}
		raid, over := context.WithCancel(t.Context())
		room := helix.Room{BroadcasterID: st.UserID("gardenhour"), ModeratorID: st.BotID()}
		for range 240 {
			go func() {
				for raid.Err() == nil {
					_ = st.events.Helix.DeleteMessage(raid, room, "gone")
				}
			}()
		}
		advance(10 * time.Second)
		st.DropEventSub()
		advance(10 * time.Second)
		if s := st.events.Status(); !s.Channels[0].Joined || !s.Channels[1].Joined || len(st.EventSubCloses()) != 0 {
			t.Errorf("closed with %v, %+v", st.EventSubCloses(), s)
		}
		over()
		synctest.Wait()
	})
}

// TestEventSub_KeepsChannelIDs checks that the channels are looked up once, however often the
// connection is lost.
func TestEventSub_KeepsChannelIDs(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusInternalServerError}, r.Path == "/helix/users"
		})
		st.takeNotes()
		st.DropEventSub()
		advance(2 * time.Second)
		if told := st.takeNotes(); !st.events.Status().Channels[0].Joined || len(told) != 2 || told[0] != "entered gardenhour "+st.UserID("gardenhour") {
			t.Errorf("told %q, %+v", told, st.events.Status())
		}
	})
}

// restartRenewable restarts the stage with a token that the test can replace.
func (st *eventStage) restartRenewable() *atomic.Pointer[string] {
	st.t.Helper()
	must(st.t, st.stop())
	var token atomic.Pointer[string]
	first := st.Token()
	token.Store(&first)
	st.events.Helix.Token = func(context.Context) (string, error) { return *token.Load(), nil }
	st.run(st.t.Context())
	return &token
}

// logIn logs an account in and returns its new token.
func (st *eventStage) logIn(as string) *string {
	st.t.Helper()
	d := &token.DeviceLogin{Application: token.Application{AuthURL: st.AuthURL(), ClientID: st.ClientID(), HTTP: st.events.HTTP}}
	code, err := d.Begin(st.t.Context())
	must(st.t, err)
	st.ApproveAs(code.UserCode, as)
	pair, err := d.Wait(st.t.Context(), code)
	must(st.t, err)
	return &pair.Access
}

// TestEventSub_TokenRenewed checks that a refused token is replaced and reading continues.
func TestEventSub_TokenRenewed(t *testing.T) {
	testEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		must(t, st.stop())
		token := "outdated"
		st.events.Helix.Token = func(context.Context) (string, error) { return token, nil }
		st.events.Helix.Refused = func(context.Context, string) error {
			token = st.Token()
			return nil
		}
		st.run(t.Context())
		if s := st.events.Status(); !s.Channels[0].Joined || st.EventSubConnections() != 2 {
			t.Errorf("%+v", s)
		}
	})
}
