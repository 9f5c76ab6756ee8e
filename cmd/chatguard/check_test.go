package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/doctor"
	"github.com/chatguard/chatguard/internal/waittest"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/limitinfo"
)

// roomsConfig is a configuration without Twitch. In the lobby, a user may send one message per
// hour, elsewhere three.
const roomsConfig = `
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

// roomServer is a running chatguard that servers ask, with the tokens to ask it.
type roomServer struct {
	*testing.T
	*process
	configuration string
	server, owner string   // tokens
	env           []string // more of the environment
}

func (s *roomServer) start() {
	s.Helper()
	s.process = start(s.T, s.configuration, append(s.env, "CHATGUARD_WEB_TOKEN="+s.owner)...)
	if s.server == "" {
		s.server = "Bearer " + runBeside(s.T, s.configuration, "token", "make", "gameserver", "--role", "check")
	}
}

// check asks whether a user may write in a channel, and compares the status of the answer with
// want.
func (s *roomServer) check(channel, user string, want int) {
	s.Helper()
	answer, text := sendRequest(s.T, "POST", s.address+"api/v1/check", fmt.Sprintf(`{"channel":%q,"user_id":%q}`, channel, user), "Authorization", s.server)
	if answer.StatusCode != want {
		s.Errorf("%s in %s: %s %s, want %d", user, channel, answer.Status, text, want)
	}
}

// sendAsOwner sends a request as the owner.
func (s *roomServer) sendAsOwner(method, path string, into any) {
	s.Helper()
	answer, text := sendRequest(s.T, method, s.address+"api/v1/"+path, "", "Authorization", "Bearer "+s.owner)
	if err := json.Unmarshal([]byte(text), into); err != nil || answer.StatusCode != http.StatusOK {
		s.Fatalf("%s: %s %s", path, answer.Status, text)
	}
}

// checkChannels checks that the dashboard has exactly those rooms.
func (s *roomServer) checkChannels(want string) {
	s.Helper()
	var got struct{ Channels []live.Channel }
	s.sendAsOwner("GET", "channels", &got)
	var ids []string
	for _, c := range got.Channels {
		if c.ID != app.RoomID(c.Login) {
			s.Errorf("%+v", c)
		}
		ids = append(ids, c.Login)
	}
	if strings.Join(ids, " ") != want {
		s.Errorf("the channels are %q, want %s", ids, want)
	}
}

// TestRooms_ServedWithoutTwitch checks that servers need no Twitch channel, token or login. Channel
// tables and moderators' changes apply to listed and to other rooms, also after a restart and a
// reload.
func TestRooms_ServedWithoutTwitch(t *testing.T) {
	t.Parallel()
	s := &roomServer{T: t, configuration: filepath.Join(t.TempDir(), "chatguard.toml"), owner: "a-long-token-of-the-owner"}
	write := func(text string) {
		t.Helper()
		must(t, os.WriteFile(s.configuration, []byte(text), 0o600))
	}
	twitch := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("Twitch is asked for %s", r.URL) }))
	defer twitch.Close()
	elsewhere := fmt.Sprintf("[twitch]\ntransport = \"eventsub\"\neventsub_url = %q\nhelix_url = %q\nauth_url = %q\n",
		strings.Replace(twitch.URL, "http", "ws", 1), twitch.URL, twitch.URL)
	table := func(channel string, burst int) string {
		return fmt.Sprintf("[[channel.%s.limit]]\nname = \"burst\"\nalgorithm = \"token-bucket\"\nburst = %d\nrefill = \"1h\"\n", channel, burst)
	}
	write(roomsConfig + elsewhere + table("cellar", 2))
	s.start()
	if want := "Check: enforces in Lobby; servers ask at " + s.address + "api/v1/check\n"; s.said != want {
		t.Errorf("it says %q, want %q", s.said, want)
	}
	s.checkChannels("Lobby")
	for range 2 {
		for channel, passes := range map[string]int{"Lobby": 1, "hall": 3, "cellar": 2} {
			for range passes {
				s.check(channel, "anna", http.StatusOK)
			}
			s.check(channel, "anna", http.StatusTooManyRequests)
		}
		s.checkChannels("Lobby cellar hall")
		s.stop(t)
		s.start()
		for _, channel := range []string{"Lobby", "hall", "cellar"} {
			s.check(channel, "anna", http.StatusTooManyRequests)
			var done any
			s.sendAsOwner("POST", "channels/check:"+channel+"/users/check:anna/reset", &done)
		}
	}
	var status struct{ Connections []live.Connection }
	s.sendAsOwner("GET", "status", &status)
	if len(status.Connections) != 0 {
		t.Errorf("%+v", status.Connections)
	}
	if answer, text := sendRequest(t, "GET", s.address+"readyz", ""); answer.StatusCode != http.StatusOK {
		t.Errorf("%s %s", answer.Status, text)
	}
	var page struct {
		Entries []struct {
			Outcome struct{ Action, Result string }
		}
	}
	s.sendAsOwner("GET", "journal", &page)
	for _, e := range page.Entries {
		if e.Outcome.Action != "drop" || e.Outcome.Result != "done" {
			t.Errorf("%+v", e)
		}
	}
	if len(page.Entries) != 12 {
		t.Errorf("%d entries", len(page.Entries))
	}

	var done any
	s.sendAsOwner("POST", "channels/check:Lobby/pause", &done)
	s.check("Lobby", "berta", http.StatusOK)
	s.check("Lobby", "berta", http.StatusOK)
	s.sendAsOwner("POST", "channels/check:Lobby/resume", &done)
	s.check("Lobby", "berta", http.StatusTooManyRequests)

	write(strings.Replace(strings.Replace(roomsConfig, "burst = 1", "burst = 2", 1), `["Lobby"]`, `["Lobby", "attic"]`, 1) + elsewhere + table("hall", 1))
	runBeside(t, s.configuration, "reload")
	waittest.Until(t, func() bool { return strings.Contains(s.log(), "loaded the configuration") })
	s.checkChannels("Lobby attic cellar hall")
	for channel, passes := range map[string]int{"Lobby": 2, "cellar": 3, "attic": 3, "hall": 1} {
		for range passes {
			s.check(channel, "carla", http.StatusOK)
		}
		s.check(channel, "carla", http.StatusTooManyRequests)
	}
	s.stop(t)
	if log := s.log(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestRooms_TwitchChannelsListedOnce checks that Twitch's channels are listed once, next to those
// that servers ask about.
func TestRooms_TwitchChannelsListedOnce(t *testing.T) {
	server := twitchtest.Start(t, demoChannel, "teatime")
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Check.Channels = []string{"lobby"}
	c.Channels = map[string]chatguard.Policy{"hall": ownPolicy(c)}
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	defer stop()
	awaitJoined(t, server, 1)
	say(t, server, "anna", "hello")
	waittest.Until(t, func() bool { return a.Bot.Counts().Messages == 1 })
	twitchs := server.UserID(demoChannel)
	for _, room := range []string{"hall", "lobby", twitchs} {
		if status, answer := askApp(t, a, "POST", "check", fmt.Sprintf(`{"channel":%q,"user_id":"7"}`, room)); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	var names []string
	for _, c := range a.Web.Channels() {
		names = append(names, c.ID+"="+c.Login)
	}
	if got, want := strings.Join(names, " "), twitchs+"="+demoChannel+" check:lobby=lobby check:"+twitchs+"="+twitchs+" check:hall=hall"; got != want {
		t.Errorf("the channels are %s, want %s", got, want)
	}
	if hall, lobby := len(a.Guard.ChannelPolicy("check:hall").Limits), len(a.Guard.ChannelPolicy("check:lobby").Limits); hall != 3 || lobby != 2 {
		t.Errorf("the hall has %d limits and the lobby %d", hall, lobby)
	}
}

// TestRooms_ShareNothingWithTwitch checks that a server that asks about the IDs of a Twitch channel
// and user spends none of their allowances. This is also true for limits across all channels, and
// for Twitch channels that are added later.
func TestRooms_ShareNothingWithTwitch(t *testing.T) {
	server := twitchtest.Start(t, demoChannel, "teatime")
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Policy.Limits = append(c.Policy.Limits, chatguard.Limit{
		Name: "everywhere", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 3, Every: time.Hour,
	})
	c.Policy.Penalties.ForgetAfter = 0
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	defer stop()
	later, anna := server.UserID("teatime"), server.UserID("anna")
	for _, room := range []string{"lobby", server.UserID(demoChannel), later} {
		for range 30 {
			status, answer := askApp(t, a, "POST", "check", fmt.Sprintf(`{"channel":%q,"user_id":%q}`, room, anna))
			if status != http.StatusOK && status != http.StatusTooManyRequests || !strings.Contains(answer, fmt.Sprintf(`"channel":%q,"user_id":%q`, room, anna)) {
				t.Fatalf("%d %s", status, answer)
			}
		}
	}
	c.Twitch.Channels = append(c.Twitch.Channels, "teatime")
	_, err := a.Reload(c)
	must(t, err)
	waittest.Until(t, func() bool {
		return slices.ContainsFunc(a.Web.Channels(), func(c live.Channel) bool { return c.ID == later })
	})
	for range 2 {
		say(t, server, "anna", "hello")
	}
	_, err = server.Say(faketwitch.Line{Channel: "teatime", Login: "anna", Text: "hello"})
	must(t, err)
	waittest.Until(t, func() bool { return a.Bot.Counts().Messages == 3 })
	if n := a.Bot.Counts().Throttled; n != 0 {
		t.Errorf("%d of three messages are throttled", n)
	}
	for _, id := range []string{later, server.UserID(demoChannel)} {
		e, err := limitinfo.Explain(t.Context(), a.Guard, chatguard.Message{ChannelID: id, User: chatguard.User{ID: anna}})
		if err != nil || e.Strikes != 0 {
			t.Errorf("in %s: %d strikes, %v", id, e.Strikes, err)
		}
	}
}

// TestRooms_ServedBeyondTheList checks that rooms beyond the thousand on the list still have
// their tables, their pages and the changes of a reload.
func TestRooms_ServedBeyondTheList(t *testing.T) {
	c := config.Default()
	c.Path, c.Database = "chatguard.toml", filepath.Join(t.TempDir(), "chatguard.db")
	c.Web.Listen, c.Web.Token = "127.0.0.1:0", "a-long-token-of-the-owner"
	c.Check.Channels = []string{"lobby"}
	c.Channels = map[string]chatguard.Policy{"room1003": ownPolicy(c)}
	a, err := app.Open(t.Context(), app.Options{Config: c, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	defer a.Close()
	for from := 0; from < 1004; from += 502 {
		var batch []string
		for i := range 502 {
			batch = append(batch, fmt.Sprintf(`{"channel":"room%d","user_id":"41"}`, from+i))
		}
		if status, answer := askApp(t, a, "POST", "check/batch", `{"messages":[`+strings.Join(batch, ",")+`]}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	limits := func(room string, want int) {
		t.Helper()
		var shown chatguard.Policy
		getJSON(t, a, "channels/check:"+room+"/policy", &shown)
		if len(shown.Limits) != want {
			t.Errorf("%s has %d limits, want %d", room, len(shown.Limits), want)
		}
	}
	limits("room1002", 2)
	limits("room1003", 3)
	var page any
	getJSON(t, a, "journal?channel=check:room1002", &page)
	c.Channels = map[string]chatguard.Policy{"room1002": ownPolicy(c)}
	_, err = a.Reload(c)
	must(t, err)
	limits("room1002", 3)
	limits("room1003", 2)
	if n := len(a.Web.Channels()); n != 1001 {
		t.Errorf("the list has %d channels", n)
	}
}

// TestDoctor_WithoutTwitch checks that the doctor skips Twitch if only servers ask.
func TestDoctor_WithoutTwitch(t *testing.T) {
	c := config.Default()
	c.Path, c.Database, c.Web.Listen = "chatguard.toml", filepath.Join(t.TempDir(), "chatguard.db"), "127.0.0.1:0"
	c.Check.Channels, c.Policy.Mode = []string{"lobby"}, chatguard.ModeEnforce
	var out strings.Builder
	err := examine(t.Context(), doctor.New(c, nil), &out)
	if report := out.String(); err != nil || !strings.Contains(report, "chatguard.toml: enforces in lobby\n") || strings.Contains(report, "token") {
		t.Errorf("%v\n%s", err, report)
	}
}
