package twitch

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestBadLines: what can't be read is counted by reason, and the connection lives.
func TestBadLines(t *testing.T) {
	srv := startTwitch(t, "room")
	irc := &IRC{Channels: []string{"room"}}
	in := connect(t, srv, irc)
	bad := map[SkipReason]string{
		Malformed:   "@id=1;user-id=2;room-id=3 :a!a@a PRIVMSG",
		TooLong:     strings.Repeat("a", 1<<20),
		InvalidUTF8: privmsg("user-id=2\xff0"),
		NoUserID:    "@id=1;room-id=3 :a!a@a PRIVMSG #room :hi",
		NoRoomID:    "@id=1;user-id=2 :a!a@a PRIVMSG #room :hi",
		NoMessageID: "@user-id=2;room-id=3 :a!a@a PRIVMSG #room :hi",
	}
	for _, line := range bad {
		srv.SendRaw(line)
	}
	srv.SendRaw("", "NOTICE", "USERNOTICE", "WHISPER", "JOIN", ":x 353", "FANCY :new command") // no chat, and no mistakes
	id := say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "still reading?"})
	if got := in.wait(t, 1); len(got) != 1 || got[0].ID != id {
		t.Errorf("delivered %+v", got)
	}
	s := irc.Status()
	for reason := range bad {
		if s.Skipped[reason] != 1 {
			t.Errorf("%q counted %d times, want once", reason, s.Skipped[reason])
		}
	}
	if srv.Connections() != 1 || s.Dropped != 0 {
		t.Errorf("%d connections, %d dropped", srv.Connections(), s.Dropped)
	}
}

// TestSilence: a silent server is asked whether it is there; silence after that is its end. TLS makes no difference.
func TestSilence(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	encrypted, trusting := listenTLS(t)
	for name, c := range map[string]struct {
		listener net.Listener
		config   *tls.Config
	}{"plain": {plain, nil}, "TLS": {encrypted, trusting}} {
		gate := newGate()
		irc := &IRC{
			Channels: []string{"room"}, Address: c.listener.Addr().String(), TLS: c.config, sleep: gate.sleep,
			Timing: Timing{PingAfter: 50 * time.Millisecond, PongWithin: 400 * time.Millisecond},
		}
		run(t, irc, func([]chatguard.Message) {})
		conn, err := c.listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, ":x 001 y :welcome\r\n")
		lines, pings := bufio.NewScanner(conn), 0
		for lines.Scan() {
			if lines.Text() == "PING :chatguard" {
				if pings++; pings < 3 {
					fmt.Fprint(conn, "PONG :chatguard\r\n")
				}
			}
		}
		<-gate.asked // the delay before the next connection
		if pings != 3 || !strings.Contains(irc.Status().Detail, "fell silent") {
			t.Errorf("%s: asked %d times, want 3: two answered, one not; %q", name, pings, irc.Status().Detail)
		}
		conn.Close()
		c.listener.Close()
	}
}

// listenTLS listens with a certificate that the returned configuration trusts.
func listenTLS(t *testing.T) (net.Listener, *tls.Config) {
	t.Helper()
	https := httptest.NewTLSServer(http.NotFoundHandler())
	defer https.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: https.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(https.Certificate())
	return listener, &tls.Config{RootCAs: roots}
}

// TestNoLineBreakIsSent: nothing from outside becomes a second line.
func TestNoLineBreakIsSent(t *testing.T) {
	srv := startTwitch(t, "room")
	connect(t, srv, &IRC{Channels: []string{"room"}})
	srv.SendRaw("PING :a\rJOIN #b", "PING :c")
	eventually(t, "reading on", func() bool { return received(srv, "PONG :c") == 1 })
	for _, r := range srv.Received() {
		if strings.Contains(r.Line, "#b") {
			t.Errorf("sent %q", r.Line)
		}
	}
	if srv.Connections() != 1 {
		t.Error("the connection was lost")
	}
	for _, line := range []string{"JOIN #a\r\nJOIN #b", "JOIN #a\n", "\x00"} {
		if err := new(session).write(line); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestStatusIsConcurrent: it may be asked for while everything changes. The race detector judges.
func TestStatusIsConcurrent(t *testing.T) {
	srv := startTwitch(t, "room")
	naps := newNaps()
	irc := &IRC{Channels: []string{"room"}, Login: srv.BotLogin, Token: tokenOf(srv.Token()), sleep: naps.sleep}
	connect(t, srv, irc)
	asking, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-asking:
				return
			default:
				s := irc.Status()
				s.Skipped[Malformed]++ // a copy, so nobody minds
				s.Channels[0].Joined = false
			}
		}
	}()
	for range 5 {
		joined(t, irc)
		srv.SendRaw("no line", privmsg(""))
		before := irc.Status().Reconnects
		srv.Disconnect()
		eventually(t, "the loss", func() bool { return irc.Status().Reconnects > before })
	}
	close(asking)
	<-done
}

// TestLenientWelcome: any of the lines that servers send after a login will do.
func TestLenientWelcome(t *testing.T) {
	for _, welcome := range []string{":x 001 y :hi", ":x 376 y :>", ":x GLOBALUSERSTATE", "@room-id=7 :x ROOMSTATE #room"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		irc := &IRC{Channels: []string{"room"}, Address: listener.Addr().String()}
		stop := run(t, irc, func([]chatguard.Message) {})
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, welcome+"\n")
		eventually(t, welcome, func() bool { return irc.Status().State == Connected })
		if err := stop(); err != nil {
			t.Error(err)
		}
		conn.Close()
		listener.Close()
	}
}

// TestReconnectInOneRead: what arrives together with RECONNECT isn't lost, and RECONNECT is obeyed all the same.
func TestReconnectInOneRead(t *testing.T) {
	srv := startTwitch(t, "room")
	irc := &IRC{Channels: []string{"room"}, sleep: newNaps().sleep}
	in := connect(t, srv, irc)
	srv.SendRaw(privmsg(""), ":tmi.twitch.tv RECONNECT", privmsg(""), "PING :x")
	eventually(t, "a new connection", func() bool { return srv.Connections() == 2 })
	in.wait(t, 2)
}

// TestNoTags: a server that can't say who wrote a message is of no use, and that is said.
func TestNoTags(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	gate := newGate()
	irc := &IRC{Channels: []string{"room"}, Address: listener.Addr().String(), sleep: gate.sleep}
	run(t, irc, func([]chatguard.Message) {})
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, ":x CAP * NAK :twitch.tv/tags twitch.tv/commands\r\n")
	<-gate.asked
	eventually(t, "the reason", func() bool { return strings.Contains(irc.Status().Detail, "can't send tags") })
}

// TestUnknownChannel: a channel that doesn't exist is named, and the others go on.
func TestUnknownChannel(t *testing.T) {
	srv := startTwitch(t, "room")
	irc := &IRC{Channels: []string{"nowhere", "room"}, Address: srv.IRCAddress()}
	in := &inbox{}
	run(t, irc, in.deliver)
	eventually(t, "the trouble to be told", func() bool { return strings.Contains(irc.Status().Detail, "#nowhere") })
	if c := irc.Status().Channels[0]; c.Joined || !strings.Contains(c.Problem, "does not exist") {
		t.Errorf("channel %+v", c)
	}
	if err := srv.WaitJoined(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "hi"})
	in.wait(t, 1)
}
