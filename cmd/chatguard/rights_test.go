package main

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web"
)

// oneMessage lets a user say one thing in an evening, and deletes the rest.
func oneMessage(transport string) config.Config {
	c := config.Default()
	c.Twitch.Channels, c.Twitch.Transport = []string{"gardenhour"}, transport
	c.Policy.Mode = chatguard.Enforce
	c.Policy.Limits = []chatguard.Limit{{Name: "one", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: 10 * time.Hour}}
	c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.Delete}}
	return c
}

// overEachTransport is a test in simulated time, before a Twitch with one channel, for each way to read it.
func overEachTransport(t *testing.T, o faketwitch.Options, test func(*simulation)) {
	t.Helper()
	o.Channels = []string{"gardenhour"}
	for _, transport := range []string{config.TransportIRC, config.TransportIRCWebSocket, config.TransportEventSub} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(simulate(t, oneMessage(transport), o)) })
		})
	}
}

// acts lets anna say something that is beyond her limit, and reports whether it is deleted.
func (s *simulation) acts() bool {
	s.Helper()
	before := s.server.Deleted()
	for range 2 { // the first time, one of them is fine
		if _, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"}); err != nil {
			s.Fatal(err)
		}
	}
	s.pass(time.Second)
	return s.server.Deleted() > before
}

// says wants the dashboard to say how to make the bot a moderator, or not to.
func (s *simulation) says(mend bool) {
	s.Helper()
	want := web.Connection{Name: "#gardenhour", State: web.Observing, Detail: "type /mod chatguard_bot in the chat of gardenhour"}
	if list := s.bot.connections(); slices.Contains(list, want) != mend {
		s.Errorf("the dashboard says %+v, want the mend %v", list, mend)
	}
}

// TestBecomingAModerator is noticed within a minute; until then the channel observes, and the dashboard says what to type.
func TestBecomingAModerator(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.server.SetBotModerator("gardenhour", false)
		s.start()
		if s.acts() || s.bot.bot.Counts().Observed == 0 {
			s.Errorf("it acts where it is no moderator, or doesn't observe: %+v", s.bot.bot.Counts())
		}
		s.says(true)
		s.server.SetBotModerator("gardenhour", true)
		s.pass(time.Minute)
		if !s.acts() {
			s.Error("a minute later it doesn't act yet")
		}
		s.says(false)
		if n := s.bot.bot.Counts().Failed; n != 0 {
			s.Errorf("%d actions failed", n)
		}
	})
}

// TestBeingAModeratorNoMore shows at the first refusal at the latest. Becoming one again is noticed as before.
func TestBeingAModeratorNoMore(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		if !s.acts() {
			s.Error("as a moderator it doesn't act")
		}
		s.server.SetBotModerator("gardenhour", false)
		s.acts() // which Twitch refuses
		s.says(true)
		failed := s.bot.bot.Counts().Failed
		if s.acts() || s.bot.bot.Counts().Failed != failed {
			s.Errorf("refused once, it tries again: %+v", s.bot.bot.Counts())
		}
		s.server.SetBotModerator("gardenhour", true)
		s.pass(time.Minute)
		if !s.acts() {
			s.Error("a minute later it doesn't act yet")
		}
		s.says(false)
	})
}

// TestWhereTwitchCannotBeAsked who is a moderator, what was known holds, and it is asked again.
func TestWhereTwitchCannotBeAsked(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.server.SetBotModerator("gardenhour", false)
		s.start()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusServiceUnavailable}, r.Path == "/helix/moderation/channels"
		})
		s.server.SetBotModerator("gardenhour", true)
		s.pass(2 * time.Minute)                                                    // it is asked several times
		if s.bot.config.Twitch.Transport != config.TransportEventSub && s.acts() { // EventSub tells by itself
			s.Error("it acts without knowing that it may")
		}
		s.server.SetHelixFaults(nil)
		s.pass(time.Minute)
		if !s.acts() {
			s.Error("a minute after Twitch can be asked it doesn't act yet")
		}
	})
}

// TestOneRefusal of an action is no reason to observe: Twitch is asked whether the bot is a moderator still, once a minute at most.
func TestOneRefusal(t *testing.T) {
	t.Parallel()
	overEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.acts()
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
			s.acts()
		}
		s.says(false)
		s.server.SetHelixFaults(nil)
		if !s.acts() {
			s.Error("refused by mistake, it doesn't act any more")
		}
		if n := asked() - before; n != 1 {
			s.Errorf("within half a minute it asked %d times", n)
		}
	})
}

// TestATokenThatMayNotAsk where the bot is a moderator: a refusal is forgotten after a while, so that somebody who has made it one needs do no more.
func TestATokenThatMayNotAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := simulate(t, oneMessage(config.TransportIRC), faketwitch.Options{
			Channels: []string{"gardenhour"}, Scopes: []string{"chat:read", "moderator:manage:chat_messages"},
		})
		s.start()
		s.server.SetBotModerator("gardenhour", false)
		s.acts()
		s.says(true)
		s.pass(hopeTime + askEvery)
		s.says(false)
		s.acts() // and is refused again
		s.says(true)
		s.server.SetBotModerator("gardenhour", true)
		s.pass(hopeTime + askEvery)
		if !s.acts() {
			t.Error("it still doesn't act")
		}
	})
}

// TestAHoldThatFails is tried again.
func TestAHoldThatFails(t *testing.T) {
	t.Parallel()
	r := newRights(slog.New(slog.DiscardHandler))
	var told []string
	trouble := errors.New("trouble")
	r.hold = func(channelID, reason string) error {
		told = append(told, channelID+": "+reason)
		return trouble
	}
	r.enter("gardenhour", "100")
	trouble = nil
	r.settleAll()
	r.settleAll()
	if want := "100: chatguard only reads"; !slices.Equal(told, []string{want, want}) {
		t.Errorf("%q", told)
	}
}

// TestTheRightsOfAnotherAccount have to be learnt anew; that it isn't known for a while whose the token is changes nothing.
func TestTheRightsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	r := newRights(slog.New(slog.DiscardHandler))
	others := 0
	r.another = func() { others++ }
	r.belongTo("1")
	r.enter("gardenhour", "100")
	r.tell("100", true)
	for _, account := range []string{"1", "", "1"} {
		r.belongTo(account)
	}
	if !r.moderates("100") || others != 0 {
		t.Errorf("of the same account it isn't known any more; told %d times", others)
	}
	r.belongTo("2")
	if r.moderates("100") || !r.unsure() || others != 1 {
		t.Errorf("another account has the rights of the first; told %d times", others)
	}
}
