package twitch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestRefusedByChat: a token that Twitch refuses is told, and the next one tried; the delays grow while none is any good.
func TestRefusedByChat(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		tokens, refused := []string{"oauth:old", "older", "oldest"}, []string{}
		var asked []time.Time
		irc := &IRC{
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
		run(t, irc, func([]chatguard.Message) {})
		joined(t, irc)
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

// TestNoOtherToken: where there is none Run ends; nobody is asked about an anonymous login, nor about what was never sent.
func TestNoOtherToken(t *testing.T) {
	srv := startTwitch(t, "room")
	for name, c := range map[string]struct {
		login, token string
		anonymous    bool
		told         int
	}{
		"refused":       {login: "bot", token: "s3cret", told: 1},
		"no token":      {login: "bot", token: "s3cret\r\n#"},
		"no login":      {token: "s3cret"},
		"not let in":    {anonymous: true},
		"token missing": {login: "bot", anonymous: true},
	} {
		srv.RefuseLogins(c.anonymous)
		told := 0
		irc := &IRC{
			Channels: []string{"room"}, Address: srv.IRCAddress(), Login: loginOf(c.login), Token: tokenOf(c.token),
			Refused: func(context.Context, string) error {
				told++
				return errors.New("revoked")
			},
		}
		err := irc.Run(t.Context(), messagesTo(func([]chatguard.Message) {}))
		if !errors.Is(err, ErrLogin) || told != c.told {
			t.Errorf("%s: %v, told %d times, want %d", name, err, told, c.told)
		}
	}
}

// TestTokenChanges: each connection asks for the token anew, whatever another goroutine does to it meanwhile. The race detector judges.
func TestTokenChanges(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		var current atomic.Value
		current.Store(srv.Token())
		irc := &IRC{Channels: []string{"room"}, Login: srv.BotLogin}
		irc.Token = func(context.Context) (string, error) { return current.Load().(string), nil }
		connect(t, srv, irc)
		current.Store("oauth:" + srv.Token())
		srv.Disconnect()
		pass(time.Second)
		joined(t, irc)
		current.Store("")
		srv.Disconnect()
		pass(2 * time.Second)
		joined(t, irc)
		if got := received(srv, "PASS oauth:"+srv.Token()); got != 2 || srv.Connections() != 3 {
			t.Errorf("logged in %d times with %d connections", got, srv.Connections())
		}
	})
}

// TestTokenTrouble: a token that can't be had just now is like a server that can't be reached.
func TestTokenTrouble(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		tries := 0
		irc := &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial, Login: srv.BotLogin}
		irc.Token = func(context.Context) (string, error) {
			if tries++; tries < 4 {
				return "", fmt.Errorf("try %d: %w", tries, ErrUnavailable)
			}
			return srv.Token(), nil
		}
		run(t, irc, func([]chatguard.Message) {})
		joined(t, irc)
		synctest.Wait()
		if s := irc.Status(); s.Reconnects != 3 || srv.Connections() != 1 {
			t.Errorf("%+v, %d connections", s, srv.Connections())
		}
	})
}

// TestReconnectAtOnce: a server that says it will go is left without delay, but one that always says so isn't called all the time.
func TestReconnectAtOnce(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		irc := &IRC{Channels: []string{"room"}}
		connect(t, srv, irc)
		pass(time.Minute)
		for n := range 3 {
			srv.Reconnect()
			synctest.Wait() // no time passes
			if got := srv.Connections(); got != n+2 {
				t.Fatalf("%d connections after RECONNECT %d", got, n+1)
			}
			pass(time.Minute)
		}
		before := srv.Connections()
		for range 5 * 60 {
			srv.Reconnect()
			pass(100 * time.Millisecond)
		}
		if got := srv.Connections() - before; got < 3 || got > 8 {
			t.Errorf("%d connections in 30 s to a server that always asks for another", got)
		}
	})
}

// TestClosedAfterEachWelcome: a server that lets us in and then hangs up, again and again, is called ever more rarely.
func TestClosedAfterEachWelcome(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		srv.CloseAfter(8)
		irc := &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Dial: srv.Dial}
		run(t, irc, func([]chatguard.Message) {})
		pass(time.Hour)
		if got := srv.Connections(); got < 60 || got > 150 {
			t.Errorf("%d connections in an hour", got)
		}
		srv.CloseAfter(0)
		pass(time.Minute)
		joined(t, irc)
	})
}
