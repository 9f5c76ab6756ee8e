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
	if want := "Check: enforces in Lobby; servers ask at " + s.address + "api/v1/check\n"; s.said != want {
		t.Errorf("it says %q, want %q", s.said, want)
	}
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
	if err := a.mayAsk(room); err == nil || err.Error() != "is a Twitch channel's: call your room otherwise" {
		t.Errorf("a server may ask about Twitch's channel: %v", err)
	}
	for _, id := range []string{"hall", "lobby", room} {
		if id != room {
			a.enterAsked(id)
		}
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

// post sends the app's dashboard something as its owner, which may check too.
func post(t *testing.T, a *app, path, body string) (status int, answer string) {
	t.Helper()
	r := httptest.NewRequest("POST", "http://127.0.0.1/api/v1/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+string(a.config.Web.Token))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.web.Handler().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestServersStayOutOfTwitch: what is said elsewhere has nobody's messages deleted there, also where Twitch tells of a room only after a server did.
func TestServersStayOutOfTwitch(t *testing.T) {
	server := startDemoTwitch(t)
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Check.Channels = []string{"lobby"}
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	defer stop()
	say(t, server, "berta", "", "hello")
	until(t, func() bool { return a.bot.Counts().Messages == 1 })
	refused := func(channel string) {
		t.Helper()
		status, answer := post(t, a, "check", fmt.Sprintf(`{"channel":%q,"user_id":"41"}`, channel))
		if want := fmt.Sprintf(`\"%s\" is a Twitch channel's: call your room otherwise.`, channel); status != http.StatusUnprocessableEntity || !strings.Contains(answer, want) {
			t.Errorf("%d %s, want %s", status, answer, want)
		}
	}
	refused(server.UserID(demoChannel))
	if n := a.guard.Memory().Users; n != 1 {
		t.Errorf("%d users were counted, and only one has spoken", n)
	}
	later := server.UserID("teatime")
	if status, answer := post(t, a, "check", fmt.Sprintf(`{"channel":%q,"user_id":"41"}`, later)); status != http.StatusOK {
		t.Errorf("before Twitch tells of it: %d %s", status, answer)
	}
	c.Twitch.Channels = append(c.Twitch.Channels, "teatime")
	if _, err := a.reload(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return a.logins.isTwitchs(later) })
	refused(later)
}

// TestAServersRoomMayDrop what Twitch's channels can't, also beside them.
func TestAServersRoomMayDrop(t *testing.T) {
	server := startDemoTwitch(t)
	c := demoConfig(server, t.TempDir(), "127.0.0.1:0")
	c.Check.Channels = []string{"lobby"}
	drops := c.Policy.Clone()
	drops.Penalties.Ladder = []chatguard.Penalty{{Action: chatguard.Drop}}
	c.Channels = map[string]chatguard.Policy{demoChannel: drops}
	if err := readyToRun(c); err == nil || !strings.Contains(err.Error(), `has "drop", which only a chat server can`) {
		t.Errorf("in Twitch's channel: %v", err)
	}
	c.Channels = map[string]chatguard.Policy{"lobby": drops}
	if err := readyToRun(c); err != nil {
		t.Error(err)
	}
	a, stop := runApp(t, server, c, slog.New(slog.DiscardHandler))
	defer stop()
	say(t, server, "anna", "", "hello")
	until(t, func() bool { return a.bot.Counts().Messages == 1 })
	if p := a.guard.Policy("lobby"); p.Mode != chatguard.Enforce || p.Penalties.Ladder[0].Action != chatguard.Drop {
		t.Errorf("%+v", p)
	}
	if err := a.acceptable("lobby", drops); err != nil {
		t.Error(err)
	}
	if err := a.acceptable(server.UserID(demoChannel), drops); err == nil {
		t.Error("Twitch's channel drops")
	}
}

// TestRoomsBeyondTheListAreServed: the list has a thousand, and the others have their tables, their pages and what a reload brings all the same.
func TestRoomsBeyondTheListAreServed(t *testing.T) {
	c := config.Default()
	c.Path, c.Database = "chatguard.toml", filepath.Join(t.TempDir(), "chatguard.db")
	c.Web.Listen, c.Web.Token = "127.0.0.1:0", "a-long-token-of-the-owner"
	c.Check.Channels = []string{"lobby"}
	c.Channels = map[string]chatguard.Policy{"room1003": ownPolicy(c)}
	a, err := newApp(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for from := 0; from < 1004; from += 502 {
		var batch []string
		for i := range 502 {
			batch = append(batch, fmt.Sprintf(`{"channel":"room%d","user_id":"41"}`, from+i))
		}
		if status, answer := post(t, a, "check/batch", `{"messages":[`+strings.Join(batch, ",")+`]}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	limits := func(room string, want int) {
		t.Helper()
		var shown chatguard.Policy
		getJSON(t, a, "/api/v1/channels/"+room+"/policy", &shown)
		if len(shown.Limits) != want {
			t.Errorf("%s has %d limits, want %d", room, len(shown.Limits), want)
		}
	}
	limits("room1002", 2)
	limits("room1003", 3)
	var page any
	getJSON(t, a, "/api/v1/journal?channel=room1002", &page)
	c.Channels = map[string]chatguard.Policy{"room1002": ownPolicy(c)}
	if _, err := a.reload(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	limits("room1002", 3)
	limits("room1003", 2)
	if n := len(a.channels()); n != 1001 {
		t.Errorf("the list has %d channels", n)
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
