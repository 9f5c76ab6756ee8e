package irc

import (
	"context"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/roles"
)

// TestIRC checks the normal course: an anonymous login, a message, and the status afterwards.
func TestIRC(t *testing.T) {
	srv := twitchtest.Start(t, "room", "den")
	irc := &Conn{Channels: []string{"#Room", "den", "room"}}
	in := connect(t, srv, irc)
	id := twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", DisplayName: "Ann", Badges: "vip/1", Text: "hello: you", First: true})

	m := in.Wait(t, 1)[0]
	sent, _ := srv.Message(id)
	want := chat.Message{Color: "#DAA520", Message: chatguard.Message{
		ID: id, ChannelID: srv.UserID("room"), Text: "hello: you", SentAt: time.UnixMilli(sent.SentAt.UnixMilli()),
		User: chatguard.User{ID: srv.UserID("ann"), Login: "ann", DisplayName: "Ann", Roles: chatguard.Roles{roles.VIP, roles.FirstTimer}},
	}}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v\nwant %+v", m, want)
	}
	s := irc.Status()
	if s.State != twitch.Connected || s.Since.IsZero() || s.Messages != 1 || s.Lines < 10 || s.Reconnects != 0 || s.Detail != "" {
		t.Errorf("status %+v", s)
	}
	if len(s.Channels) != 2 || s.Channels[0] != (twitch.Channel{Login: "room", RoomID: srv.UserID("room"), Joined: true}) ||
		s.Channels[1] != (twitch.Channel{Login: "den", RoomID: srv.UserID("den"), Joined: true}) {
		t.Errorf("channels %+v", s.Channels)
	}
	hello := srv.Received()[0].Line
	if hello != "CAP REQ :twitch.tv/tags twitch.tv/commands" || !strings.HasPrefix(srv.Received()[1].Line, "NICK justinfan") {
		t.Errorf("introduced itself by %q, %q", hello, srv.Received()[1].Line)
	}
}

// TestIRC_EnteredBeforeMessages checks that on each connection, Entered has received a channel's ID
// before the first message from it is delivered.
func TestIRC_EnteredBeforeMessages(t *testing.T) {
	srv := twitchtest.Start(t, "room", "den")
	var mu sync.Mutex
	entered := map[string]int{}
	irc := &Conn{Channels: []string{"room", "den"}, Address: srv.IRCAddress(), Timing: twitch.Timing{BackoffMin: time.Millisecond}}
	irc.Entered = func(login, roomID string) {
		mu.Lock()
		defer mu.Unlock()
		if roomID != srv.UserID(login) {
			t.Errorf("%s has the ID %s", login, roomID)
		}
		entered[roomID]++
	}
	in := &twitchtest.Inbox{}
	run(t, irc, func(messages []chat.Message) {
		mu.Lock()
		for _, m := range messages {
			if entered[m.ChannelID] == 0 {
				t.Errorf("a message came from %s, which nobody was told of", m.ChannelID)
			}
		}
		mu.Unlock()
		in.Deliver(messages)
	})
	for n := range 2 {
		waitJoined(t, irc)
		twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Text: "hello"})
		twitchtest.Say(t, srv, faketwitch.Line{Channel: "den", Login: "anna", Text: "hello"})
		in.Wait(t, 2*(n+1))
		mu.Lock()
		for _, login := range []string{"room", "den"} {
			if got := entered[srv.UserID(login)]; got != n+1 {
				t.Errorf("connection %d: told %d times of %s", n, got, login)
			}
		}
		mu.Unlock()
		if n == 0 {
			srv.Disconnect()
			twitchtest.Eventually(t, "a reconnect", func() bool { return irc.Status().Reconnects == 1 })
		}
	}
}

// TestIRC_Refused checks that a permanent failure ends Run with a distinguishable error that never
// contains the token. Refused is called only for a token that was sent.
func TestIRC_Refused(t *testing.T) {
	room := []string{"room"}
	for name, c := range map[string]struct {
		channels     []string
		login, token string
		anonymous    bool // anonymous logins are refused
		told         int
		want         error
	}{
		"wrong token":          {channels: room, login: "bot", token: "s3cret", told: 1, want: ErrLogin},
		"line break in token":  {channels: room, login: "bot", token: "s3cret\r\nJOIN #den", want: ErrLogin},
		"token without login":  {channels: room, token: "s3cret", want: ErrLogin},
		"anonymous refused":    {channels: room, anonymous: true, want: ErrLogin},
		"anonymous with login": {channels: room, login: "bot", anonymous: true, want: ErrLogin},
		"no channel":           {want: twitch.ErrChannel},
		"line break in name":   {channels: []string{"room\r\nQUIT"}, want: twitch.ErrChannel},
		"space in name":        {channels: []string{"a room"}, want: twitch.ErrChannel},
		"two names in one":     {channels: []string{"room,den"}, want: twitch.ErrChannel},
		"name longer than any": {channels: []string{strings.Repeat("a", 26)}, want: twitch.ErrChannel},
	} {
		srv := twitchtest.Start(t, "room")
		srv.RefuseLogins(c.anonymous)
		told := 0
		irc := &Conn{
			Channels: c.channels, Address: srv.IRCAddress(), Login: twitchtest.LoginOf(c.login), Token: twitchtest.TokenOf(c.token),
			Refused: func(context.Context, string) error {
				told++
				return errors.New("revoked")
			},
		}
		err := irc.Run(t.Context(), twitchtest.MessagesTo(func([]chat.Message) {}))
		if !errors.Is(err, c.want) || told != c.told {
			t.Errorf("%s: %v, want %v; told %d times, want %d", name, err, c.want, told, c.told)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", name, err)
		}
		if irc.Status().State != twitch.Stopped {
			t.Errorf("%s: state %s", name, irc.Status().State)
		}
	}
}

// delays runs i until it has waited n times between connections, and returns the durations.
func delays(t *testing.T, i *Conn, n int) []time.Duration {
	t.Helper()
	gate := twitchtest.NewGate()
	i.Clock.SleepFunc = gate.Sleep
	run(t, i, func([]chat.Message) {})
	var all []time.Duration
	for range n {
		all = append(all, <-gate.Asked)
		if len(all) < n {
			gate.Open <- struct{}{}
		}
	}
	return all
}

// TestIRC_Backoff checks that the delays grow to their maximum, whether the server refuses the
// connection or accepts and closes it at once.
func TestIRC_Backoff(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	gone.Close()
	srv := twitchtest.Start(t, "room")
	srv.HangUp(1000)
	stalling := twitchtest.Start(t, "room")
	stalling.StallLogins(1000)
	for name, c := range map[string]struct {
		address string
		timing  twitch.Timing
	}{
		"refused":             {gone.Addr().String(), twitch.Timing{}},
		"accepted, then lost": {srv.IRCAddress(), twitch.Timing{}},
		"never welcomed":      {stalling.IRCAddress(), twitch.Timing{Handshake: 5 * time.Millisecond}},
	} {
		irc := &Conn{Channels: []string{"room"}, Address: c.address, Timing: c.timing}
		jitter := false
		for n, d := range delays(t, irc, 10) {
			whole := min(500*time.Millisecond<<n, time.Minute)
			if d < whole/2 || d > whole {
				t.Errorf("%s: delay %d is %v, want %v to %v", name, n, d, whole/2, whole)
			}
			jitter = jitter || d != whole
		}
		if !jitter {
			t.Errorf("%s: the delays are the same for everyone", name)
		}
		if s := irc.Status(); s.State != twitch.Waiting || s.Detail == "" || s.Reconnects != 10 {
			t.Errorf("%s: status %+v", name, s)
		}
	}
}

// TestIRC_HealthyAgain checks that the delays start over only after a connection that lasted long
// enough.
func TestIRC_HealthyAgain(t *testing.T) {
	for _, c := range []struct {
		lasted, least time.Duration
	}{
		{19 * time.Second, 2 * time.Second},
		{20 * time.Second, 250 * time.Millisecond},
	} {
		srv := twitchtest.Start(t, "room")
		srv.HangUp(3)
		sleeps, gate := twitchtest.NewSleeps(), twitchtest.NewGate()
		irc := &Conn{Channels: []string{"room"}, Address: srv.IRCAddress(), Clock: clock.Clock{NowFunc: sleeps.Now, SleepFunc: gate.Sleep}}
		run(t, irc, func([]chat.Message) {})
		for range 3 {
			<-gate.Asked
			gate.Open <- struct{}{}
		}
		waitJoined(t, irc)
		must(t, sleeps.Sleep(context.Background(), c.lasted))
		srv.Disconnect()
		if d := <-gate.Asked; d < c.least || d > 2*c.least {
			t.Errorf("after %v of health it waits %v, want %v to %v", c.lasted, d, c.least, 2*c.least)
		}
	}
}

// TestIRC_Cancelled checks that Run returns at once in every state.
func TestIRC_Cancelled(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	stalling := twitchtest.Start(t)
	stalling.StallLogins(1)
	for name, c := range map[string]struct {
		irc   *Conn
		until twitch.State
	}{
		"reading":     {&Conn{Channels: []string{"room"}, Address: srv.IRCAddress()}, twitch.Connected},
		"handshaking": {&Conn{Channels: []string{"room"}, Address: stalling.IRCAddress()}, twitch.Connecting},
		"waiting":     {&Conn{Channels: []string{"room"}, Address: "127.0.0.1:1", Timing: twitch.Timing{BackoffMin: time.Hour, BackoffMax: time.Hour}}, twitch.Waiting},
	} {
		stop := run(t, c.irc, func([]chat.Message) {})
		twitchtest.Eventually(t, name, func() bool { return c.irc.Status().State == c.until })
		if err := stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.irc.Status().State != twitch.Stopped {
			t.Errorf("%s: state %s", name, c.irc.Status().State)
		}
	}
}
