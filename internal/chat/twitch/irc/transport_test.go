package irc

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
)

// encrypt puts TLS in front of an address until the test ends. It returns the new address and a
// configuration that trusts it.
func encrypt(t *testing.T, address string) (string, *tls.Config) {
	t.Helper()
	listener, trusting := listenTLS(t)
	var serving sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			secure, err := listener.Accept()
			if err != nil {
				return
			}
			plain, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				secure.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{secure, plain}, {plain, secure}} {
				serving.Go(func() {
					_, _ = io.Copy(way[0], way[1]) // ends when either side closes
					way[0].Close()
					way[1].Close()
				})
			}
		}
	})
	return listener.Addr().String(), trusting
}

// transports returns the ways to connect to a fake Twitch.
func transports(t *testing.T, srv *faketwitch.Server) map[string]*Conn {
	t.Helper()
	address, trusting := encrypt(t, srv.IRCAddress())
	web := strings.TrimSuffix(strings.TrimPrefix(srv.IRCWebSocketURL(), "ws://"), "/irc")
	secureWeb, trustingWeb := encrypt(t, web)
	return map[string]*Conn{
		"TCP":             {Address: srv.IRCAddress()},
		"TLS":             {Address: address, TLS: trusting},
		"WebSocket":       {WebSocketURL: srv.IRCWebSocketURL()},
		"secureWebSocket": {WebSocketURL: "wss://" + secureWeb + "/irc", TLS: trustingWeb},
	}
}

// TestWire_Transports checks that every transport delivers the same messages in the same order,
// answers PING, and replaces a lost connection.
func TestWire_Transports(t *testing.T) {
	for _, name := range []string{"TCP", "TLS", "WebSocket", "secureWebSocket"} {
		t.Run(name, func(t *testing.T) {
			srv := twitchtest.Start(t, "room")
			irc := useBotToken(srv, transports(t, srv)[name])
			irc.Channels, irc.Timing = []string{"room"}, twitch.Timing{BackoffMin: time.Millisecond}
			in := &twitchtest.Inbox{}
			run(t, irc, in.Deliver)
			waitJoined(t, irc)
			twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Badges: "vip/1", Text: "zoë ☕ first"})
			var raw strings.Builder
			for n := range 3000 {
				fmt.Fprintf(&raw, "%s %d\r\n", privmsg(""), n)
			}
			srv.Flood([]byte(raw.String()))
			for n, m := range in.Wait(t, 3001) {
				if want := fmt.Sprintf("hi there %d", n-1); n > 0 && m.Text != want {
					t.Fatalf("message %d is %q, want %q", n, m.Text, want)
				}
			}
			if m := in.All()[0]; m.Text != "zoë ☕ first" || m.User.Login != "anna" || m.User.Roles.String() != "vip" {
				t.Errorf("message %+v", m)
			}
			srv.SendRaw("PING :are you there")
			twitchtest.Eventually(t, "a PONG", func() bool { return twitchtest.Received(srv, "PONG :are you there") == 1 })
			for n, lose := range []func(){srv.Disconnect, srv.Reconnect} {
				lose()
				twitchtest.Eventually(t, "the next connection", func() bool { return srv.Connections() == n+2 })
				waitJoined(t, irc)
				twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Text: "still here"})
				in.Wait(t, 3002+n)
			}
			if s := irc.Status(); s.Dropped != 0 || len(s.Skipped) != 0 || s.Reconnects != 2 || !strings.Contains(s.Detail, "asked to reconnect") {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestWire_UntrustedServer checks that we don't log in to a server whose certificate is untrusted
// or belongs to another server.
func TestWire_UntrustedServer(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	ways := transports(t, srv)
	trusting := ways["TLS"].TLS.Clone()
	trusting.ServerName = "elsewhere.example"
	for name, irc := range map[string]*Conn{
		"TLS":       {Address: ways["TLS"].Address, TLS: &tls.Config{}},
		"WebSocket": {WebSocketURL: ways["secureWebSocket"].WebSocketURL},
		"name":      {Address: ways["TLS"].Address, TLS: trusting},
	} {
		useBotToken(srv, irc).Channels = []string{"room"}
		delays(t, irc, 1)
		if s := irc.Status(); !strings.Contains(s.Detail, "certificate") {
			t.Errorf("%s: %q", name, s.Detail)
		}
	}
	if got := srv.Received(); len(got) != 0 {
		t.Errorf("sent %+v to a server that isn't trusted", got)
	}
}

// scriptSocket serves WebSockets that send messages and then wait for the client to leave.
func scriptSocket(t *testing.T, messages ...string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		for _, message := range messages {
			if conn.Write(r.Context(), websocket.MessageText, []byte(message)) != nil {
				return
			}
		}
		for err == nil {
			_, _, err = conn.Read(context.Background())
		}
	}))
	t.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

// TestSocket_Messages checks that lines may be spread over messages in any way, and that a message
// that is too long ends the connection.
func TestSocket_Messages(t *testing.T) {
	one, two := privmsg("")+" 1\r\n", privmsg("")+" 2\r\n"
	url := scriptSocket(t, ":x 001 y :hi\r\n"+one+two[:50], "", two[50:], one[:len(one)-1], "\n", strings.Repeat(two, 300))
	irc, in := &Conn{Channels: []string{"room"}, WebSocketURL: url}, &twitchtest.Inbox{}
	stop := run(t, irc, in.Deliver)
	texts := []string{"hi there 1", "hi there 2", "hi there 1", "hi there 2"}
	for n, m := range in.Wait(t, 303) {
		if m.Text != texts[min(n, 3)] {
			t.Fatalf("message %d is %q", n, m.Text)
		}
	}
	must(t, stop())

	long := &Conn{Channels: []string{"room"}, WebSocketURL: scriptSocket(t, ":x 001 y :hi\r\n", strings.Repeat("a", maxSocketMessage+1))}
	delays(t, long, 1)
	if s := long.Status(); s.Skipped[twitch.TooLong] != 1 || !strings.Contains(s.Detail, "broke") {
		t.Errorf("status %+v", s)
	}
}

// TestSocket_Refused checks that a server that doesn't speak WebSocket or redirects is treated as a
// lost connection.
func TestSocket_Refused(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed a redirect") }))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"redirect":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"page":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
	} {
		srv := httptest.NewServer(answer)
		irc := &Conn{Channels: []string{"room"}, WebSocketURL: "ws" + strings.TrimPrefix(srv.URL, "http")}
		waits := delays(t, irc, 3)
		if s := irc.Status(); len(waits) != 3 || !strings.Contains(s.Detail, "can't reach the chat server") {
			t.Errorf("%s: %v, %q", name, waits, s.Detail)
		}
		srv.Close()
	}
}

// TestSocket_Silent checks that silence is also noticed over WebSocket, and that a PING doesn't end
// a live connection.
func TestSocket_Silent(t *testing.T) {
	twitchtest.Bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		irc := &Conn{Channels: []string{"room"}, WebSocketURL: srv.IRCWebSocketURL()}
		connect(t, srv, irc)
		twitchtest.Pass(10 * time.Minute)
		if s := irc.Status(); s.Reconnects != 0 || twitchtest.Received(srv, "PING :chatguard") < 9 {
			t.Errorf("asked %d times in 10 minutes; %+v", twitchtest.Received(srv, "PING :chatguard"), s)
		}
		srv.Stall()
		twitchtest.Pass(72 * time.Second)
		waitJoined(t, irc)
		if s := irc.Status(); s.Reconnects != 1 || !strings.Contains(s.Detail, "fell silent") || srv.Connections() != 2 {
			t.Errorf("status %+v", s)
		}
	})
}

// FuzzLines checks that a stream yields the same lines however it is split, over TCP or into
// WebSocket messages. It also checks that the reader holds no more than its buffer.
func FuzzLines(f *testing.F) {
	f.Add("PING :a\r\nPRIVMSG #b :c\n", 3, 0)
	f.Add("\n\r\n\r\r\n", 1, 0)
	f.Add("a\nb", 2, 20_000)
	f.Add("\xff\xfe\x00\n\x00\n@;=\n", 5, 16<<10)
	server, client := socketPair(f)
	over := &lineReader{in: &socket{conn: client}}
	f.Fuzz(func(t *testing.T, stream string, chunk, pad int) {
		if chunk = chunk % 70_000; chunk <= 0 {
			chunk = 1
		}
		// The fuzzer would not produce a line this long on its own.
		stream += strings.Repeat("z", max(0, pad%100_000)) + "\nend\n"
		want, tooLong := cutLines(stream)

		got, r, _ := readAll(&choppedReader{rest: stream, chunk: chunk})
		if !slices.Equal(got, want) || r.overrun != tooLong || cap(r.buf) > readBuffer {
			t.Errorf("%d lines, %d too long; want %d and %d", len(got), r.overrun, len(want), tooLong)
		}
		before := over.overrun
		got = sendOverSocket(t, server, over, stream, chunk, len(want))
		if !slices.Equal(got, want) || over.overrun-before != tooLong || cap(over.buf) > readBuffer {
			t.Errorf("over WebSocket %d lines, %d too long; want %d and %d", len(got), over.overrun-before, len(want), tooLong)
		}
	})
}

// socketPair returns both ends of a WebSocket.
func socketPair(f *testing.F) (server, client *websocket.Conn) {
	accepted, done := make(chan *websocket.Conn), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			f.Error(err)
		}
		accepted <- conn
		<-done
	}))
	client, _, err := websocket.Dial(f.Context(), srv.URL, &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	must(f, err)
	server = <-accepted
	f.Cleanup(func() {
		client.CloseNow()
		server.CloseNow()
		close(done)
		srv.Close()
	})
	return server, client
}

// sendOverSocket sends a stream in messages of chunk bytes and returns the n lines that arrive.
func sendOverSocket(t *testing.T, server *websocket.Conn, over *lineReader, stream string, chunk, n int) (got []string) {
	sent := make(chan error, 1)
	go func() {
		var err error
		chunk = max(chunk, len(stream)/500) // more small messages only take longer
		for rest := stream; rest != "" && err == nil; rest = rest[min(chunk, len(rest)):] {
			err = server.Write(context.Background(), websocket.MessageBinary, []byte(rest[:min(chunk, len(rest))]))
		}
		sent <- err
	}()
	for len(got) < n {
		must(t, over.fill())
		for line, ok := over.next(); ok; line, ok = over.next() {
			got = append(got, line)
		}
	}
	must(t, <-sent)
	return got
}
