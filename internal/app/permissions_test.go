package app_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitchbot"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// oneMessageConfig returns a configuration that allows each user one message per evening and
// deletes the rest.
func oneMessageConfig(transport string) config.Config {
	c := config.Default()
	c.Twitch.Channels, c.Twitch.Transport = []string{"gardenhour"}, transport
	c.Policy.Mode = chatguard.ModeEnforce
	c.Policy.Limits = []chatguard.Limit{{Name: "one", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: 10 * time.Hour}}
	c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionDelete}}
	return c
}

// testEachTransport runs a test in simulated time with a Twitch that has one channel. The
// transports take turns.
func testEachTransport(t *testing.T, o faketwitch.Options, test func(*simulation)) {
	t.Helper()
	o.Channels = []string{"gardenhour"}
	for _, transport := range turntest.Choose(t, t.Name(), transports) {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(newSimulation(t, oneMessageConfig(transport), o)) })
		})
	}
}

// provokeDelete sends messages from anna beyond her limit and reports whether one is deleted.
func (s *simulation) provokeDelete() bool {
	s.Helper()
	before := s.server.Deleted()
	for range 2 { // the first time, one of them is allowed
		_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
		must(s, err)
	}
	s.advance(time.Second)
	return s.server.Deleted() > before
}

// checkFix checks that the dashboard says how to make the bot a moderator if and only if fix is
// set.
func (s *simulation) checkFix(fix bool) {
	s.Helper()
	want := live.Connection{Channel: s.server.UserID("gardenhour"), Name: "#gardenhour", State: live.NotEnforcing, Detail: "type /mod chatguard_bot in the chat of gardenhour"}
	if list := s.bot.Web.Connections(); slices.Contains(list, want) != fix {
		s.Errorf("the dashboard says %+v, want the fix %v", list, fix)
	}
}

// TestPermissions_TwitchCannotBeAsked checks that if Twitch can't be asked who is a moderator, the
// known state applies and Twitch is asked again.
func TestPermissions_TwitchCannotBeAsked(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.server.SetBotModerator("gardenhour", false)
		s.start()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusServiceUnavailable}, r.Path == "/helix/moderation/channels"
		})
		s.server.SetBotModerator("gardenhour", true)
		// Twitch is asked several times
		s.advance(2 * time.Minute)
		if s.bot.Config.Twitch.Transport != config.TransportEventSub && s.provokeDelete() {
			// EventSub itself reports the new moderator
			s.Error("it acts without knowing that it may")
		}
		s.server.SetHelixFaults(nil)
		s.advance(time.Minute)
		if !s.provokeDelete() {
			s.Error("a minute after Twitch can be asked it doesn't act yet")
		}
	})
}

// TestPermissions_OneRefusal checks that one refused action doesn't make a channel observe. Twitch
// is asked whether the bot is still a moderator, at most once per minute.
func TestPermissions_OneRefusal(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.provokeDelete()
		asked := func() (n int) {
			for _, r := range s.server.Requests() {
				if r.Path == "/helix/moderation/channels" {
					n++
				}
			}
			return n
		}
		before := asked()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusForbidden, Message: "Forbidden"}, r.Path == "/helix/moderation/chat"
		})
		for range 20 {
			s.provokeDelete()
		}
		s.checkFix(false)
		s.server.SetHelixFaults(nil)
		if !s.provokeDelete() {
			s.Error("refused by mistake, it doesn't act any more")
		}
		if n := asked() - before; n != 1 {
			s.Errorf("within half a minute it asked %d times", n)
		}
	})
}

// TestPermissions_MissingScope checks that a token that lacks the scope of a penalty is no success,
// unless no policy that enforces has that penalty.
func TestPermissions_MissingScope(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]string{"moderator:manage:chat_messages": "ok", "moderator:manage:banned_users": "unavailable"} {
		synctest.Test(t, func(t *testing.T) {
			s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{
				Channels: []string{"gardenhour"}, Scopes: []string{"chat:read", "user:read:moderated_channels", scope},
			})
			s.start()
			s.advance(time.Second)
			if status, reasons := s.bot.Web.Ready(); status != want {
				t.Errorf("only with %s: %s, %q", scope, status, reasons)
			}
		})
	}
}

// TestPermissions_TokenMayNotAsk checks a token that can't look up in which channels the bot is a
// moderator. The bot tries again some time after a refusal, so it notices when it becomes a
// moderator.
func TestPermissions_TokenMayNotAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{
			Channels: []string{"gardenhour"}, Scopes: []string{"chat:read", "moderator:manage:chat_messages"},
		})
		s.start()
		s.server.SetBotModerator("gardenhour", false)
		s.provokeDelete()
		s.checkFix(true)
		s.advance(twitchbot.RefusalTime + twitchbot.AskEvery)
		s.checkFix(false)
		s.provokeDelete() // Twitch refuses it again
		s.checkFix(true)
		s.server.SetBotModerator("gardenhour", true)
		s.advance(twitchbot.RefusalTime + twitchbot.AskEvery)
		if !s.provokeDelete() {
			t.Error("it still doesn't act")
		}
	})
}
