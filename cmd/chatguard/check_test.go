package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/web"
)

// forServers is a configuration without Twitch: in the lobby nobody may say more than one thing an hour, elsewhere it is three.
const forServers = `
[check]
channels = ["Lobby"]
[web]
listen = "127.0.0.1:0"
[policy]
mode = "enforce"
[penalties]
ladder = ["drop"]
[[limit]]
name = "burst"
algorithm = "token-bucket"
burst = 3
refill = "1h"
[[channel.lobby.limit]]
name = "slow"
algorithm = "token-bucket"
burst = 1
refill = "1h"
`

// served is a chatguard that servers ask, and what a test asks it with.
type served struct {
	*testing.T
	*process
	configuration string
	server, owner string // tokens
}

func (s *served) start() {
	s.Helper()
	s.process = start(s.T, s.configuration, "CHATGUARD_WEB_TOKEN="+s.owner)
	if s.server == "" {
		s.server = "Bearer " + beside(s.T, s.configuration, "token", "make", "gameserver", "--role", "check")
	}
}

// says asks whether a user may write in a channel, and wants that status.
func (s *served) says(channel, user string, want int) {
	s.Helper()
	answer, text := asked(s.T, "POST", s.address+"api/v1/check", fmt.Sprintf(`{"channel":%q,"user_id":%q}`, channel, user), "Authorization", s.server)
	if answer.StatusCode != want {
		s.Errorf("%s in %s: %s %s, want %d", user, channel, answer.Status, text, want)
	}
}

// own asks for something as the owner.
func (s *served) own(method, path string, into any) {
	s.Helper()
	answer, text := asked(s.T, method, s.address+"api/v1/"+path, "", "Authorization", "Bearer "+s.owner)
	if err := json.Unmarshal([]byte(text), into); err != nil || answer.StatusCode != http.StatusOK {
		s.Fatalf("%s: %s %s", path, answer.Status, text)
	}
}

// channels wants the dashboard to have just those.
func (s *served) channels(want string) {
	s.Helper()
	var got struct{ Channels []web.Channel }
	s.own("GET", "channels", &got)
	var ids []string
	for _, c := range got.Channels {
		ids = append(ids, c.ID)
	}
	if strings.Join(ids, " ") != want {
		s.Errorf("the channels are %q, want %s", ids, want)
	}
}

// TestWithoutTwitchServersAreServed: no channel, no token and no login of Twitch's is wanted. Tables hold for channels that are listed and for others,
// across a restart and a reload, and what moderators do in the dashboard holds there too.
func TestWithoutTwitchServersAreServed(t *testing.T) {
	t.Parallel()
	s := &served{T: t, configuration: filepath.Join(t.TempDir(), "chatguard.toml"), owner: "a-long-token-of-the-owner"}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(s.configuration, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	twitch := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("Twitch is asked for %s", r.URL) }))
	defer twitch.Close()
	elsewhere := fmt.Sprintf("[twitch]\ntransport = \"eventsub\"\neventsub_url = %q\nhelix_url = %q\nauth_url = %q\n",
		strings.Replace(twitch.URL, "http", "ws", 1), twitch.URL, twitch.URL)
	table := func(channel string, burst int) string {
		return fmt.Sprintf("[[channel.%s.limit]]\nname = \"burst\"\nalgorithm = \"token-bucket\"\nburst = %d\nrefill = \"1h\"\n", channel, burst)
	}
	write(forServers + elsewhere + table("cellar", 2))
	s.start()
	s.channels("Lobby")
	for range 2 {
		for channel, passes := range map[string]int{"Lobby": 1, "hall": 3, "cellar": 2} {
			for range passes {
				s.says(channel, "anna", http.StatusOK)
			}
			s.says(channel, "anna", http.StatusTooManyRequests)
		}
		s.channels("Lobby cellar hall")
		s.stop(t)
		s.start()
		for _, channel := range []string{"Lobby", "hall", "cellar"} {
			s.says(channel, "anna", http.StatusTooManyRequests)
			var done any
			s.own("POST", "channels/"+channel+"/users/anna/reset", &done)
		}
	}
	var status struct{ Connections []web.Connection }
	s.own("GET", "status", &status)
	if len(status.Connections) != 0 {
		t.Errorf("%+v", status.Connections)
	}
	if answer, text := asked(t, "GET", s.address+"readyz", "", "Accept", "*/*"); answer.StatusCode != http.StatusOK {
		t.Errorf("%s %s", answer.Status, text)
	}
	var page struct {
		Entries []struct {
			Outcome struct{ Action, Result string }
		}
	}
	s.own("GET", "journal", &page)
	for _, e := range page.Entries {
		if e.Outcome.Action != "drop" || e.Outcome.Result != "done" {
			t.Errorf("%+v", e)
		}
	}
	if len(page.Entries) != 12 {
		t.Errorf("%d entries", len(page.Entries))
	}

	var done any
	s.own("POST", "channels/Lobby/pause", &done)
	s.says("Lobby", "berta", http.StatusOK)
	s.says("Lobby", "berta", http.StatusOK)
	s.own("POST", "channels/Lobby/resume", &done)
	s.says("Lobby", "berta", http.StatusTooManyRequests)

	write(strings.Replace(strings.Replace(forServers, "burst = 1", "burst = 2", 1), `["Lobby"]`, `["Lobby", "attic"]`, 1) + elsewhere + table("hall", 1))
	beside(t, s.configuration, "reload")
	until(t, func() bool { return strings.Contains(s.log(), "took up the configuration") })
	s.channels("Lobby attic cellar hall")
	for channel, passes := range map[string]int{"Lobby": 2, "cellar": 3, "attic": 3, "hall": 1} {
		for range passes {
			s.says(channel, "carla", http.StatusOK)
		}
		s.says(channel, "carla", http.StatusTooManyRequests)
	}
	s.stop(t)
	if log := s.log(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestTwitchsChannelsAreThereOnce, beside those that servers ask about.
func TestTwitchsChannelsAreThereOnce(t *testing.T) {
	server := startDemoTwitch(t)
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Check.Channels = []string{"lobby"}
	c.Channels = map[string]chatguard.Policy{"hall": ownPolicy(c)}
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	defer stop()
	if err := server.WaitJoined(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	say(t, server, "anna", "", "hello")
	until(t, func() bool { return a.bot.Counts().Messages == 1 })
	room := server.UserID(demoChannel)
	for _, id := range []string{"hall", "lobby", room} {
		a.enterAsked(id)
		if _, err := a.guard.Check(context.Background(), chatguard.Message{ChannelID: id, User: chatguard.User{ID: "7"}}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, c := range a.channels() {
		names = append(names, c.ID+"="+c.Login)
	}
	if got, want := strings.Join(names, " "), room+"="+demoChannel+" lobby=lobby hall=hall"; got != want {
		t.Errorf("the channels are %s, want %s", got, want)
	}
	if hall, lobby := len(a.guard.Policy("hall").Limits), len(a.guard.Policy("lobby").Limits); hall != 3 || lobby != 2 {
		t.Errorf("the hall has %d limits and the lobby %d", hall, lobby)
	}
}

// TestTheDoctorLeavesTwitchOut where only servers ask.
func TestTheDoctorLeavesTwitchOut(t *testing.T) {
	c := config.Default()
	c.Path, c.Database, c.Web.Listen = "chatguard.toml", filepath.Join(t.TempDir(), "chatguard.db"), "127.0.0.1:0"
	c.Check.Channels, c.Policy.Mode = []string{"lobby"}, chatguard.Enforce
	var out strings.Builder
	err := newDoctor(c, nil).run(t.Context(), &out)
	if report := out.String(); err != nil || !strings.Contains(report, "chatguard.toml: enforces in #lobby\n") || strings.Contains(report, "token") {
		t.Errorf("%v\n%s", err, report)
	}
}
