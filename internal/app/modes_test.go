package app_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// modes returns the chat modes of the channel gardenhour as the dashboard shows them, a moment
// later.
func (s *simulation) modes() string {
	s.Helper()
	s.advance(time.Second)
	for _, c := range s.bot.Web.Channels() {
		if c.Login == "gardenhour" {
			return formatModes(c.Modes)
		}
	}
	return "no channel"
}

// formatModes names the modes that are on, with their numbers.
func formatModes(m *journal.ChatModes) string {
	if m == nil {
		return "unknown"
	}
	on := []string{}
	for name, isOn := range map[string]bool{
		fmt.Sprint("slow ", m.SlowModeWait): m.SlowMode, fmt.Sprint("followers ", m.FollowerModeDuration): m.FollowerMode,
		"subscribers": m.SubscriberMode, "emotes": m.EmoteMode, "unique": m.UniqueChatMode,
	} {
		if isOn {
			on = append(on, name)
		}
	}
	slices.Sort(on)
	return strings.Join(on, ", ")
}

// switchModes switches chat modes of the channel gardenhour for berta, as the dashboard does.
func (s *simulation) switchModes(change journal.ChatModesChange) error {
	_, err := s.bot.Host.Controls.Modes.Change(s.Context(), s.server.UserID("gardenhour"), "berta", change)
	return err
}

// TestChatModes_Followed checks that the dashboard shows the chat modes that Twitch has at the
// start, those that a person switches here, and those that anybody switches on Twitch.
func TestChatModes_Followed(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		s.server.ChangeModes("gardenhour", `{"slow_mode":true,"slow_mode_wait_time":7,"unique_chat_mode":true}`)
		s.start()
		if got := s.modes(); got != "slow 7, unique" {
			s.Errorf("at the start: %q", got)
		}
		for _, step := range []struct {
			does func()
			want string
		}{
			{func() { must(s, s.switchModes(journal.ChatModesChange{EmoteMode: new(true)})) }, "emotes, slow 7, unique"},
			{func() { s.server.ChangeModes("gardenhour", `{"unique_chat_mode":false}`) }, "emotes, slow 7"},
			{func() { s.server.ChangeModes("gardenhour", `{"follower_mode":true,"follower_mode_duration":0}`) }, "emotes, followers 0, slow 7"},
			{func() {
				must(s, s.switchModes(journal.ChatModesChange{FollowerMode: new(true), FollowerModeDuration: new(30)}))
			}, "emotes, followers 30, slow 7"},
			{func() { s.server.ChangeModes("gardenhour", `{"slow_mode":true,"slow_mode_wait_time":120}`) }, "emotes, followers 30, slow 120"},
			{func() {
				must(s, s.switchModes(journal.ChatModesChange{SlowMode: new(false), FollowerMode: new(false), EmoteMode: new(false), SubscriberMode: new(true)}))
			}, "subscribers"},
			{func() { s.server.ChangeModes("gardenhour", `{"subscriber_mode":false}`) }, ""},
		} {
			step.does()
			if got := s.modes(); got != step.want {
				s.Errorf("shown %q, want %q", got, step.want)
			}
		}
		audits, err := s.bot.Host.Store.Audits(s.Context(), journal.AuditFilter{Action: journal.ChatModesChanged, N: 10})
		if err != nil || len(audits) != 3 || audits[0].Author != "berta" || audits[0].ChannelID != s.server.UserID("gardenhour") {
			s.Fatalf("audit: %+v, %v", audits, err)
		}
		if d, ok := journal.DetailOf[journal.ChatModesChange](audits[1]); !ok || *d.FollowerModeDuration != 30 || d.SlowMode != nil {
			s.Errorf("audit: %+v", audits[1].Detail)
		}
	})
}

// TestChatModes_Unknown checks that the modes are unknown, and never off, while Twitch doesn't say
// them, and that they are read again with the next connection.
func TestChatModes_Unknown(t *testing.T) {
	t.Parallel()
	testEachTransport(t, faketwitch.Options{}, func(s *simulation) {
		needsModerator := s.config.Twitch.Transport == config.TransportEventSub
		s.server.ChangeModes("gardenhour", `{"emote_mode":true}`)
		s.start()
		s.server.SetBotModerator("gardenhour", false)
		s.server.ChangeModes("gardenhour", `{"subscriber_mode":true}`)
		want := "emotes, subscribers"
		if needsModerator {
			want = "unknown"
		}
		if got := s.modes(); got != want {
			s.Errorf("as an ordinary chatter: %q, want %q", got, want)
		}
		s.server.SetBotModerator("gardenhour", true)
		s.server.StallLogins(100) // of IRC
		s.server.StallWelcomes(100)
		s.server.Disconnect()
		s.server.DropEventSub()
		if got := s.modes(); got != "unknown" {
			s.Errorf("without a connection: %q", got)
		}
		s.server.ChangeModes("gardenhour", `{"emote_mode":false}`)
		s.server.StallLogins(0)
		s.server.StallWelcomes(0)
		s.advance(5 * time.Minute)
		if got := s.modes(); got != "subscribers" {
			s.Errorf("with the next connection: %q", got)
		}
	})
}

// TestChatModes_Unanswered checks that the modes are unknown if Twitch says over EventSub that they
// have changed, but not how, and that they are known again as soon as it answers.
func TestChatModes_Unanswered(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faketwitch.Fault{"hangs": {Status: 200, Delay: time.Hour}, "fails": {Status: 503}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSimulation(t, oneMessageConfig(config.TransportEventSub), faketwitch.Options{Channels: []string{"gardenhour"}})
				s.start()
				s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
					return fault, strings.Contains(r.Path, "/chat/settings")
				})
				s.server.ChangeModes("gardenhour", `{"emote_mode":true}`)
				s.advance(10 * time.Second)
				if got := s.modes(); got != "unknown" {
					s.Errorf("without an answer: %q", got)
				}
				s.server.SetHelixFaults(nil)
				s.advance(30 * time.Second)
				if got := s.modes(); got != "emotes" {
					s.Errorf("with an answer: %q", got)
				}
			})
		})
	}
}

// TestChatModes_Refused checks that a moderator is told in plain words why modes can't be switched.
// The audit then has no switched modes, and without an answer, what may have been switched.
func TestChatModes_Refused(t *testing.T) {
	t.Parallel()
	cases := maps.Clone(refusals)
	maps.Copy(cases, map[string]refusal{
		"no scope": {func(s *simulation) {
			s.server.FailNext(faketwitch.Fault{Status: 401, Message: "Missing scope: moderator:manage:chat_settings"})
		}, "the bot's token may not change chat settings: run `chatguard login` again"},
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
				s.start()
				c.prepare(s)
				for _, change := range []journal.ChatModesChange{{SlowMode: new(true)}, {EmoteMode: new(true)}} {
					if name == "no scope" {
						c.prepare(s)
					}
					if err := s.switchModes(change); err == nil || !strings.Contains(err.Error(), c.says) {
						s.Errorf("%v\nwant …%s", err, c.says)
					}
				}
				s.stopThen(func() {
					audits, err := s.bot.Host.Store.Audits(t.Context(), journal.AuditFilter{Action: journal.ChatModesChanged, N: 10})
					if len(audits) > 0 || err != nil {
						s.Errorf("audit: %+v, %v", audits, err)
					}
					audits, err = s.bot.Host.Store.Audits(t.Context(), journal.AuditFilter{Action: journal.Unconfirmed, N: 10})
					if isUnknown := c.says == control.ErrUnanswered.Error(); (len(audits) == 2) != isUnknown || err != nil {
						s.Errorf("unconfirmed in the audit: %+v, %v", audits, err)
					}
				})
			})
		})
	}
}

// TestChatModes_OnlyTwitch checks that rooms of other chats have no modes.
func TestChatModes_OnlyTwitch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := oneMessageConfig(config.TransportIRC)
		c.Check.Channels = []string{"lobby"}
		s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		_, err := s.bot.Host.Controls.Modes.Change(t.Context(), app.RoomID("lobby"), "berta", journal.ChatModesChange{EmoteMode: new(true)})
		if err != control.ErrNoModes {
			s.Error(err)
		}
		for _, channel := range s.bot.Web.Channels() {
			if (channel.Modes != nil) != (channel.Login == "gardenhour") {
				s.Errorf("%s: %+v", channel.Login, channel.Modes)
			}
		}
	})
}

// TestChatModes_Busy checks that a moderator is told that nothing was tried while the bot waits for
// Twitch, and that other modes can be switched meanwhile.
func TestChatModes_Busy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		answered := make(chan struct{})
		var waiting sync.WaitGroup
		waiting.Go(func() {
			must(t, s.bot.Bot.ChangeSlowMode(t.Context(), "another channel", func() error { <-answered; return nil }))
		})
		synctest.Wait()
		if err := s.switchModes(journal.ChatModesChange{SlowMode: new(true)}); !errors.Is(err, chat.ErrSlowModeBusy) {
			s.Error(err)
		}
		must(s, s.switchModes(journal.ChatModesChange{EmoteMode: new(true)}))
		if got := s.modes(); got != "emotes" {
			s.Errorf("shown %q", got)
		}
		close(answered)
		waiting.Wait()
		must(s, s.switchModes(journal.ChatModesChange{SlowMode: new(true)}))
	})
}
