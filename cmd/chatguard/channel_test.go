package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
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
			server := serveTwitch(t, demoChannel, "teatime")
			c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
			c.Twitch.Channels = append(c.Twitch.Channels, "teatime")
			key := demoChannel
			switch name {
			case "ID":
				key = server.UserID(demoChannel)
			case "login of an anonymous reader":
				c.Twitch.Token, c.Policy.Mode = "", chatguard.Observe
			}
			c.Channels = map[string]chatguard.Policy{key: ownPolicy(c)}
			a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
			defer stop()
			awaitJoined(t, server, 2)
			for range 2 {
				say(t, server, "anna", "", "hello")
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

// TestOwnPolicy_RestartKeepsUsage checks that a restart keeps the usage of a channel's own limits.
// It also keeps users' strikes, even if only that channel's policy enforces.
func TestOwnPolicy_RestartKeepsUsage(t *testing.T) {
	server := serveTwitch(t, demoChannel, "teatime")
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Channels = map[string]chatguard.Policy{demoChannel: ownPolicy(c)}
	c.Policy.Mode = chatguard.Observe
	c.FlushInterval = 10 * time.Millisecond
	var want []string
	for i := range 2 {
		a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
		if i == 0 {
			say(t, server, "anna", "", "hello")
		}
		want = append(want, say(t, server, "anna", "", "hello again"))
		waitForDeletes(t, server, want)
		var entries []journal.Entry
		waittest.Until(t, func() bool {
			var err error
			if entries, err = a.Host.Store.Entries(t.Context(), journal.EntryFilter{ChannelID: server.UserID(demoChannel), N: 2}); err != nil {
				t.Fatal(err)
			}
			return len(entries) == i+1
		})
		if entries[0].Strikes != i+1 {
			t.Errorf("start %d: %d strikes, want %d", i, entries[0].Strikes, i+1)
		}
		stop()
	}
}

// TestOwnPolicy_LiveChanges checks live changes in a channel with its own policy. They are compared
// with that policy, apply on top of it after a restart, and revert to it.
func TestOwnPolicy_LiveChanges(t *testing.T) {
	server := serveTwitch(t, demoChannel, "teatime")
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Web.Token = "0123456789abcdef"
	own := ownPolicy(c)
	c.Channels = map[string]chatguard.Policy{demoChannel: own}
	id := server.UserID(demoChannel)
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	live := own.Clone()
	live.Limits[2].Burst = 2
	revision := journal.Revision{ChannelID: id, Author: "berta", At: time.Now(), Policy: live, Changes: control.Diff(a.Host.Policies.Base(id), live)}
	if fmt.Sprint(revision.Changes) != "[{limit.slow.burst 1 2}]" {
		t.Errorf("changes %v", revision.Changes)
	}
	if _, saved, err := a.Host.Store.SaveRevision(t.Context(), revision); !saved || err != nil {
		t.Fatalf("saved %v, %v", saved, err)
	}
	stop()

	var log bytes.Buffer
	a, stop = runApp(t, server, c, slog.New(slog.NewTextHandler(&log, nil)))
	if p := a.Guard.ChannelPolicy(id); len(p.Limits) != 3 || p.Limits[2].Burst != 2 {
		t.Errorf("after a restart the limits are %+v", p.Limits)
	}
	waittest.Until(t, func() bool { return len(a.Web.Channels()) == 1 })
	request := httptest.NewRequest("DELETE", "http://127.0.0.1/api/v1/channels/"+id+"/policy", nil)
	request.Header.Set("Authorization", "Bearer "+string(c.Web.Token))
	answer := httptest.NewRecorder()
	a.Web.Handler().ServeHTTP(answer, request)
	if p := a.Guard.ChannelPolicy(id); answer.Code != http.StatusOK || len(p.Limits) != 3 || p.Limits[2].Burst != 1 {
		t.Errorf("going back: %d %s; the limits are %+v", answer.Code, answer.Body, p.Limits)
	}
	stop()
	if text := log.String(); strings.Count(text, "key=limit.slow.burst value=2 configured=1") != 1 {
		t.Errorf("the start doesn't name what was changed live:\n%s", text)
	}
}

// TestOwnPolicy_UnknownChannelWarns checks that chatguard warns of a table for an unknown channel,
// and starts nevertheless.
func TestOwnPolicy_UnknownChannelWarns(t *testing.T) {
	server := serveTwitch(t, demoChannel, "teatime")
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
