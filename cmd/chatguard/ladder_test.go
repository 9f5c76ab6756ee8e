package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/policies"
)

// penaltiesOfOthers are penalties that a chat server may have, but that the bot can't carry out in
// Twitch's chat. Each has the end of the error.
var penaltiesOfOthers = map[string]string{
	"timeout 360h": `has "timeout 360h": want whole seconds from 1s to 14d, or refill`,
	"drop":         `has "drop", which only a chat server can: use "delete"`,
	"mute":         `has an unknown penalty "mute" (known: delete, warn, timeout 30s, timeout refill, ban, drop)`,
}

// TestLadder_EachWayIn checks that no way brings such a penalty into force in a Twitch channel, and
// that a room may have it, even if there are also Twitch channels.
func TestLadder_EachWayIn(t *testing.T) {
	for text, want := range penaltiesOfOthers {
		t.Run(text, func(t *testing.T) {
			w := openLadder(t, text, want)
			w.configured()
			w.changed()
			w.imported()
		})
	}
}

// ladderTest tries to bring a penalty into force.
type ladderTest struct {
	*testing.T
	config    config.Config
	text      string
	want      string
	unfitting chatguard.Policy // has the penalty, and enforces
}

const twitchID, room = "100", "check:lobby"

func openLadder(t *testing.T, text, want string) *ladderTest {
	c := config.Default()
	c.Database, c.Web.Listen, c.Web.Token = filepath.Join(t.TempDir(), "chatguard.db"), "127.0.0.1:0", "0123456789abcdef"
	c.Twitch.Channels, c.Check.Channels = []string{demoChannel}, []string{"lobby"}
	w := &ladderTest{T: t, config: c, text: text, want: want, unfitting: c.Policy.Clone()}
	w.unfitting.Mode = chatguard.ModeEnforce
	must(t, json.Unmarshal(fmt.Appendf(nil, `[%q]`, text), &w.unfitting.Penalties.Ladder))
	return w
}

func (w *ladderTest) open() *app.App {
	w.Helper()
	a, err := app.Open(w.Context(), app.Options{Config: w.config, Log: slog.New(slog.DiscardHandler)})
	must(w, err)
	a.Twitch.Enter(demoChannel, twitchID)
	return a
}

// wantRefused fails the test unless said has the error.
func (w *ladderTest) wantRefused(way, said string) {
	w.Helper()
	if !strings.Contains(said, w.want) {
		w.Errorf("%s: %s\nwant %s", way, said, w.want)
	}
}

func (w *ladderTest) configured() {
	for _, table := range []string{"penalties", "channel." + demoChannel + ".penalties", "channel.lobby.penalties"} {
		file := fmt.Sprintf("[twitch]\nchannels = [%q]\n[check]\nchannels = [\"lobby\"]\n[%s]\nladder = [%q]\n", demoChannel, table, w.text)
		c, err := config.Parse("c.toml", []byte(file), nil)
		err = cmp.Or(err, app.CheckReady(c))
		if table == "channel.lobby.penalties" {
			must(w, err)
		} else {
			w.wantRefused(table, fmt.Sprint(err))
		}
	}
}

// changed asks as the dashboard and commands in chat do, before they store a change.
func (w *ladderTest) changed() {
	a := w.open()
	defer a.Close()
	w.wantRefused("Validate", fmt.Sprint(a.Host.Policies.Validate(twitchID, w.unfitting)))
	must(w, a.Host.Policies.Validate(room, w.unfitting))
}

// imported starts with a revision as an import or another version has stored it.
func (w *ladderTest) imported() {
	w.store(journal.Revision{ChannelID: twitchID, Author: "owner", Policy: w.unfitting, Changes: policies.Diff(w.config.Policy, w.unfitting)})
	a := w.open()
	defer a.Close()
	live := a.Host.Policies.LiveChanges()
	if p := a.Guard.ChannelPolicy(twitchID); p.Mode != chatguard.ModeObserve || len(live) != 1 {
		w.Fatalf("after the start: %+v, live changes %+v", p, live)
	}
	w.wantRefused("import", fmt.Sprint(live[0].Unacceptable))
	moderator := chatguard.Message{ChannelID: twitchID, Text: "!chatguard enforce", User: chatguard.User{ID: "9", Login: "berta", Roles: chatguard.Roles{chatguard.RoleModerator}}}
	w.wantRefused("command", a.Host.Controls.Commands.Answer(w.Context(), moderator))
	_, err := a.Host.Policies.Revert(w.Context(), policies.Request{ChannelID: twitchID, Author: "owner"}, 1)
	w.wantRefused("Revert", fmt.Sprint(err))
	if p := a.Guard.ChannelPolicy(twitchID); p.Mode != chatguard.ModeObserve {
		w.Errorf("in the end: %+v", p)
	}
}

func (w *ladderTest) store(r journal.Revision) {
	guard, err := chatguard.New(w.config.Policy, nil)
	must(w, err)
	store, err := persist.Open(w.Context(), w.config.Database, nil)
	must(w, err)
	_, err = store.Restore(w.Context(), guard)
	must(w, err)
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error)
	go func() { ended <- store.Run(ctx, guard) }()
	_, _, err = store.SaveRevision(w.Context(), r)
	must(w, err)
	stop()
	must(w, <-ended)
	must(w, store.Close())
}
