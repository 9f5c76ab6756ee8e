package app_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// targetOf returns a user of the channel gardenhour, for a change by berta.
func (s *simulation) targetOf(login string) journal.Target {
	return journal.Target{ChannelID: s.server.UserID("gardenhour"), UserID: s.server.UserID(login), Author: "berta"}
}

// timeOutAnna times anna out for a minute, as the dashboard does.
func (s *simulation) timeOutAnna() error {
	_, err := s.bot.Host.Controls.Silences.TimeOut(s.Context(), s.targetOf("anna"), time.Minute, "spam", false)
	return err
}

// maySay reports whether a user can write.
func (s *simulation) maySay(login string) bool {
	s.Helper()
	_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: login, Text: "hello"})
	if err != nil && !errors.Is(err, faketwitch.ErrSilenced) {
		s.Error(err)
	}
	s.advance(time.Second)
	return err == nil
}

// TestActs_ReachTwitch checks that a person's timeout, ban and unban arrive at Twitch exactly once,
// although the channel only observes, and that they survive a restart.
func TestActs_ReachTwitch(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.config.Policy.Mode = chatguard.ModeObserve
		s.start()
		if !s.maySay("anna") {
			s.Fatal("anna can't write at first")
		}
		anna := s.targetOf("anna")
		must(s, s.timeOutAnna())
		s.advance(time.Second)
		if s.maySay("anna") {
			s.Error("anna can write during the timeout")
		}
		controls := s.bot.Host.Controls
		if known, _ := controls.Silences.Of(s.Context(), anna); known == nil || known.Banned || known.By != "berta" {
			s.Errorf("known: %+v", known)
		}
		if done, err := controls.Silences.Ban(s.Context(), anna, ""); err != nil || done.Former == nil {
			s.Errorf("banned: %+v, %v", done, err)
		}
		s.advance(time.Second)
		s.stop()
		s.start()
		controls = s.bot.Host.Controls
		if known, _ := controls.Silences.Of(s.Context(), anna); known == nil || !known.Banned || known.By != "berta" {
			s.Errorf("known after a restart: %+v", known)
		}
		if err := s.timeOutAnna(); !errors.As(err, new(control.SilencedError)) {
			s.Errorf("a timeout of a banned user: %v", err)
		}
		if done, err := controls.Silences.Ban(s.Context(), anna, ""); err != nil || !done.Already {
			s.Errorf("banned again: %+v, %v", done, err)
		}
		if done, err := controls.Silences.LiftBan(s.Context(), anna); err != nil || done.Already {
			s.Errorf("unbanned: %+v, %v", done, err)
		}
		if !s.maySay("anna") {
			s.Error("anna can't write after the unban")
		}
		given, lifted := s.server.Bans(), s.server.Lifts()
		if len(given) != 2 || given[0].Length != time.Minute || given[0].Reason != "spam" || given[1].Length != 0 || len(lifted) != 1 || lifted[0].UserID != anna.UserID {
			s.Errorf("given %+v, lifted %+v", given, lifted)
		}
	})
}

// TestActs_OthersSilence checks that a person may lift what another moderator gave, and is told
// that it was another's. A shorter timeout is refused.
func TestActs_OthersSilence(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		s.server.Silence("gardenhour", "anna", time.Hour)
		s.advance(time.Second)
		by := ""
		if s.config.Twitch.Transport == config.TransportEventSub {
			by = "twitch:gardenhour"
		}
		if err := s.timeOutAnna(); !errors.As(err, new(control.SilencedError)) || !strings.HasSuffix(err.Error(), ": a timeout of 60 s would be shorter") {
			s.Error(err)
		}
		if done, err := s.bot.Host.Controls.Silences.LiftTimeout(s.Context(), s.targetOf("anna")); err != nil || done.Former == nil || done.Former.By != by {
			s.Errorf("lifted: %+v, %v; want by %q", done, err, by)
		}
		if given := s.server.Bans(); len(given) != 0 {
			s.Errorf("given: %+v", given)
		}
	})
}

// TestActs_OthersSilenceShown checks that the dashboard lists a user whom another moderator timed
// out on Twitch, until Twitch reports the end, or until a message shows it.
func TestActs_OthersSilenceShown(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		channel := s.server.UserID("gardenhour")
		row := func() (login, by string) {
			s.Helper()
			s.advance(time.Second)
			for _, u := range s.bot.Web.Throttled(channel, 0) {
				if u.Silenced == nil || !u.Held || u.MaySpeakAt.Before(s.bot.Guard.Now().Add(time.Minute)) {
					s.Errorf("%+v, silenced %+v", u, u.Silenced)
					return "", ""
				}
				return u.Login, u.Silenced.By
			}
			return "", ""
		}
		by, reports := "", s.config.Twitch.Transport == config.TransportEventSub
		if reports {
			by = "twitch:gardenhour"
		}
		s.server.Silence("gardenhour", "anna", time.Hour)
		if login, giver := row(); login != "anna" || giver != by {
			s.Errorf("timed out: %q by %q", login, giver)
		}
		s.advance(10 * time.Second)
		s.server.Lift("gardenhour", "anna")
		if login, _ := row(); (login == "") != reports {
			s.Errorf("lifted: %q", login)
		}
		if !s.maySay("anna") {
			s.Error("anna can't write")
		}
		if login, _ := row(); login != "" {
			s.Errorf("after a message: %q", login)
		}
	})
}

// TestActs_LiftedOnTwitch checks that a ban that somebody ends on Twitch is over everywhere,
// although the records have it: while chatguard runs, and if it was given before a restart.
func TestActs_LiftedOnTwitch(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.start()
		anna := s.targetOf("anna")
		if !s.maySay("anna") {
			s.Fatal("anna can't write at first")
		}
		for _, restarts := range []bool{false, true} {
			if _, err := s.bot.Host.Controls.Silences.Ban(s.Context(), anna, ""); err != nil {
				s.Fatal(err)
			}
			s.advance(10 * time.Second)
			if restarts {
				s.stop()
				s.start()
			}
			s.advance(time.Second)
			if rows := s.bot.Web.Throttled(anna.ChannelID, 0); len(rows) != 1 || rows[0].Silenced == nil || !rows[0].Silenced.Banned || rows[0].Silenced.By != "berta" {
				s.Errorf("banned, restarted %v: %+v", restarts, rows)
			}
			s.server.Lift("gardenhour", "anna")
			if !s.maySay("anna") { // IRC doesn't report the lift
				s.Error("anna can't write")
			}
			for _, row := range s.bot.Web.Throttled(anna.ChannelID, 0) {
				if row.Silenced != nil {
					s.Errorf("lifted, restarted %v: %+v", restarts, row.Silenced)
				}
			}
			if known, endedAt := s.bot.Host.Controls.Silences.Of(s.Context(), anna); known != nil || endedAt.IsZero() {
				s.Errorf("lifted, restarted %v: known %+v, ended at %s", restarts, known, endedAt)
			}
			if done, err := s.bot.Host.Controls.Silences.TimeOut(s.Context(), anna, time.Second, "", false); err != nil || done.Former != nil {
				s.Errorf("timed out, restarted %v: %+v, %v", restarts, done, err)
			}
			s.advance(time.Minute)
		}
	})
}

// refusal is a cause for which Twitch refuses requests, and what moderators are then told.
type refusal struct {
	prepare func(s *simulation)
	says    string
}

// refusals are the causes that all requests have in common.
var refusals = map[string]refusal{
	"no moderator": {func(s *simulation) { s.server.SetBotModerator("gardenhour", false) }, "the bot isn't a moderator here: type /mod chatguard_bot in the chat of gardenhour"},
	"no token":     {func(s *simulation) { s.server.Revoke() }, "run `chatguard login`"},
	"no answer": {func(s *simulation) {
		s.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return faketwitch.Fault{Status: 503}, true })
	}, control.ErrUnanswered.Error()},
	"too slow": {func(s *simulation) {
		s.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: faketwitch.AsAsked, Delay: time.Minute}, true
		})
	}, control.ErrUnanswered.Error()},
}

// TestActs_RefusedByTwitch checks that a moderator is told in plain words why Twitch refuses an
// act.
func TestActs_RefusedByTwitch(t *testing.T) {
	t.Parallel()
	cases := maps.Clone(refusals)
	maps.Copy(cases, map[string]refusal{
		"a limit of Twitch": {func(s *simulation) {
			s.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return faketwitch.Fault{Status: 429}, true })
		}, "Twitch accepts no more timeouts in this channel for 10 s"},
		"no answer, then a limit": {func(s *simulation) {
			s.server.FailNext(faketwitch.Fault{After: true}, faketwitch.Fault{Status: 429})
		}, control.ErrUnanswered.Error()},
		"a conflict": {func(s *simulation) {
			s.server.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return faketwitch.Fault{Status: 409}, true })
		}, "somebody else was changing the same"},
		"a ban that chatguard hasn't seen": {func(s *simulation) {
			s.stop()
			s.server.Silence("gardenhour", "anna", 0)
			s.start()
		}, control.ErrBanned.Error()},
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
				s.start()
				c.prepare(s)
				err := s.timeOutAnna()
				if err == nil || !strings.Contains(err.Error(), c.says) {
					s.Errorf("%v\nwant …%s", err, c.says)
				}
				s.stopThen(func() {
					audits, err := s.bot.Host.Store.Audits(t.Context(), journal.AuditFilter{Action: journal.UserTimedOut, N: 10})
					if len(audits) > 0 || err != nil {
						s.Errorf("audit: %+v, %v", audits, err)
					}
				})
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		if _, err := s.bot.Host.Controls.Silences.Ban(t.Context(), s.targetOf("gardenhour"), ""); err == nil || !strings.Contains(err.Error(), "nobody") {
			s.Errorf("a ban of the broadcaster: %v", err)
		}
	})
}

// TestActs_WhereChatguardModerates checks that people can act in Twitch's channels, and not in the
// rooms of other chats.
func TestActs_WhereChatguardModerates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := oneMessageConfig(config.TransportIRC)
		c.Check.Channels = []string{"lobby"}
		s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		var acts []string
		for _, channel := range s.bot.Web.Channels() {
			if channel.Acts {
				acts = append(acts, channel.Login)
			}
		}
		if !slices.Equal(acts, []string{"gardenhour"}) {
			s.Errorf("people can act in %q", acts)
		}
		room := journal.Target{ChannelID: app.RoomID("lobby"), UserID: app.RoomID("anna"), Author: "berta"}
		if _, err := s.bot.Host.Controls.Silences.Ban(t.Context(), room, ""); !errors.Is(err, control.ErrNoActs) {
			s.Error(err)
		}
	})
}
