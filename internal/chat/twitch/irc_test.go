package twitch

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestIRC goes the plain way: anonymous login, a message, what is known afterwards.
func TestIRC(t *testing.T) {
	srv := startTwitch(t, "room", "den")
	irc := &IRC{Channels: []string{"#Room", "den", "room"}}
	in := connect(t, srv, irc)
	id := say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", DisplayName: "Ann", Badges: "vip/1", Text: "hello: you", First: true})

	m := in.wait(t, 1)[0]
	sent, _ := srv.Message(id)
	want := chatguard.Message{
		ID: id, ChannelID: srv.UserID("room"), Text: "hello: you", SentAt: time.UnixMilli(sent.SentAt.UnixMilli()),
		User: chatguard.User{ID: srv.UserID("ann"), Login: "ann", DisplayName: "Ann", Roles: chatguard.RolesOf(chatguard.VIP, chatguard.FirstTimer)},
	}
	if m != want {
		t.Errorf("got %+v\nwant %+v", m, want)
	}
	s := irc.Status()
	if s.State != Connected || s.Since.IsZero() || s.Messages != 1 || s.Lines < 10 || s.Reconnects != 0 || s.Detail != "" {
		t.Errorf("status %+v", s)
	}
	if len(s.Channels) != 2 || s.Channels[0] != (Channel{Login: "room", RoomID: srv.UserID("room"), Joined: true}) ||
		s.Channels[1] != (Channel{Login: "den", RoomID: srv.UserID("den"), Joined: true}) {
		t.Errorf("channels %+v", s.Channels)
	}
	hello := srv.Received()[0].Line
	if hello != "CAP REQ :twitch.tv/tags twitch.tv/commands" || !strings.HasPrefix(srv.Received()[1].Line, "NICK justinfan") {
		t.Errorf("introduced itself by %q, %q", hello, srv.Received()[1].Line)
	}
}

// TestEnteredBeforeMessages: whoever has to know a channel's ID knows it when the first message from there is delivered, on each connection.
func TestEnteredBeforeMessages(t *testing.T) {
	srv := startTwitch(t, "room", "den")
	var mu sync.Mutex
	entered := map[string]int{}
	irc := &IRC{Channels: []string{"room", "den"}, Address: srv.IRCAddress(), Timing: Timing{BackoffMin: time.Millisecond}}
	irc.Entered = func(login, roomID string) {
		mu.Lock()
		defer mu.Unlock()
		if roomID != srv.UserID(login) {
			t.Errorf("%s has the ID %s", login, roomID)
		}
		entered[roomID]++
	}
	in := &inbox{}
	run(t, irc, func(messages []chatguard.Message) {
		mu.Lock()
		for _, m := range messages {
			if entered[m.ChannelID] == 0 {
				t.Errorf("a message came from %s, which nobody was told of", m.ChannelID)
			}
		}
		mu.Unlock()
		in.deliver(messages)
	})
	for n := range 2 {
		joined(t, irc)
		say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Text: "hello"})
		say(t, srv, faketwitch.Line{Channel: "den", Login: "anna", Text: "hello"})
		in.wait(t, 2*(n+1))
		mu.Lock()
		for _, login := range []string{"room", "den"} {
			if got := entered[srv.UserID(login)]; got != n+1 {
				t.Errorf("connection %d: told %d times of %s", n, got, login)
			}
		}
		mu.Unlock()
		if n == 0 {
			srv.Disconnect()
			eventually(t, "a reconnect", func() bool { return irc.Status().Reconnects == 1 })
		}
	}
}

func TestIRCWithToken(t *testing.T) {
	for _, prefix := range []string{"", "oauth:"} {
		srv := startTwitch(t, "room")
		irc := &IRC{Channels: []string{"room"}, Login: loginOf("Chatguard_Bot"), Token: tokenOf(prefix + srv.Token())}
		connect(t, srv, irc)
		if received(srv, "PASS oauth:"+srv.Token()) != 1 || received(srv, "NICK chatguard_bot") != 1 {
			t.Errorf("%+v", srv.Received())
		}
	}
}

func loginOf(login string) func() string { return func() string { return login } }

func tokenOf(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// TestIRCRefused: what trying again can't help ends Run with an error that can be told apart and never holds the token.
func TestIRCRefused(t *testing.T) {
	for name, c := range map[string]struct {
		irc  *IRC
		want error
	}{
		"wrong token":          {&IRC{Channels: []string{"room"}, Login: loginOf("bot"), Token: tokenOf("s3cret")}, ErrLogin},
		"line break in token":  {&IRC{Channels: []string{"room"}, Login: loginOf("bot"), Token: tokenOf("s3cret\r\nJOIN #den")}, ErrLogin},
		"token without login":  {&IRC{Channels: []string{"room"}, Token: tokenOf("s3cret")}, ErrLogin},
		"no channel":           {&IRC{}, ErrChannel},
		"line break in name":   {&IRC{Channels: []string{"room\r\nQUIT"}}, ErrChannel},
		"space in name":        {&IRC{Channels: []string{"a room"}}, ErrChannel},
		"two names in one":     {&IRC{Channels: []string{"room,den"}}, ErrChannel},
		"name longer than any": {&IRC{Channels: []string{strings.Repeat("a", 26)}}, ErrChannel},
	} {
		srv := startTwitch(t, "room")
		c.irc.Address = srv.IRCAddress()
		err := c.irc.Run(context.Background(), messagesTo(func([]chatguard.Message) {}))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", name, err)
		}
		if c.irc.Status().State != Stopped {
			t.Errorf("%s: state %s", name, c.irc.Status().State)
		}
	}
}

// TestIRCReconnects: after a close, after RECONNECT, and after a server that was away, chat goes on.
func TestIRCReconnects(t *testing.T) {
	srv := startTwitch(t, "room")
	naps := newNaps()
	irc := &IRC{Channels: []string{"room"}, sleep: naps.sleep}
	in := connect(t, srv, irc)
	for n, lose := range []func(){srv.Disconnect, srv.Reconnect} {
		lose()
		eventually(t, "a new connection", func() bool { return srv.Connections() == n+2 })
		joined(t, irc)
		say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "still here?"})
		in.wait(t, n+1)
	}
	if s := irc.Status(); s.Reconnects != 2 || !strings.Contains(s.Detail, "asked to reconnect") {
		t.Errorf("status %+v", s)
	}
}

// delays runs i until it has waited n times between connections, and returns how long each time.
func delays(t *testing.T, i *IRC, n int) []time.Duration {
	t.Helper()
	gate := newGate()
	i.sleep = gate.sleep
	run(t, i, func([]chatguard.Message) {})
	var all []time.Duration
	for range n {
		all = append(all, <-gate.asked)
		if len(all) < n {
			gate.open <- struct{}{}
		}
	}
	return all
}

// TestIRCBackoff: whether the server refuses the connection or accepts it and hangs up at once, the delays grow up to their bound.
func TestIRCBackoff(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	srv := startTwitch(t, "room")
	srv.HangUp(1000)
	stalling := startTwitch(t, "room")
	stalling.StallLogins(1000)
	for name, c := range map[string]struct {
		address string
		timing  Timing
	}{
		"refused":             {gone.Addr().String(), Timing{}},
		"accepted, then lost": {srv.IRCAddress(), Timing{}},
		"never welcomed":      {stalling.IRCAddress(), Timing{Handshake: 5 * time.Millisecond}},
	} {
		irc := &IRC{Channels: []string{"room"}, Address: c.address, Timing: c.timing}
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
		if s := irc.Status(); s.State != Waiting || s.Detail == "" || s.Reconnects != 10 {
			t.Errorf("%s: status %+v", name, s)
		}
	}
}

// TestIRCHealthyAgain: the delays start over only after a connection that lasted.
func TestIRCHealthyAgain(t *testing.T) {
	for _, c := range []struct {
		lasted, least time.Duration
	}{
		{19 * time.Second, 2 * time.Second},
		{20 * time.Second, 250 * time.Millisecond},
	} {
		srv := startTwitch(t, "room")
		srv.HangUp(3)
		naps, gate := newNaps(), newGate()
		irc := &IRC{Channels: []string{"room"}, Address: srv.IRCAddress(), Now: naps.now, sleep: gate.sleep}
		run(t, irc, func([]chatguard.Message) {})
		for range 3 {
			<-gate.asked
			gate.open <- struct{}{}
		}
		joined(t, irc)
		if err := naps.sleep(context.Background(), c.lasted); err != nil {
			t.Fatal(err)
		}
		srv.Disconnect()
		if d := <-gate.asked; d < c.least || d > 2*c.least {
			t.Errorf("after %v of health it waits %v, want %v to %v", c.lasted, d, c.least, 2*c.least)
		}
	}
}

// TestIRCCancelled: Run returns at once, whatever it was doing.
func TestIRCCancelled(t *testing.T) {
	srv := startTwitch(t, "room")
	stalling := startTwitch(t)
	stalling.StallLogins(1)
	for name, c := range map[string]struct {
		irc   *IRC
		until State
	}{
		"reading":     {&IRC{Channels: []string{"room"}, Address: srv.IRCAddress()}, Connected},
		"handshaking": {&IRC{Channels: []string{"room"}, Address: stalling.IRCAddress()}, Connecting},
		"waiting":     {&IRC{Channels: []string{"room"}, Address: "127.0.0.1:1", Timing: Timing{BackoffMin: time.Hour, BackoffMax: time.Hour}}, Waiting},
	} {
		stop := run(t, c.irc, func([]chatguard.Message) {})
		eventually(t, name, func() bool { return c.irc.Status().State == c.until })
		if err := stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.irc.Status().State != Stopped {
			t.Errorf("%s: state %s", name, c.irc.Status().State)
		}
	}
}
