package app_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
)

// TestReload_AllOrNothing checks that new limits don't apply if new channels can't, and the
// reverse.
func TestReload_AllOrNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		transport string
		spoil     func(*config.Config)
		why       string
	}{
		"more channels than EventSub carries": {config.TransportEventSub, func(c *config.Config) {
			c.Twitch.Channels = manyChannels(151)
		}, "names 151, but EventSub supports 150: name fewer, or set twitch.transport to irc"},
		"more channels than EventSub carries, which needs a restart to leave": {config.TransportEventSub, func(c *config.Config) {
			c.Twitch.Channels, c.Twitch.Transport = manyChannels(151), config.TransportIRC
		}, "EventSub supports 150"},
		"a channel that can't be": {config.TransportIRC, func(c *config.Config) { c.Twitch.Channels = []string{"no name"} }, `"no name"`},
		"a limit that can't be": {config.TransportIRC, func(c *config.Config) {
			c.Policy.Limits[0].Burst, c.Twitch.Channels = 0, manyChannels(2)
		}, "burst"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSimulation(t, oneMessageConfig(c.transport), faketwitch.Options{Channels: []string{"gardenhour"}})
				s.start()
				s.provokeDelete()
				next := s.config
				next.Policy.Limits = []chatguard.Limit{{Name: "one", Algorithm: chatguard.TokenBucket, Burst: 9, Refill: time.Hour}}
				c.spoil(&next)
				if _, err := s.bot.Reload(next); err == nil || !strings.Contains(err.Error(), c.why) {
					t.Errorf("the error is %v", err)
				}
				id := s.server.UserID("gardenhour")
				if now, base := inner.Of(s.bot.Guard).InForce(id).Limits[0].Burst, s.bot.Host.Policies.Base(id).Limits[0].Burst; now != 1 || base != 1 {
					t.Errorf("the burst is %d, and %d by the configuration", now, base)
				}
				if channels := s.bot.Twitch.Status().Channels; len(channels) != 1 || channels[0].Login != "gardenhour" {
					t.Errorf("read are %+v", channels)
				}
				if !s.provokeDelete() {
					t.Error("it doesn't act any more")
				}
			})
		})
	}
}

// TestReload_RenamedChannel checks that a channel keeps its former name if a configuration with its
// new one can't be loaded.
func TestReload_RenamedChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, withWebhook(oneMessageConfig(config.TransportIRC)), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		s.provokeDelete()
		s.server.Rename("gardenhour", "nightgarden")
		s.server.Disconnect()
		s.advance(20 * time.Minute)
		if channels := s.bot.Twitch.Status().Channels; len(channels) != 1 || channels[0].Now != "nightgarden" {
			t.Fatalf("the new name isn't known: %+v", channels)
		}
		next := s.config
		next.Twitch.Channels, next.Policy.Limits = []string{"nightgarden"}, []chatguard.Limit{{Name: "one"}}
		if _, err := s.bot.Reload(next); err == nil {
			t.Error("a limit without numbers is accepted")
		}
		s.wantEvents()
		_, err := s.bot.Host.Controls.Switches.Pause(t.Context(), s.server.UserID("nightgarden"), "berta")
		must(t, err)
		s.wantEvents("pause: #gardenhour: Paused.")
	})
}

// TestReload_Settings checks that raid mode and notices change without a restart.
func TestReload_Settings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, oneMessageConfig(config.TransportIRC), faketwitch.Options{Channels: []string{"gardenhour"}})
		s.start()
		s.provokeDelete()
		next := s.config
		next.Raid.Lasts, next.Notices.Text = time.Hour, "@{name}, slower"
		report, err := s.bot.Reload(next)
		if err != nil || strings.Contains(strings.Join(report, "\n"), "restart") {
			t.Errorf("%q, %v", report, err)
		}
		id := s.server.UserID("gardenhour")
		if now, _ := s.bot.Host.Controls.Settings.Of(id); time.Duration(now.Raid.Lasts) != time.Hour || now.Notices.Text != next.Notices.Text {
			t.Errorf("the settings are %+v", now)
		}
	})
}

func manyChannels(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("channel", i))
	}
	return names
}

// TestConnections_NotesBounded checks a bot that isn't a moderator in many channels. The dashboard
// names a few of these channels and counts the rest.
func TestConnections_NotesBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := oneMessageConfig(config.TransportEventSub)
		c.Twitch.Channels = manyChannels(9)
		s := newSimulation(t, c, faketwitch.Options{Channels: c.Twitch.Channels})
		for _, name := range c.Twitch.Channels {
			s.server.SetBotModerator(name, false)
		}
		s.start()
		s.advance(time.Minute)
		list := s.bot.Web.Connections()
		if last := list[len(list)-1]; len(list) != 3+app.MostNotes+1 || last.Name != "and 4 more" || last.Detail != "`chatguard doctor` names them all" {
			t.Errorf("the dashboard says %+v", list)
		}
	})
}
