package faketwitch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// listener is a simple EventSub client.
type listener struct {
	t    *testing.T
	conn *websocket.Conn
}

// heardFrame is a frame as a client reads it.
type heardFrame struct {
	Metadata struct {
		ID   string    `json:"message_id"`
		Kind string    `json:"message_type"`
		At   time.Time `json:"message_timestamp"`
		Type string    `json:"subscription_type"`
	} `json:"metadata"`
	Payload struct {
		Session struct {
			ID        string `json:"id"`
			Keepalive int    `json:"keepalive_timeout_seconds"`
			Reconnect string `json:"reconnect_url"`
		} `json:"session"`
		Subscription struct {
			Status string `json:"status"`
		} `json:"subscription"`
		Event map[string]any `json:"event"`
	} `json:"payload"`
}

// testEventSub runs a test under a simulated clock.
func testEventSub(t *testing.T, opts Options, test func(t *testing.T, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.InMemory = true
		test(t, start(t, opts))
	})
}

func listen(t *testing.T, s *Server, address string) *listener {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: s.Dial}}
	conn, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPClient: client})
	must(t, err)
	t.Cleanup(func() { conn.CloseNow() })
	return &listener{t, conn}
}

// next reads the next frame. If the connection ended instead, code is the close code.
func (l *listener) next() (f heardFrame, code int) {
	l.t.Helper()
	_, text, err := l.conn.Read(context.Background())
	if err != nil {
		return f, int(websocket.CloseStatus(err))
	}
	if err := json.Unmarshal(text, &f); err != nil {
		l.t.Fatalf("%v: %s", err, text)
	}
	return f, 0
}

// expect reads the next frame, which must be of this kind.
func (l *listener) expect(kind string) heardFrame {
	l.t.Helper()
	f, code := l.next()
	if f.Metadata.Kind != kind {
		l.t.Fatalf("%q, closed with %d; want %q", f.Metadata.Kind, code, kind)
	}
	return f
}

// subscriptionRequest returns the body of a request for a subscription.
func subscriptionRequest(kind, version, room, user, session string) string {
	who := "user_id"
	if kind == channelModerate {
		who = "moderator_user_id"
	}
	return fmt.Sprintf(`{"type":"%s","version":"%s","condition":{"broadcaster_user_id":"%s","%s":"%s"},"transport":{"method":"websocket","session_id":"%s"}}`,
		kind, version, room, who, user, session)
}

// subscribe requests a subscription and returns the status of the answer.
func subscribe(t *testing.T, s *Server, body string) int {
	t.Helper()
	status, _ := ask(t, s, "POST", "/eventsub/subscriptions", body)
	return status
}

// TestEventSub_Closes checks the reasons for which Twitch closes a socket.
func TestEventSub_Closes(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*testing.T, *Server, *listener)
		want  int
		after time.Duration
	}{
		"a frame from the client": {func(t *testing.T, _ *Server, l *listener) {
			if err := l.conn.Write(t.Context(), websocket.MessageText, []byte("{}")); err != nil {
				t.Error(err)
			}
		}, 4001, 0},
		"a ping from the client": {func(t *testing.T, s *Server, l *listener) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := l.conn.Ping(ctx); err == nil {
				t.Error("ping was answered")
			}
		}, 4001, 0},
		"no subscription": {func(*testing.T, *Server, *listener) {}, 4003, subscribeWithin},
	} {
		testEventSub(t, Options{}, func(t *testing.T, s *Server) {
			l := listen(t, s, s.EventSubURL()+"?keepalive_timeout_seconds=30")
			l.expect("session_welcome")
			began := time.Now()
			c.spoil(t, s, l)
			l.next()
			synctest.Wait()
			if closes := s.EventSubCloses(); !slices.Equal(closes, []int{c.want}) || time.Since(began).Round(time.Second) != c.after {
				t.Errorf("%s: closed with %v after %v, want %d", name, closes, time.Since(began), c.want)
			}
			<-time.After(time.Minute)
			if s.EventSubSockets() != 0 {
				t.Errorf("%s: still open", name)
			}
		})
	}
}

// TestEventSub_KeepaliveBounds checks that only keepalives of 10 to 600 s are accepted.
func TestEventSub_KeepaliveBounds(t *testing.T) {
	testEventSub(t, Options{}, func(t *testing.T, s *Server) {
		client := &http.Client{Transport: &http.Transport{DialContext: s.Dial, DisableKeepAlives: true}}
		for _, bad := range []string{"9", "601", "x", "-1"} {
			_, resp, err := websocket.Dial(t.Context(), s.EventSubURL()+"?keepalive_timeout_seconds="+bad, &websocket.DialOptions{HTTPClient: client})
			if err == nil || resp == nil || resp.StatusCode != 400 {
				t.Errorf("%s: %v", bad, err)
			}
		}
		if got := listen(t, s, s.EventSubURL()).expect("session_welcome").Payload.Session.Keepalive; got != 10 {
			t.Errorf("%d s where none was asked for", got)
		}
	})
}

// TestEventSub_Reconnect checks that a reconnect address works once, and for 30 s. After that, a
// client's old socket is closed.
func TestEventSub_Reconnect(t *testing.T) {
	testEventSub(t, Options{Channels: []string{"gardenhour"}}, func(t *testing.T, s *Server) {
		old := listen(t, s, s.EventSubURL()+"?keepalive_timeout_seconds=600")
		session := old.expect("session_welcome").Payload.Session.ID
		if got := subscribe(t, s, subscriptionRequest(chatMessage, "1", s.UserID("gardenhour"), s.BotID(), session)); got != 202 {
			t.Fatal(got)
		}
		s.ReconnectEventSub()
		address := old.expect("session_reconnect").Payload.Session.Reconnect
		next := listen(t, s, address)
		next.expect("session_welcome")
		if _, code := old.next(); code != 4004 {
			t.Errorf("old socket closed with %d", code)
		}
		if _, code := listen(t, s, address).next(); code != 4007 {
			t.Errorf("second use of the address: closed with %d", code)
		}
		s.ReconnectEventSub()
		late := next.expect("session_reconnect").Payload.Session.Reconnect
		began := time.Now()
		next.next()
		if waited := time.Since(began); waited != moveWithin {
			t.Errorf("the old socket is closed after %v", waited)
		}
		<-time.After(time.Second)
		if _, code := listen(t, s, late).next(); code != 4007 {
			t.Errorf("too late: closed with %d", code)
		}
		if s.EventSubscriptions("") != 0 {
			t.Error("subscriptions outlive their session")
		}
	})
}

// TestEventSub_Subscriptions checks what can be subscribed to, by whom, and how often.
func TestEventSub_Subscriptions(t *testing.T) {
	testEventSub(t, Options{Channels: []string{"gardenhour", "teatime"}}, func(t *testing.T, s *Server) {
		session := listen(t, s, s.EventSubURL()).expect("session_welcome").Payload.Session.ID
		garden, tea, bot := s.UserID("gardenhour"), s.UserID("teatime"), s.BotID()
		s.SetBotModerator("teatime", false)
		for name, c := range map[string]struct {
			body string
			want int
		}{
			"no JSON":             {"{", 400},
			"a webhook":           {`{"type":"channel.chat.message","version":"1","transport":{"method":"webhook"}}`, 400},
			"unknown type":        {subscriptionRequest("channel.invented", "1", garden, bot, session), 400},
			"unknown version":     {subscriptionRequest(channelModerate, "3", garden, bot, session), 400},
			"unknown broadcaster": {subscriptionRequest(chatMessage, "1", "1", bot, session), 400},
			"unknown session":     {subscriptionRequest(chatMessage, "1", garden, bot, "x"), 400},
			"another's chat":      {subscriptionRequest(chatMessage, "1", garden, garden, session), 403},
			"no moderator":        {subscriptionRequest(channelModerate, "2", tea, bot, session), 403},
			"a moderator":         {subscriptionRequest(channelModerate, "2", garden, bot, session), 202},
			"chat":                {subscriptionRequest(chatMessage, "1", garden, bot, session), 202},
		} {
			if got, answer := ask(t, s, "POST", "/eventsub/subscriptions", c.body); got != c.want {
				t.Errorf("%s: %d %s, want %d", name, got, answer, c.want)
			}
		}
		if got := subscribe(t, s, subscriptionRequest(chatMessage, "1", garden, bot, session)); got != 409 {
			t.Errorf("twice: %d", got)
		}
		_, list := ask(t, s, "GET", "/eventsub/subscriptions?type="+chatMessage, "")
		var answer struct {
			Data  []struct{ ID, Type, Status string }
			Total int
		}
		if err := json.Unmarshal([]byte(list), &answer); err != nil || len(answer.Data) != 1 || answer.Data[0].Status != "enabled" || answer.Total != 2 {
			t.Fatalf("%v: %s", err, list)
		}
		for _, want := range []int{204, 404} {
			if got, _ := ask(t, s, "DELETE", "/eventsub/subscriptions?id="+answer.Data[0].ID, ""); got != want {
				t.Errorf("ending it: %d, want %d", got, want)
			}
		}
		if s.EventSubscriptions(chatMessage) != 0 || s.EventSubscriptions("") != 1 {
			t.Errorf("%d left", s.EventSubscriptions(""))
		}
	})
}

// TestEventSub_Revoked checks that disconnecting the application ends its subscriptions and
// notifies the client.
func TestEventSub_Revoked(t *testing.T) {
	testEventSub(t, Options{Channels: []string{"gardenhour"}}, func(t *testing.T, s *Server) {
		l := listen(t, s, s.EventSubURL())
		session := l.expect("session_welcome").Payload.Session.ID
		for kind, version := range map[string]string{chatMessage: "1", channelModerate: "2"} {
			if got := subscribe(t, s, subscriptionRequest(kind, version, s.UserID("gardenhour"), s.BotID(), session)); got != 202 {
				t.Fatalf("%s: %d", kind, got)
			}
		}
		s.Revoke()
		for range 2 {
			if f := l.expect("revocation"); f.Payload.Subscription.Status != "authorization_revoked" {
				t.Errorf("revoked because of %q", f.Payload.Subscription.Status)
			}
		}
		if s.EventSubscriptions("") != 0 {
			t.Errorf("%d left", s.EventSubscriptions(""))
		}
	})
}

// TestEventSub_MissingScopes checks that each kind of event needs its scopes.
func TestEventSub_MissingScopes(t *testing.T) {
	all := append([]string{"chat:read", scopeDelete, scopeBan, scopeWarn, scopeSettings}, readScopes...)
	for n, missing := range append([]string{""}, all...) {
		scopes := slices.DeleteFunc(slices.Clone(all), func(scope string) bool { return scope == missing })
		testEventSub(t, Options{Channels: []string{"gardenhour"}, Scopes: scopes}, func(t *testing.T, s *Server) {
			session := listen(t, s, s.EventSubURL()).expect("session_welcome").Payload.Session.ID
			for kind, version := range map[string]string{chatMessage: "1", channelModerate: "2"} {
				want := 202
				if (missing == "user:read:chat") == (kind == chatMessage) && n > 1 {
					want = 403
				}
				if got := subscribe(t, s, subscriptionRequest(kind, version, s.UserID("gardenhour"), s.BotID(), session)); got != want {
					t.Errorf("%s without %q: %d, want %d", kind, missing, got, want)
				}
			}
		})
	}
}

// TestEventSub_Bounds checks the limits of 300 subscriptions per socket and 3 sockets with
// subscriptions.
func TestEventSub_Bounds(t *testing.T) {
	testEventSub(t, Options{}, func(t *testing.T, s *Server) {
		room := func(n int) string { return s.AddChannel(fmt.Sprintf("channel_%d", n)) }
		for n := range maxEventSockets + 1 {
			session := listen(t, s, s.EventSubURL()).expect("session_welcome").Payload.Session.ID
			want := 202
			if n == maxEventSockets {
				want = 429
			}
			if got := subscribe(t, s, subscriptionRequest(chatMessage, "1", room(0), s.BotID(), session)); got != want {
				t.Errorf("on socket %d: %d, want %d", n+1, got, want)
			}
			if n > 0 {
				continue
			}
			for i := 1; i < maxSubscriptions; i++ {
				if got := subscribe(t, s, subscriptionRequest(chatMessage, "1", room(i), s.BotID(), session)); got != 202 {
					t.Fatalf("subscription %d: %d", i+1, got)
				}
			}
			if got := subscribe(t, s, subscriptionRequest(chatMessage, "1", room(maxSubscriptions), s.BotID(), session)); got != 429 {
				t.Errorf("one more: %d", got)
			}
		}
	})
}

// TestEventSub_NoLongerModerator checks that the bot learns that it is no longer a moderator, and
// then receives no more events.
func TestEventSub_NoLongerModerator(t *testing.T) {
	testEventSub(t, Options{Channels: []string{"gardenhour"}}, func(t *testing.T, s *Server) {
		l := listen(t, s, s.EventSubURL())
		session := l.expect("session_welcome").Payload.Session.ID
		if got := subscribe(t, s, subscriptionRequest(channelModerate, "2", s.UserID("gardenhour"), s.BotID(), session)); got != 202 {
			t.Fatal(got)
		}
		s.SetBotModerator("gardenhour", false)
		if e := l.expect("notification").Payload.Event; e["action"] != "unmod" || e["moderator_user_login"] != "gardenhour" || e["unmod"] == nil {
			t.Errorf("event %v", e)
		}
		if got := l.expect("revocation").Payload.Subscription.Status; got != "moderator_removed" || s.EventSubscriptions("") != 0 {
			t.Errorf("status %q, %d subscriptions", got, s.EventSubscriptions(""))
		}
	})
}

// TestEventSub_Waits checks that WaitSubscribed waits for subscriptions, and that closing the
// server ends its sockets.
func TestEventSub_Waits(t *testing.T) {
	s := start(t, Options{Channels: []string{"gardenhour"}})
	l := listen(t, s, s.EventSubURL())
	session := l.expect("session_welcome").Payload.Session.ID
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error)
	go func() { waited <- s.WaitSubscribed(ctx, 1) }()
	if got := subscribe(t, s, subscriptionRequest(chatMessage, "1", s.UserID("gardenhour"), s.BotID(), session)); got != 202 {
		t.Fatal(got)
	}
	must(t, <-waited)
	cancel()
	if err := s.WaitSubscribed(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !strings.HasPrefix(s.EventSubURL(), "ws://127.0.0.1:") {
		t.Error(s.EventSubURL())
	}
}
