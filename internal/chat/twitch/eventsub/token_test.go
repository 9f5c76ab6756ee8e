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
		onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
			token := st.renewable()
			lose(st)
			after(time.Hour)
			s := st.events.Status()
			if s.Channels[0].Joined || !strings.Contains(s.Detail, twitch.ErrToken.Error()) || strings.Contains(s.Detail, *token.Load()) || s.Reconnects > 100 {
				t.Errorf("%s: %+v", name, s)
			}
			token.Store(st.logsIn(st.BotLogin()))
			after(time.Minute)
			st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			if s := st.events.Status(); !s.Channels[0].Joined || st.heardTexts() != "hello" {
				t.Errorf("%s: heard %q, %+v", name, st.heardTexts(), s)
			}
		})
	}
}

// TestEventSub_TokenRefusedForAWhile checks that reading continues while the token is refused.
func TestEventSub_TokenRefusedForAWhile(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusUnauthorized}, true
		})
		st.RevokeSubscriptions("teatime", helix.KindChat, "user_removed")
		after(5 * time.Minute)
		st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		s := st.events.Status()
		if st.heardTexts() != "hello" || s.Reconnects != 0 || s.Channels[1].Joined || !strings.Contains(s.Detail, twitch.ErrToken.Error()) {
			t.Errorf("heard %q, %+v", st.heardTexts(), s)
		}
		st.SetHelixFaults(nil)
		after(time.Minute)
		if s := st.events.Status(); !s.Channels[1].Joined {
			t.Errorf("%+v", s)
		}
	})
}

// TestEventSub_OtherUser checks that if the bot's account changes, chat is read as the new account
// within a minute.
func TestEventSub_OtherUser(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		if err := st.stop(); err != nil {
			t.Fatal(err)
		}
		var who atomic.Value
		who.Store(st.BotID())
		st.events.UserID = func() string { return who.Load().(string) }
		token := st.renewable()
		token.Store(st.logsIn("berta"))
		who.Store(st.UserID("berta"))
		after(time.Minute + time.Second)
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
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		st.FailNext(faketwitch.Fault{Status: faketwitch.AsAsked, Header: http.Header{"Ratelimit-Limit": {"800"}, "Ratelimit-Remaining": {"20"}}})
		if _, err := st.events.Helix.Users(t.Context(), "gardenhour"); err != nil {
			t.Fatal(err)
		}
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
		after(10 * time.Second)
		st.DropEventSub()
		after(10 * time.Second)
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
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusInternalServerError}, r.Path == "/helix/users"
		})
		st.takeNotes()
		st.DropEventSub()
		after(2 * time.Second)
		if told := st.takeNotes(); !st.events.Status().Channels[0].Joined || len(told) != 2 || told[0] != "entered gardenhour "+st.UserID("gardenhour") {
			t.Errorf("told %q, %+v", told, st.events.Status())
		}
	})
}

// renewable restarts the stage with a token that the test can replace.
func (st *eventStage) renewable() *atomic.Pointer[string] {
	st.t.Helper()
	if err := st.stop(); err != nil {
		st.t.Fatal(err)
	}
	var token atomic.Pointer[string]
	first := st.Token()
	token.Store(&first)
	st.events.Helix.Token = func(context.Context) (string, error) { return *token.Load(), nil }
	st.run(st.t.Context())
	return &token
}

// logsIn returns the token of a new login.
func (st *eventStage) logsIn(as string) *string {
	st.t.Helper()
	d := &token.DeviceLogin{AuthURL: st.AuthURL(), ClientID: st.ClientID(), HTTP: st.events.HTTP}
	code, err := d.Begin(st.t.Context())
	if err != nil {
		st.t.Fatal(err)
	}
	st.ApproveAs(code.UserCode, as)
	pair, err := d.Wait(st.t.Context(), code)
	if err != nil {
		st.t.Fatal(err)
	}
	return &pair.Access
}

// TestEventSub_TokenRenewed checks that a refused token is replaced and reading continues.
func TestEventSub_TokenRenewed(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour"}}, func(t *testing.T, st *eventStage) {
		if err := st.stop(); err != nil {
			t.Fatal(err)
		}
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
