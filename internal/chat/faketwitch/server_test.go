package faketwitch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(opts)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// chatter is a simple chat client.
type chatter struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Scanner
}

func dial(t *testing.T, s *Server, hello ...string) *chatter {
	t.Helper()
	conn, err := s.Dial(t.Context(), "tcp", s.IRCAddress())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	c := &chatter{t: t, conn: conn, lines: bufio.NewScanner(conn)}
	for _, line := range hello {
		fmt.Fprintf(conn, "%s\r\n", line)
	}
	return c
}

// readUntil reads up to the first line that contains want, and returns it. It returns "" if the
// connection ends before that.
func (c *chatter) readUntil(want string) string {
	c.t.Helper()
	for c.lines.Scan() {
		if strings.Contains(c.lines.Text(), want) {
			return c.lines.Text()
		}
	}
	return ""
}

var anonymous = []string{"CAP REQ :twitch.tv/tags twitch.tv/commands", "NICK justinfan123"}

func TestLogin(t *testing.T) {
	s := start(t, Options{})
	for name, c := range map[string]struct {
		hello []string
		want  string
	}{
		"anonymous":    {anonymous, " 001 justinfan123 "},
		"bot":          {[]string{"PASS oauth:" + s.Token(), "NICK " + s.BotLogin()}, " 376 " + s.BotLogin()},
		"wrong token":  {[]string{"PASS oauth:wrong", "NICK " + s.BotLogin()}, "Login authentication failed"},
		"bare token":   {[]string{"PASS " + s.Token(), "NICK " + s.BotLogin()}, "Improperly formatted auth"},
		"no token":     {[]string{"NICK " + s.BotLogin()}, "Improperly formatted auth"},
		"capabilities": {anonymous, "CAP * ACK :twitch.tv/tags twitch.tv/commands"},
	} {
		if dial(t, s, c.hello...).readUntil(c.want) == "" {
			t.Errorf("%s: never said %q", name, c.want)
		}
	}
	s.RefuseLogins(true)
	if dial(t, s, anonymous...).readUntil("Login authentication failed") == "" {
		t.Error("a login that was to be refused wasn't")
	}
}

func TestSay(t *testing.T) {
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	s := start(t, Options{Channels: []string{"room", "den"}, Now: func() time.Time { return now }})
	tagged := dial(t, s, append(anonymous, "JOIN #room")...)
	plain := dial(t, s, "NICK justinfan1", "JOIN #room,#den")
	must(t, s.WaitJoined(t.Context(), 3))
	id, err := s.Say(Line{Channel: "room", Login: "ann", DisplayName: "An; n", Badges: "moderator/1", Text: "hi : there", First: true, Source: "7"})
	must(t, err)
	want := "@badge-info=;badges=moderator/1;color=#DAA520;display-name=An\\:\\sn;emotes=;first-msg=1;flags=;id=" + id + ";mod=1;returning-chatter=0;room-id=" +
		s.UserID("room") + ";source-badges=moderator/1;source-id=source-of-" + id + ";source-room-id=7;subscriber=0;tmi-sent-ts=1772395200000;turbo=0;user-id=" +
		s.UserID("ann") + ";user-type= :ann!ann@ann.tmi.twitch.tv PRIVMSG #room :hi : there"
	if got := tagged.readUntil("PRIVMSG"); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got, want := plain.readUntil("PRIVMSG"), ":ann!ann@ann.tmi.twitch.tv PRIVMSG #room :hi : there"; got != want {
		t.Errorf("without tags: %q", got)
	}
	if m := s.Messages(s.UserID("room")); len(m) != 1 || m[0].ID != id || !m[0].WrittenAt.Equal(now) || s.Said() != 1 {
		t.Errorf("recorded %+v", m)
	}
	if _, err := s.Say(Line{Channel: "nowhere", Login: "ann", Text: "hi"}); !errors.Is(err, ErrNoChannel) {
		t.Error(err)
	}
	s.Reconnect()
	if tagged.readUntil("RECONNECT") == "" {
		t.Error("no RECONNECT")
	}
	s.Disconnect()
	if tagged.readUntil("anything else") != "" {
		t.Error("still connected")
	}
	must(t, s.WaitJoined(t.Context(), 0))
}

// ask sends a request as the bot, and returns the status and the body.
func ask(t *testing.T, s *Server, method, path, body string, change ...func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.HelixURL()+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Token())
	req.Header.Set("Client-Id", s.ClientID())
	for _, f := range change {
		f(req)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: s.Dial, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(answer)
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func TestAuthorization(t *testing.T) {
	s := start(t, Options{Scopes: []string{scopeBan}, Channels: []string{"room"}})
	where := "?broadcaster_id=" + s.UserID("room") + "&moderator_id=" + s.BotID()
	for name, c := range map[string]struct {
		path   string
		change func(*http.Request)
		want   int
	}{
		"good":                {"/users", header("X", "y"), 200},
		"no token":            {"/users", header("Authorization", ""), 401},
		"wrong token":         {"/users", header("Authorization", "Bearer wrong"), 401},
		"wrong scheme":        {"/users", header("Authorization", "OAuth "+s.Token()), 401},
		"no client ID":        {"/users", header("Client-Id", ""), 401},
		"another client's":    {"/users", header("Client-Id", "wrong"), 401},
		"scope missing":       {"/moderation/chat" + where + "&message_id=1", func(r *http.Request) { r.Method = "DELETE" }, 401},
		"scope there":         {"/moderation/bans" + where + "&user_id=1", func(r *http.Request) { r.Method = "DELETE" }, 400},
		"another moderator":   {"/moderation/bans?moderator_id=1&broadcaster_id=" + s.UserID("room"), func(r *http.Request) { r.Method = "POST" }, 401},
		"no moderator":        {"/moderation/bans?broadcaster_id=" + s.UserID("room"), func(r *http.Request) { r.Method = "POST" }, 400},
		"no broadcaster":      {"/moderation/bans?moderator_id=" + s.BotID(), func(r *http.Request) { r.Method = "POST" }, 400},
		"unknown broadcaster": {"/moderation/bans?broadcaster_id=1&moderator_id=" + s.BotID(), func(r *http.Request) { r.Method = "POST" }, 403},
	} {
		if got, body := ask(t, s, "GET", c.path, "", c.change); got != c.want {
			t.Errorf("%s: %d %s, want %d", name, got, body, c.want)
		}
	}
	s.SetBotModerator("room", false)
	if got, _ := ask(t, s, "POST", "/moderation/bans"+where, `{"data":{"user_id":"5"}}`); got != 403 {
		t.Errorf("as an ordinary chatter: %d, want 403", got)
	}
	if all := s.Requests(); len(all) != 13 || all[12].Status != 403 || all[12].Body != `{"data":{"user_id":"5"}}` {
		t.Errorf("recorded %d requests", len(all))
	}
}

func TestFaults(t *testing.T) {
	s := start(t, Options{})
	s.FailNext(Fault{Status: 429, Header: http.Header{"Ratelimit-Reset": {"5"}}, Message: "slow"}, Fault{})
	for _, want := range []int{429, 0, 200} {
		if got, _ := ask(t, s, "GET", "/users", ""); got != want {
			t.Errorf("answered %d, want %d", got, want)
		}
	}
}
