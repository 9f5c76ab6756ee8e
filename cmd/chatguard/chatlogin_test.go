package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web"
)

// reading is what the dashboard says of reading the chat.
func (s *simulation) reading() web.Connection { return s.bot.connections()[0] }

// nicks are the logins that the chat was asked for, in order; those without an account are "justinfan".
func (s *simulation) nicks() (nicks []string) {
	for _, r := range s.server.Received() {
		if nick, ok := strings.CutPrefix(r.Line, "NICK "); ok {
			nicks = append(nicks, strings.TrimRight(nick, "0123456789"))
		}
	}
	return nicks
}

// logInAs does a `chatguard login` of an account, as another process would.
func (s *simulation) logInAs(account string) {
	s.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: s.server.Dial}}
	defer client.CloseIdleConnections()
	d := &twitch.DeviceLogin{AuthURL: s.server.AuthURL(), ClientID: s.server.ClientID(), HTTP: client}
	code, err := d.Begin(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	s.server.ApproveAs(code.UserCode, account)
	pair, err := d.Wait(s.Context(), code)
	if err != nil {
		s.Fatal(err)
	}
	tokens := tokensOf(s.config, s.bot.log)
	tokens.HTTP = client
	defer tokens.Close()
	if _, err := tokens.Adopt(s.Context(), pair); err != nil {
		s.Fatal(err)
	}
}

// TestAChatThatRefusesAGoodToken is read without an account, and says why; the token isn't renewed again and again, and acting goes on.
func TestAChatThatRefusesAGoodToken(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{config.TransportIRC, config.TransportIRCWebSocket} {
		synctest.Test(t, func(t *testing.T) {
			c := oneMessage(transport)
			scopes := slices.DeleteFunc(twitch.ScopeNames(), func(name string) bool { return name == "chat:read" })
			s := simulate(t, c, faketwitch.Options{Channels: []string{"gardenhour"}, Scopes: scopes})
			s.start()
			s.pass(time.Minute)
			if nicks := s.nicks(); !slices.Equal(nicks, []string{"chatguard_bot", "chatguard_bot", "justinfan"}) || s.server.Refreshes() != 1 {
				t.Errorf("the logins were %q, with %d renewals", nicks, s.server.Refreshes())
			}
			if r := s.reading(); r.State != web.Connected || !strings.Contains(r.Detail, "the token of chatguard_bot: run `chatguard login` again") {
				t.Errorf("the dashboard says %+v", r)
			}
			if !s.acts() {
				t.Error("it doesn't act")
			}
			for range 12 {
				s.pass(anonymousTime / 2)
				s.server.Disconnect()
			}
			s.pass(time.Minute)
			if n := s.server.Refreshes(); n > 2 || s.reading().State != web.Connected {
				t.Errorf("an hour later the token was renewed %d times; %+v", n, s.reading())
			}
		})
	}
}

// TestAChatThatRefusesEverybody for an hour ends nothing: when it lets the bot in again it is read again.
func TestAChatThatRefusesEverybody(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{config.TransportIRC, config.TransportIRCWebSocket} {
		synctest.Test(t, func(t *testing.T) {
			s := simulate(t, oneMessage(transport), faketwitch.Options{Channels: []string{"gardenhour"}})
			s.start()
			s.acts()
			s.server.RefuseLogins(true)
			s.server.Disconnect()
			s.pass(time.Hour)
			if r := s.reading(); s.server.Refreshes() > 1 || r.State == web.Connected || !strings.Contains(r.Detail, "refused the login") {
				t.Errorf("%d renewals; %+v", s.server.Refreshes(), r)
			}
			if n := len(s.nicks()); n > 60 {
				t.Errorf("%d logins in an hour", n)
			}
			s.server.RefuseLogins(false)
			s.pass(readAgainMax + time.Second)
			if !s.acts() || s.reading().State != web.Connected {
				t.Errorf("it doesn't read again: %+v", s.reading())
			}
			if lines := s.bot.reader().Lines; lines < 10 {
				t.Errorf("what was read before is forgotten: %d lines", lines)
			}
		})
	}
}

// reader is how reading stands.
func (a *app) reader() twitch.Status { return a.twitch.reader.Status() }

// TestAHelixThatRefusesEveryToken for a moment ends nothing either.
func TestAHelixThatRefusesEveryToken(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.acts()
		s.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusUnauthorized, Message: "Invalid OAuth token"}, true
		})
		s.server.DropEventSub()
		s.server.Disconnect()
		s.pass(30 * time.Second)
		s.server.SetHelixFaults(nil)
		s.pass(10 * time.Minute)
		if !s.acts() {
			s.Errorf("ten minutes later it doesn't act: %+v", s.bot.connections())
		}
	})
}

// TestEndingStillRenewsTheToken: what waits at the end is carried out, also where the token expires just then.
func TestEndingStillRenewsTheToken(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.acts()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) { // an answer takes a moment, as it does
			return faketwitch.Fault{Status: faketwitch.AsAsked, After: true, Delay: 300 * time.Millisecond}, strings.HasPrefix(r.Path, "/helix/moderation/")
		})
		for range 20 {
			if _, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"}); err != nil {
				s.Fatal(err)
			}
		}
		s.pass(100 * time.Millisecond)
		s.server.ExpireTokens()
		before, bot := s.server.Deleted(), s.bot
		s.stop()
		if n := s.server.Deleted(); s.server.Refreshes() != 1 || n-before < 10 {
			s.Errorf("%d renewals at the end, %d deletes", s.server.Refreshes(), n-before)
		}
		s.server.ExpireTokens()
		if _, err := bot.twitch.helix.Users(s.Context(), "anna"); err == nil || s.server.Refreshes() != 1 {
			s.Errorf("after the end it still renews the token: %v", err)
		}
		bot.twitch.close()
	})
}

// TestAnotherAccount takes over while chatguard runs: it reads as that one, and acts where that one is a moderator.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		if !s.acts() {
			s.Error("it doesn't act at first")
		}
		s.logInAs("otherbot")
		s.pass(time.Minute)
		want := web.Connection{Name: "#gardenhour", State: web.Observing, Detail: "type /mod otherbot in the chat of gardenhour"}
		if list := s.bot.connections(); !slices.Contains(list, want) || s.acts() {
			s.Errorf("the other one is no moderator, but the dashboard says %+v", list)
		}
		if n := s.nicks(); len(n) > 0 && n[len(n)-1] != "otherbot" {
			s.Errorf("the logins were %q", n)
		}
		s.logInAs("chatguard_bot")
		s.pass(time.Minute)
		if !s.acts() {
			s.Errorf("with the first one it doesn't act again: %+v", s.bot.connections())
		}
	})
}
