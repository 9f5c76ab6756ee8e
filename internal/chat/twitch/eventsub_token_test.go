package twitch

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestEventSubTokenRefused: while Helix refuses the token and there is no other, that is said, and it is tried now and then; once there is a good
// one, reading goes on.
func TestEventSubTokenRefused(t *testing.T) {
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
			if s.Channels[0].Joined || !strings.Contains(s.Detail, ErrToken.Error()) || strings.Contains(s.Detail, *token.Load()) || s.Reconnects > 100 {
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

// TestEventSubTokenRefusedForAWhile: what is being read is read on.
func TestEventSubTokenRefusedForAWhile(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		st.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusUnauthorized}, true
		})
		st.RevokeSubscriptions("teatime", kindChat, "user_removed")
		after(5 * time.Minute)
		st.says(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		s := st.events.Status()
		if st.heardTexts() != "hello" || s.Reconnects != 0 || s.Channels[1].Joined || !strings.Contains(s.Detail, ErrToken.Error()) {
			t.Errorf("heard %q, %+v", st.heardTexts(), s)
		}
		st.SetHelixFaults(nil)
		after(time.Minute)
		if s := st.events.Status(); !s.Channels[1].Joined {
			t.Errorf("%+v", s)
		}
	})
}

// TestEventSubOtherUser: when the bot becomes another account, its chat is read in that one's name within a minute.
func TestEventSubOtherUser(t *testing.T) {
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
		if s := st.events.Status(); !s.Channels[0].Joined || s.Reconnects != 1 || !strings.Contains(s.Detail, ErrNotModerator.Error()) {
			t.Errorf("%+v", s)
		}
		requests := st.Requests()
		for n := len(requests) - 1; n >= 0; n-- {
			if strings.Contains(requests[n].Body, kindChat) {
				if !strings.Contains(requests[n].Body, `"user_id":"`+st.UserID("berta")+`"`) {
					t.Errorf("subscribed by %s", requests[n].Body)
				}
				return
			}
		}
	})
}

// TestEventSubDoesNotWaitBehindModeration: a connection that is lost while moderation takes all requests there are is made anew in time.
func TestEventSubDoesNotWaitBehindModeration(t *testing.T) {
	onEventStage(t, faketwitch.Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, st *eventStage) {
		if err := st.events.Helix.heed(t.Context(), answer{header: told(800, reserve)}, 1); err != nil {
			t.Fatal(err)
		}
		raid, over := context.WithCancel(t.Context())
		room := Room{st.UserID("gardenhour"), st.BotID()}
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

// TestEventSubKnowsItsChannels: they are looked up once, however often the connection is lost.
func TestEventSubKnowsItsChannels(t *testing.T) {
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

// renewable lets what is read be read by a token that can be replaced.
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

// logsIn returns the token that somebody gets by logging in.
func (st *eventStage) logsIn(as string) *string {
	st.t.Helper()
	d := &DeviceLogin{AuthURL: st.AuthURL(), ClientID: st.ClientID(), HTTP: st.events.HTTP}
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

// TestEventSubTokenRenewed: a token that is refused is asked for anew, and reading goes on.
func TestEventSubTokenRenewed(t *testing.T) {
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
