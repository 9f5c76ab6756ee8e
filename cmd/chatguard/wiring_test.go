package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
	"github.com/chatguard/chatguard/limitinfo"
)

// runApp runs an app until stop is called. stop waits until everything is written.
func runApp(t testing.TB, server *faketwitch.Server, c config.Config, log *slog.Logger) (a *app.App, stop func()) {
	t.Helper()
	a, err := app.Open(t.Context(), app.Options{Config: c, Log: log})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	awaitJoined(t, server, 1)
	return a, func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.Close()
	}
}

// TestRestart_Keeps checks that a restart keeps the journal with outcomes, live changes, and
// throttled users. Before it, the dashboard shows what a chat says that the Guard doesn't read.
func TestRestart_Keeps(t *testing.T) {
	server := twitchtest.Start(t, demoChannel)
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Web.Token = "0123456789abcdef"
	c.Policy.Limits[0].Refill = time.Hour
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	var last string
	for range 4 {
		last = say(t, server, "anna", "hello")
	}
	waitForDeletes(t, server, []string{last})
	channel := a.Web.Channels()[0].ID
	if said := a.Web.Around(channel, "", 0, 0); len(said) != 1 || said[0].Color != "#1E90FF" {
		t.Errorf("the dashboard shows the message %+v, want the color of anna's name", said)
	}
	live := c.Policy.Clone()
	live.Limits[0].Burst = 1
	revision := journal.Revision{ChannelID: channel, Author: "berta", At: time.Now(), Policy: live, Changes: policies.Diff(c.Policy, live)}
	if _, saved, err := a.Host.Store.SaveRevision(t.Context(), revision); !saved || err != nil {
		t.Fatalf("saved %v, %v", saved, err)
	}
	stop()

	var log bytes.Buffer
	a, stop = runApp(t, server, c, slog.New(slog.NewTextHandler(&log, nil)))
	defer stop()
	if p := a.Guard.ChannelPolicy(channel); p.Limits[0].Burst != 1 {
		t.Errorf("what was changed live isn't in force: %+v", p.Limits[0])
	}
	if text := log.String(); !strings.Contains(text, "key=limit.burst.burst value=1 configured=3") || !strings.Contains(text, "author=berta") {
		t.Errorf("the start doesn't name what was changed live:\n%s", text)
	}
	entries, err := a.Host.Store.Entries(t.Context(), journal.EntryFilter{ChannelID: channel, N: 10})
	if err != nil || len(entries) != 1 || entries[0].Outcome.Result != journal.Done || entries[0].Login != "anna" {
		t.Errorf("journal %+v, %v", entries, err)
	}
	var waiting struct{ Users []struct{ Login string } }
	getJSON(t, a, "throttled?channel="+channel, &waiting)
	if len(waiting.Users) != 1 || waiting.Users[0].Login != "anna" {
		t.Errorf("the dashboard shows %+v waiting", waiting)
	}
}

// getJSON decodes what the app's dashboard answers its owner.
func getJSON(t *testing.T, a *app.App, path string, into any) {
	t.Helper()
	status, answer := askApp(t, a, "GET", path, "")
	if err := json.Unmarshal([]byte(answer), into); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, answer)
	}
}

// askApp sends the app's dashboard a request as its owner, who may also check.
func askApp(t *testing.T, a *app.App, method, path, body string) (status int, answer string) {
	t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1/api/v1/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+string(a.Config.Web.Token))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.Web.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestRun_EnforcesNothingWithoutToken checks that a channel observes without a token, even if a
// stored live change sets it to enforce.
func TestRun_EnforcesNothingWithoutToken(t *testing.T) {
	c := config.Default()
	c.Database, c.Web.Listen, c.Twitch.Channels = filepath.Join(t.TempDir(), "chatguard.db"), "127.0.0.1:0", []string{demoChannel}
	enforcing := c.Policy.Clone()
	enforcing.Mode = chatguard.ModeEnforce
	for i, want := range []chatguard.Mode{chatguard.ModeObserve, chatguard.ModeEnforce} {
		a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
		must(t, err)
		a.Twitch.Enter(demoChannel, "100")
		if stated, inForce := a.Guard.ChannelPolicy("100").Mode, inner.Of(a.Guard).InForce("100").Mode; stated != want || inForce != chatguard.ModeObserve {
			t.Errorf("start %d: stated %s, in force %s", i, stated, inForce)
		}
		saveRevision(t, a, journal.Revision{ChannelID: "100", At: time.Now(), Policy: enforcing, Changes: policies.Diff(c.Policy, enforcing)})
		a.Close()
	}
}

// saveRevision saves a revision in the database of an app that isn't running.
func saveRevision(t *testing.T, a *app.App, revision journal.Revision) {
	t.Helper()
	ended, stop := context.WithCancel(t.Context())
	stop()
	_, _, err := a.Host.Store.SaveRevision(ended, revision) // does not wait
	must(t, errors.Join(err, a.Host.Store.Run(ended, a.Guard)))
}

func TestWatch(t *testing.T) {
	server := twitchtest.Start(t, demoChannel)
	c := demoConfig(server, t.TempDir(), "")
	c.Twitch.Token = ""
	read, write := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		err := watch(ctx, c, write)
		write.Close()
		ended <- err
	}()
	awaitJoined(t, server, 1)
	for range 4 {
		say(t, server, "anna", "hello")
	}
	line := make([]byte, 200)
	n, err := read.Read(line)
	if text := string(line[:n]); err != nil || !strings.Contains(text, "anna") || !strings.Contains(text, "burst: could speak again in ") || !strings.Contains(text, "(delete)") {
		t.Errorf("watch says %q, %v", text, err)
	}
	stop()
	rest, err := io.ReadAll(read)
	if err != nil || string(rest) != "4 messages, 0 of them exempt; 1 would have been throttled\n" {
		t.Errorf("at its end %q, %v", rest, err)
	}
	must(t, <-ended)
	if asked := server.Requests(); len(asked) != 0 {
		t.Errorf("watch asked %v", asked)
	}
}

// TestMemory_IsTheGuards checks that the configuration's memory limits apply to the users of a
// channel and of all channels.
func TestMemory_IsTheGuards(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(c *config.Config)
		exact int64 // inverse of the part by which the number of users may be off
	}{
		"memory_per_table": {func(c *config.Config) { c.MemoryPerTable = 1 << 20 }, 100},
		"memory":           {func(c *config.Config) { c.Memory = 2 << 20 }, 12},
	} {
		t.Run(name, func(t *testing.T) { testMemoryOfGuard(t, test.set, test.exact) })
	}
}

// testMemoryOfGuard checks that users take up to 1 MiB.
func testMemoryOfGuard(t *testing.T, set func(*config.Config), exact int64) {
	c := config.Default()
	c.Database, c.Web.Listen = filepath.Join(t.TempDir(), "chatguard.db"), "127.0.0.1:0"
	set(&c)
	a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer a.Close()
	fit, _, err := limitinfo.Capacity(c.Policy, 1<<20)
	must(t, err)
	for i := range fit + 1000 {
		m := chatguard.Message{ChannelID: "1", User: chatguard.User{ID: fmt.Sprint(1_000_000 + i)}, SentAt: time.Unix(1, 0)}
		_, err := a.Guard.Check(t.Context(), m)
		must(t, err)
	}
	m := a.Guard.Memory()
	if off := int64(m.Users) - fit; max(off, -off) > fit/exact || int64(m.Users)+m.Evicted != fit+1000 {
		t.Errorf("%+v, want about %d users", m, fit)
	}
}
