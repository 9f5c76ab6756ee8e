package app_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/internal/turntest"
	"github.com/chatguard/chatguard/internal/webhook"
)

// withWebhook returns a configuration with a webhook at which nobody answers, so that all events
// wait for it.
func withWebhook(c config.Config) config.Config {
	c.Webhooks = []config.Webhook{{Name: "test", URL: "http://127.0.0.1:1/", Format: webhook.Discord, Events: webhook.Kinds, AllowPrivate: true}}
	return c
}

// wantEvents checks the texts of the events since the last call. Each is a kind and a part of the
// text.
func (s *simulation) wantEvents(want ...string) {
	s.Helper()
	waiting, dead, err := s.bot.Webhooks.Deliveries(webhook.ConfiguredID("test"))
	must(s, err)
	slices.Reverse(dead)
	got := slices.Concat(dead, waiting)
	texts := []string{}
	for _, d := range got {
		if d.ID > s.lastEvent {
			texts = append(texts, fmt.Sprintf("%s: %s", d.Event, d.Text))
		}
	}
	for _, d := range got {
		s.lastEvent = max(s.lastEvent, d.ID)
	}
	matches := func(i int) bool {
		kind, text, _ := strings.Cut(want[i], ": ")
		return strings.HasPrefix(texts[i], kind+": ") && strings.Contains(texts[i], text)
	}
	for i := range want {
		if len(texts) != len(want) || !matches(i) {
			s.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(texts, "\n\t"), strings.Join(want, "\n\t"))
			return
		}
	}
	if len(texts) != len(want) {
		s.Errorf("got\n\t%s\nwant none", strings.Join(texts, "\n\t"))
	}
}

// TestWebhooks_Changes checks the events about what people change.
func TestWebhooks_Changes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, withWebhook(oneMessageConfig(config.TransportIRC)), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		s.advance(time.Minute)
		s.wantEvents()
		controls, channel := s.bot.Host.Controls, s.server.UserID("gardenhour")
		did := func(_ bool, err error) {
			t.Helper()
			must(t, err)
		}
		did(controls.Switches.Pause(t.Context(), channel, "berta"))
		did(controls.Switches.Resume(t.Context(), channel, "twitch:carl"))
		s.wantEvents("pause: #gardenhour: Paused. berta paused", "pause: #gardenhour: Resumed. carl resumed")

		_, _, err := controls.Raids.Start(t.Context(), channel, "berta", time.Minute)
		must(t, err)
		s.advance(2 * time.Minute)
		_, _, err = controls.Raids.Start(t.Context(), channel, "berta", time.Minute)
		must(t, err)
		did(controls.Raids.End(t.Context(), channel, "carl"))
		s.wantEvents("raid: Raid mode is on. berta started", "raid: It ended by itself.", "raid: berta started", "raid: carl ended")

		for range 2 { // the second time, nothing differs
			request := policies.Request{ChannelID: channel, Author: "berta"}
			_, err = s.bot.Host.Policies.Revise(t.Context(), request, func(p chatguard.Policy) (chatguard.Policy, error) {
				p.Mode = chatguard.ModeObserve
				return p, nil
			})
			must(t, err)
		}
		s.wantEvents("limits: #gardenhour: The limits have changed. berta changed the limits (revision 1). The limits only observe. mode: enforce → observe")

		changed := s.config
		changed.Policy = changed.Policy.Clone()
		changed.Policy.Limits[0].Burst = 7
		_, err = s.bot.Reload(changed)
		must(t, err)
		s.wantEvents("limits: The limits have changed. The configuration was loaded again. The limits are enforced. limit.one.burst: 1 → 7")

		_, err = controls.Silences.Ban(t.Context(), s.targetOf("anna"), "links")
		must(t, err)
		s.advance(5 * time.Second)
		s.wantEvents("ban: #gardenhour: Banned. ") // nobody has seen anna write: her ID stands for the name
		if waiting, _, err := s.bot.Webhooks.Deliveries(webhook.ConfiguredID("test")); err != nil || !strings.HasSuffix(waiting[len(waiting)-1].Text, s.server.UserID("anna")+", by berta: links") {
			t.Errorf("%+v, %v", waiting, err)
		}

		removed := s.config
		removed.Webhooks = nil
		if lines, err := s.bot.Reload(removed); err != nil || !strings.Contains(lines[0], "webhook") {
			t.Errorf("%q, %v", lines, err)
		}
		if list := s.bot.Webhooks.List(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
}

// TestWebhooks_Bans checks that bans by the ladder are reported together, even if chatguard stops
// before.
func TestWebhooks_Bans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withWebhook(oneMessageConfig(config.TransportIRC))
		c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionBan}}
		s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		say := func(logins ...string) {
			t.Helper()
			for _, login := range logins {
				for range 2 {
					_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: login, Text: "hello " + login})
					must(t, err)
				}
			}
		}
		say("anna", "carl")
		s.advance(6 * time.Second)
		s.wantEvents("ban: #gardenhour: Banned. anna, by chatguard, after strikes in the limit one carl, by chatguard")
		for i := range webhook.MaxBans + 2 {
			say(fmt.Sprintf("spammer%d", i))
		}
		s.advance(20 * time.Second)
		s.wantEvents("ban: spammer0,", "ban: ")
		say("dora")
		s.advance(50 * time.Millisecond)
		s.stop()
		s.start()
		s.wantEvents("ban: dora, by chatguard")
	})
}

// TestWebhooks_UnknownBan checks that a ban without an answer is reported as unknown.
func TestWebhooks_UnknownBan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := withWebhook(oneMessageConfig(config.TransportIRC))
		c.Policy.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.ActionBan}}
		s := newSimulation(t, c, faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		s.server.SetHelixFaults(func(r faketwitch.Request) (faketwitch.Fault, bool) {
			return faketwitch.Fault{Status: http.StatusInternalServerError}, r.Method == http.MethodPost && r.Path == "/helix/moderation/bans"
		})
		for range 2 {
			_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			must(t, err)
		}
		s.advance(20 * time.Second)
		s.wantEvents("ban: #gardenhour: Perhaps banned. anna, by chatguard, after strikes in the limit one; whether Twitch carried it out is unknown")
	})
}

// TestWebhooks_ChannelNotRead checks that webhooks and metrics tell that a channel isn't read,
// although the chat is connected.
func TestWebhooks_ChannelNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, withWebhook(oneMessageConfig(config.TransportIRC)), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		labels := `{channel="gardenhour",channel_id="` + s.server.UserID("gardenhour") + `"} `
		checkMetrics := func(want string) {
			t.Helper()
			text := s.ask("GET", "/metrics", "").Body.String()
			for _, line := range []string{"chatguard_channel_read" + labels + want, "chatguard_ready " + want, `chatguard_connected{connection="chat"} 1`} {
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("no %s in\n%s", line, text)
				}
			}
		}
		s.advance(time.Minute)
		checkMetrics("1")
		s.server.RemoveAccount("gardenhour")
		s.server.Disconnect()
		s.advance(40 * time.Second)
		s.wantEvents("failure: #gardenhour fails. Not read, since")
		checkMetrics("0")
	})
}

// TestWebhooks_Failure checks that a lost connection is reported, and that it works again.
func TestWebhooks_Failure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, withWebhook(oneMessageConfig(config.TransportIRC)), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		s.advance(time.Minute)
		s.wantEvents()
		s.cutOff(net.ErrClosed)
		s.server.Disconnect()
		s.advance(20 * time.Second)
		s.wantEvents()
		s.advance(20 * time.Second)
		s.wantEvents("failure: Twitch fails. ")
		s.cutOff(nil)
		s.advance(10 * time.Minute)
		s.wantEvents("failure: Twitch works again. It failed from")
	})
}

// TestWebhooks_Summary checks that a stream is summed up once, when it can't go on, and not again
// after a restart.
func TestWebhooks_Summary(t *testing.T) {
	t.Parallel()
	turntest.Expensive(t)
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, withWebhook(oneMessageConfig(config.TransportIRC)), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.server.SetLive("gardenhour", time.Now())
		s.start()
		for range 2 {
			_, err := s.server.Say(faketwitch.Line{Channel: "gardenhour", Login: "anna", Text: "hello"})
			must(t, err)
		}
		s.advance(5 * time.Minute)
		s.server.SetLive("gardenhour", time.Time{})
		s.advance(5 * time.Minute)
		s.wantEvents() // it may go on
		s.stop()
		s.start()
		s.advance(11 * time.Minute)
		s.wantEvents("summary: #gardenhour: The stream is over. From 2000-01-01 00:00:00 UTC until 2000-01-01 00:05")
		if text := s.lastText(); !strings.Contains(text, "Messages: 2. Users: 1. Throttled messages: 1. Throttled users: 1.") || !strings.Contains(text, "Throttled most: anna (1).") {
			t.Errorf("the summary is %q", text)
		}
		s.stop()
		s.start()
		s.advance(time.Hour)
		s.wantEvents()
	})
}

// lastText returns the text of the last event.
func (s *simulation) lastText() string {
	s.Helper()
	waiting, _, err := s.bot.Webhooks.Deliveries(webhook.ConfiguredID("test"))
	if err != nil || len(waiting) == 0 {
		s.Fatalf("no events: %v", err)
	}
	return waiting[len(waiting)-1].Text
}
