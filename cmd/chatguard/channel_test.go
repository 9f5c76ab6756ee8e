package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/waittest"
)

// ownPolicy returns a policy that differs from the demo's in a limit that only it has: one message
// per hour.
func ownPolicy(c config.Config) chatguard.Policy {
	p := c.Policy.Clone()
	p.Limits = append(p.Limits, chatguard.Limit{Name: "slow", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Hour})
	p.Penalties.StrikeEvery = 0
	return p
}

// TestOwnPolicy_Applies checks that a channel's own policy applies from its first message, only in
// that channel, whichever name its table uses.
func TestOwnPolicy_Applies(t *testing.T) {
	for _, name := range []string{"login", "ID", "login of an anonymous reader"} {
		t.Run(name, func(t *testing.T) {
			server := twitchtest.Start(t, demoChannel, "teatime")
			c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
			c.Twitch.Channels = append(c.Twitch.Channels, "teatime")
			key := demoChannel
			switch name {
			case "ID":
				key = server.UserID(demoChannel)
			case "login of an anonymous reader":
				c.Twitch.Token, c.Policy.Mode = "", chatguard.ModeObserve
			}
			c.Channels = map[string]chatguard.Policy{key: ownPolicy(c)}
			a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
			defer stop()
			awaitJoined(t, server, 2)
			for range 2 {
				say(t, server, "anna", "hello")
				_, err := server.Say(faketwitch.Line{Channel: "teatime", Login: "anna", Text: "hello"})
				must(t, err)
			}
			waittest.Until(t, func() bool { return a.Bot.Counts().Messages == 4 })
			if n := a.Bot.Counts(); n.Throttled+n.Observed != 1 {
				t.Errorf("%+v, want one message beyond the limit that only #%s has", n, demoChannel)
			}
			if p := a.Guard.ChannelPolicy(server.UserID("teatime")); len(p.Limits) != 2 {
				t.Errorf("the other channel's limits are %+v", p.Limits)
			}
		})
	}
}

// TestOwnPolicy_UnknownChannelWarns checks that chatguard warns of a table for an unknown channel,
// and starts nevertheless.
func TestOwnPolicy_UnknownChannelWarns(t *testing.T) {
	server := twitchtest.Start(t, demoChannel, "teatime")
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Path = "chatguard.toml"
	c.Channels = map[string]chatguard.Policy{"gardenhuor": c.Policy, demoChannel: c.Policy, "12345": c.Policy}
	var log bytes.Buffer
	a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	defer a.Close()
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "table=[channel.gardenhuor]") {
		t.Errorf("the log says\n%s", text)
	}
}
