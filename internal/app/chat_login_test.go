package app_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// readingConnection returns what the dashboard says about reading the chat.
func (s *simulation) readingConnection() live.Connection { return s.bot.Web.Connections()[0] }

// nicks returns the logins used for the chat, in order; anonymous ones are "justinfan".
func (s *simulation) nicks() (nicks []string) {
	for _, r := range s.server.Received() {
		if nick, ok := strings.CutPrefix(r.Line, "NICK "); ok {
			nicks = append(nicks, strings.TrimRight(nick, "0123456789"))
		}
	}
	return nicks
}

// logInAs runs a `chatguard login` of an account, as another process would.
func (s *simulation) logInAs(account string) {
	s.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: s.server.Dial}}
	defer client.CloseIdleConnections()
	d := &token.DeviceLogin{Application: token.Application{AuthURL: s.server.AuthURL(), ClientID: s.server.ClientID(), HTTP: client}}
	code, err := d.Begin(s.Context())
	must(s, err)
	s.server.ApproveAs(code.UserCode, account)
	pair, err := d.Wait(s.Context(), code)
	must(s, err)
	tokens := twitchbot.TokensOf(s.config, slog.New(slog.NewTextHandler(&s.log, nil)))
	tokens.HTTP = client
	defer tokens.Close()
	_, err = tokens.Adopt(s.Context(), pair)
	must(s, err)
}

// TestChatLogin_GoodTokenRefused checks what happens if the chat refuses a valid token. The bot
// reads the chat without an account, reports the reason, and still carries out penalties. It
// doesn't renew the token in a loop.
func TestChatLogin_GoodTokenRefused(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	for _, transport := range turntest.Choose(t, t.Name(), overIRC) {
		synctest.Test(t, func(t *testing.T) {
			c := oneMessageConfig(transport)
			scopes := slices.DeleteFunc(token.ScopeNames(), func(name string) bool { return name == "chat:read" })
			s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}, Scopes: scopes})
			s.start()
			s.advance(time.Minute)
			if nicks := s.nicks(); !slices.Equal(nicks, []string{"chatguard_bot", "chatguard_bot", "justinfan"}) || s.server.Refreshes() != 1 {
				t.Errorf("the logins were %q, with %d renewals", nicks, s.server.Refreshes())
			}
			if r := s.readingConnection(); r.State != live.Connected || !strings.Contains(r.Detail, "the token of chatguard_bot: run `chatguard login` again") {
				t.Errorf("the dashboard says %+v", r)
			}
			if !s.provokeDelete() {
				t.Error("it doesn't act")
			}
			for range 12 {
				s.advance(twitchbot.AnonymousTime / 2)
				s.server.Disconnect()
			}
			s.advance(time.Minute)
			if n := s.server.Refreshes(); n > 2 || s.readingConnection().State != live.Connected {
				t.Errorf("an hour later the token was renewed %d times; %+v", n, s.readingConnection())
			}
		})
	}
}

// TestChatLogin_EverybodyRefused checks that a chat that refuses every login for an hour is read
// again once it accepts the bot.
func TestChatLogin_EverybodyRefused(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	for _, transport := range turntest.Choose(t, t.Name(), overIRC) {
		synctest.Test(t, func(t *testing.T) {
			s := newSimulation(t, oneMessageConfig(transport), faketwitch.Options{Channels: []string{"gardenhour"}})
			s.start()
			s.provokeDelete()
			s.server.RefuseLogins(true)
			s.server.Disconnect()
			s.advance(time.Hour)
			if r := s.readingConnection(); s.server.Refreshes() > 1 || r.State == live.Connected || !strings.Contains(r.Detail, "refused the login") {
				t.Errorf("%d renewals; %+v", s.server.Refreshes(), r)
			}
			if n := len(s.nicks()); n > 60 {
				t.Errorf("%d logins in an hour", n)
			}
			s.server.RefuseLogins(false)
			s.advance(twitchbot.RetryMax + time.Second)
			if !s.provokeDelete() || s.readingConnection().State != live.Connected {
				t.Errorf("it doesn't read again: %+v", s.readingConnection())
			}
			if lines := s.bot.Twitch.Status().Lines; lines < 10 {
				t.Errorf("what was read before is forgotten: %d lines", lines)
			}
		})
	}
}

// TestChatLogin_HelixRefusesEveryToken checks that the bot acts again after Helix has briefly
// refused every token.
func TestChatLogin_HelixRefusesEveryToken(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.provokeDelete()
		s.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusUnauthorized, Message: "Invalid OAuth token"}, true
		})
		s.server.DropEventSub()
		s.server.Disconnect()
		s.advance(30 * time.Second)
		s.server.SetHelixFaults(nil)
		s.advance(10 * time.Minute)
		if !s.provokeDelete() {
			s.Errorf("ten minutes later it doesn't act: %+v", s.bot.Web.Connections())
		}
	})
}

// TestChatLogin_RenewsTokenAtEnd checks that the bot carries out pending penalties before it ends,
// even if the token expires just then.
func TestChatLogin_RenewsTokenAtEnd(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.provokeDelete()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			// an answer takes a moment, as in reality
			return faketwitch.Fault{Status: faketwitch.AsAsked, After: true, Delay: 300 * time.Millisecond}, strings.HasPrefix(r.Path, "/helix/moderation/")
		})
		for range 20 {
			_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			must(s, err)
		}
		s.advance(100 * time.Millisecond)
		s.server.ExpireTokens()
		before, bot := s.server.Deleted(), s.bot
		s.stop()
		if n := s.server.Deleted(); s.server.Refreshes() != 1 || n-before < 10 {
			s.Errorf("%d renewals at the end, %d deletes", s.server.Refreshes(), n-before)
		}
		s.server.ExpireTokens()
		if _, err := bot.Twitch.Helix().Users(s.Context(), "anna"); err == nil || s.server.Refreshes() != 1 {
			s.Errorf("after the end it still renews the token: %v", err)
		}
		bot.Twitch.Close()
	})
}

// TestChatLogin_AnotherAccount checks that a new account takes over at run time. It reads the chat,
// and acts in the channels in which it is a moderator.
func TestChatLogin_AnotherAccount(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		if !s.provokeDelete() {
			s.Error("it doesn't act at first")
		}
		s.logInAs("otherbot")
		s.advance(time.Minute)
		want := live.Connection{Channel: s.server.UserID("gardenhour"), Name: "#gardenhour", State: live.NotEnforcing, Detail: "type /mod otherbot in the chat of gardenhour"}
		if list := s.bot.Web.Connections(); !slices.Contains(list, want) || s.provokeDelete() {
			s.Errorf("the other one is no moderator, but the dashboard says %+v", list)
		}
		if n := s.nicks(); len(n) > 0 && n[len(n)-1] != "otherbot" {
			s.Errorf("the logins were %q", n)
		}
		s.logInAs("chatguard_bot")
		s.advance(time.Minute)
		if !s.provokeDelete() {
			s.Errorf("with the first one it doesn't act again: %+v", s.bot.Web.Connections())
		}
	})
}
