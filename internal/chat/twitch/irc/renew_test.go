package irc

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// TestIRC_TokenRefused checks that a refused token is reported and the next one tried, with growing
// delays while none is accepted.
func TestIRC_TokenRefused(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		tokens, refused := []string{"oauth:old", "older", "oldest"}, []string{}
		var asked []time.Time
		irc := &Conn{
			Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial, Login: srv.BotLogin,
			Token: func(context.Context) (string, error) {
				asked = append(asked, time.Now())
				if n := len(refused); n < len(tokens) {
					return tokens[n], nil
				}
				return srv.Token(), nil
			},
			Refused: func(_ context.Context, token string) error {
				refused = append(refused, token)
				return nil
			},
		}
		run(t, irc, func([]chat.Message) {})
		waitJoined(t, irc)
		synctest.Wait()
		if !slices.Equal(refused, tokens) {
			t.Errorf("told of %q, want %q", refused, tokens)
		}
		for n := range len(asked) - 1 {
			whole := 500 * time.Millisecond << n
			if gap := asked[n+1].Sub(asked[n]); gap < whole/2 || gap > whole {
				t.Errorf("token %d comes %v after the one before, want %v to %v", n+1, gap, whole/2, whole)
			}
		}
	})
}

// TestIRC_TokenChanges checks that each connection calls Token, even if another goroutine changes
// the token meanwhile. It relies on the race detector.
func TestIRC_TokenChanges(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		var current atomic.Value
		current.Store(srv.Token())
		irc := &Conn{Channels: []string{"room"}, Login: twitchtest.LoginOf("Chatguard_Bot")}
		irc.Token = func(context.Context) (string, error) { return current.Load().(string), nil }
		connect(t, srv, irc)
		current.Store("oauth:" + srv.Token())
		srv.Disconnect()
		twitchtest.Pass(time.Second)
		waitJoined(t, irc)
		current.Store("")
		srv.Disconnect()
		twitchtest.Pass(2 * time.Second)
		waitJoined(t, irc)
		passes, nicks := twitchtest.Received(srv, "PASS oauth:"+srv.Token()), twitchtest.Received(srv, "NICK chatguard_bot")
		if passes != 2 || nicks != 2 || srv.Connections() != 3 {
			t.Errorf("%d passes, %d logins with %d connections", passes, nicks, srv.Connections())
		}
	})
}

// TestIRC_TokenTrouble checks that a temporary failure of Token is handled like a server that can't
// be reached.
func TestIRC_TokenTrouble(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		tries := 0
		irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial, Login: twitchtest.LoginOf("Chatguard_Bot")}
		irc.Token = func(context.Context) (string, error) {
			if tries++; tries < 4 {
				return "", fmt.Errorf("try %d: %w", tries, twitch.ErrUnavailable)
			}
			return srv.Token(), nil
		}
		run(t, irc, func([]chat.Message) {})
		waitJoined(t, irc)
		synctest.Wait()
		if s := irc.Status(); s.Reconnects != 3 || srv.Connections() != 1 {
			t.Errorf("%+v, %d connections", s, srv.Connections())
		}
	})
}

// TestIRC_ReconnectAtOnce checks that a reconnect that the server requests happens without delay,
// but not in a loop.
func TestIRC_ReconnectAtOnce(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		irc := &Conn{Channels: []string{"room"}}
		connect(t, srv, irc)
		twitchtest.Pass(time.Minute)
		for n := range 3 {
			srv.Reconnect()
			synctest.Wait() // no time passes
			if got := srv.Connections(); got != n+2 {
				t.Fatalf("%d connections after RECONNECT %d", got, n+1)
			}
			twitchtest.Pass(time.Minute)
		}
		before := srv.Connections()
		for range 5 * 60 {
			srv.Reconnect()
			twitchtest.Pass(100 * time.Millisecond)
		}
		if got := srv.Connections() - before; got < 3 || got > 8 {
			t.Errorf("%d connections in 30 s to a server that always asks for another", got)
		}
	})
}

// TestIRC_ClosedAfterEachWelcome checks that the delays grow for a server that keeps closing the
// connection after the welcome.
func TestIRC_ClosedAfterEachWelcome(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		srv.CloseAfter(8)
		irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial}
		run(t, irc, func([]chat.Message) {})
		twitchtest.Pass(time.Hour)
		if got := srv.Connections(); got < 60 || got > 150 {
			t.Errorf("%d connections in an hour", got)
		}
		srv.CloseAfter(0)
		twitchtest.Pass(time.Minute)
		waitJoined(t, irc)
	})
}
