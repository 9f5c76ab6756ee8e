package irc

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

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// TestIRC_BadLines checks that lines that can't be read are counted by reason, and that the
// connection survives.
func TestIRC_BadLines(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	irc := &Conn{Channels: []string{"room"}}
	in := connect(t, srv, irc)
	bad := map[twitch.SkipReason]string{
		twitch.Malformed:   "@id=1;user-id=2;room-id=3 :a!a@a PRIVMSG",
		twitch.TooLong:     strings.Repeat("a", 1<<20),
		twitch.InvalidUTF8: privmsg("user-id=2\xff0"),
		twitch.NoUserID:    "@id=1;room-id=3 :a!a@a PRIVMSG #room :hi",
		twitch.NoRoomID:    "@id=1;user-id=2 :a!a@a PRIVMSG #room :hi",
		twitch.NoMessageID: "@user-id=2;room-id=3 :a!a@a PRIVMSG #room :hi",
	}
	for _, line := range bad {
		srv.SendRaw(line)
	}
	// lines that are neither chat nor malformed
	srv.SendRaw("", "NOTICE", "USERNOTICE", "WHISPER", "JOIN", ":x 353", "FANCY :new command")
	id := twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "still reading?"})
	if got := in.Wait(t, 1); len(got) != 1 || got[0].ID != id {
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

// TestIRC_Silence checks that a silent server is sent a PING, and that further silence ends the
// connection. It covers connections with and without TLS.
func TestIRC_Silence(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	encrypted, trusting := listenTLS(t)
	for name, c := range map[string]struct {
		listener net.Listener
		config   *tls.Config
	}{"plain": {plain, nil}, "TLS": {encrypted, trusting}} {
		gate := twitchtest.NewGate()
		irc := &Conn{
			Channels: []string{"room"}, Address: c.listener.Addr().String(), TLS: c.config, Clock: clock.Clock{SleepFunc: gate.Sleep},
			Timing: twitch.Timing{PingAfter: 50 * time.Millisecond, PongWithin: 400 * time.Millisecond},
		}
		run(t, irc, func([]chat.Message) {})
		conn, err := c.listener.Accept()
		must(t, err)
		fmt.Fprint(conn, ":x 001 y :welcome\r\n")
		lines, pings := bufio.NewScanner(conn), 0
		for lines.Scan() {
			if lines.Text() == "PING :chatguard" {
				if pings++; pings < 3 {
					fmt.Fprint(conn, "PONG :chatguard\r\n")
				}
			}
		}
		<-gate.Asked // delay before the next connection
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
	must(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(https.Certificate())
	return listener, &tls.Config{RootCAs: roots}
}

// TestIRC_SendsNoLineBreak checks that no text from outside becomes a second line.
func TestIRC_SendsNoLineBreak(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	connect(t, srv, &Conn{Channels: []string{"room"}})
	srv.SendRaw("PING :a\rJOIN #b", "PING :c")
	twitchtest.Eventually(t, "reading on", func() bool { return twitchtest.Received(srv, "PONG :c") == 1 })
	for _, r := range srv.Received() {
		if strings.Contains(r.Line, "#b") {
			t.Errorf("sent %q", r.Line)
		}
	}
	if srv.Connections() != 1 {
		t.Error("the connection was lost")
	}
	for _, line := range []string{"JOIN #a\r\nJOIN #b", "JOIN #a\n", "\x00"} {
		if err := new(session).write(line); !errors.Is(err, twitch.ErrUnsafe) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestStatus_Concurrent checks that Status may be called while everything changes. It relies on
// the race detector.
func TestStatus_Concurrent(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	sleeps := twitchtest.NewSleeps()
	irc := &Conn{Channels: []string{"room"}, Login: srv.BotLogin, Token: twitchtest.TokenOf(srv.Token()), Clock: clock.Clock{SleepFunc: sleeps.Sleep}}
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
				s.Skipped[twitch.Malformed]++ // a copy, so this changes nothing else
				s.Channels[0].Joined = false
			}
		}
	}()
	for range 5 {
		waitJoined(t, irc)
		srv.SendRaw("no line", privmsg(""))
		before := irc.Status().Reconnects
		srv.Disconnect()
		twitchtest.Eventually(t, "the loss", func() bool { return irc.Status().Reconnects > before })
	}
	close(asking)
	<-done
}

// TestIRC_LenientWelcome checks that any of the lines that servers send after a login counts as the
// welcome.
func TestIRC_LenientWelcome(t *testing.T) {
	for _, welcome := range []string{":x 001 y :hi", ":x 376 y :>", ":x GLOBALUSERSTATE", "@room-id=7 :x ROOMSTATE #room"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		irc := &Conn{Channels: []string{"room"}, Address: listener.Addr().String()}
		stop := run(t, irc, func([]chat.Message) {})
		conn, err := listener.Accept()
		must(t, err)
		fmt.Fprint(conn, welcome+"\n")
		twitchtest.Eventually(t, welcome, func() bool { return irc.Status().State == twitch.Connected })
		must(t, stop())
		conn.Close()
		listener.Close()
	}
}

// TestIRC_ReconnectInOneRead checks that chat that arrives together with RECONNECT isn't lost, and
// that the Conn reconnects.
func TestIRC_ReconnectInOneRead(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	irc := &Conn{Channels: []string{"room"}, Clock: clock.Clock{SleepFunc: twitchtest.NewSleeps().Sleep}}
	in := connect(t, srv, irc)
	srv.SendRaw(privmsg(""), ":tmi.twitch.tv RECONNECT", privmsg(""), "PING :x")
	twitchtest.Eventually(t, "a new connection", func() bool { return srv.Connections() == 2 })
	in.Wait(t, 2)
}

// TestIRC_NoTags checks that a server without tags, which can't say who wrote a message, is refused
// and reported.
func TestIRC_NoTags(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	gate := twitchtest.NewGate()
	irc := &Conn{Channels: []string{"room"}, Address: listener.Addr().String(), Clock: clock.Clock{SleepFunc: gate.Sleep}}
	run(t, irc, func([]chat.Message) {})
	conn, err := listener.Accept()
	must(t, err)
	defer conn.Close()
	fmt.Fprint(conn, ":x CAP * NAK :twitch.tv/tags twitch.tv/commands\r\n")
	<-gate.Asked
	twitchtest.Eventually(t, "the reason", func() bool { return strings.Contains(irc.Status().Detail, "can't send tags") })
}
