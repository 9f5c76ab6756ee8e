package twitch

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

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// encrypt puts TLS in front of an address until the test ends. It returns where, and a configuration that trusts it.
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
					_, _ = io.Copy(way[0], way[1]) // ends when either side hangs up
					way[0].Close()
					way[1].Close()
				})
			}
		}
	})
	return listener.Addr().String(), trusting
}

// transports are the ways to reach a fake Twitch.
func transports(t *testing.T, srv *faketwitch.Server) map[string]*IRC {
	t.Helper()
	address, trusting := encrypt(t, srv.IRCAddress())
	web := strings.TrimSuffix(strings.TrimPrefix(srv.IRCWebSocketURL(), "ws://"), "/irc")
	secureWeb, trustingWeb := encrypt(t, web)
	return map[string]*IRC{
		"TCP":             {Address: srv.IRCAddress()},
		"TLS":             {Address: address, TLS: trusting},
		"WebSocket":       {WebSocketURL: srv.IRCWebSocketURL()},
		"secureWebSocket": {WebSocketURL: "wss://" + secureWeb + "/irc", TLS: trustingWeb},
	}
}

// TestTransports: whichever way leads to the chat, the same messages come in the same order, PING is answered, and a lost connection made anew.
func TestTransports(t *testing.T) {
	for _, name := range []string{"TCP", "TLS", "WebSocket", "secureWebSocket"} {
		t.Run(name, func(t *testing.T) {
			srv := startTwitch(t, "room")
			irc := asBot(srv, transports(t, srv)[name])
			irc.Channels, irc.Timing = []string{"room"}, Timing{BackoffMin: time.Millisecond}
			in := &inbox{}
			run(t, irc, in.deliver)
			joined(t, irc)
			say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Badges: "vip/1", Text: "zoë ☕ first"})
			var raw strings.Builder
			for n := range 3000 {
				fmt.Fprintf(&raw, "%s %d\r\n", privmsg(""), n)
			}
			srv.Flood([]byte(raw.String()))
			for n, m := range in.wait(t, 3001) {
				if want := fmt.Sprintf("hi there %d", n-1); n > 0 && m.Text != want {
					t.Fatalf("message %d is %q, want %q", n, m.Text, want)
				}
			}
			if m := in.all()[0]; m.Text != "zoë ☕ first" || m.User.Login != "anna" || m.User.Roles != chatguard.RolesOf(chatguard.VIP) {
				t.Errorf("message %+v", m)
			}
			srv.SendRaw("PING :are you there")
			eventually(t, "a PONG", func() bool { return received(srv, "PONG :are you there") == 1 })
			for n, lose := range []func(){srv.Disconnect, srv.Reconnect} {
				lose()
				eventually(t, "the next connection", func() bool { return srv.Connections() == n+2 })
				joined(t, irc)
				say(t, srv, faketwitch.Line{Channel: "room", Login: "anna", Text: "still here"})
				in.wait(t, 3002+n)
			}
			if s := irc.Status(); s.Dropped != 0 || len(s.Skipped) != 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestUntrustedServer: a certificate that isn't trusted, or is another server's, keeps us from logging in.
func TestUntrustedServer(t *testing.T) {
	srv := startTwitch(t, "room")
	ways := transports(t, srv)
	trusting := ways["TLS"].TLS.Clone()
	trusting.ServerName = "elsewhere.example"
	for name, irc := range map[string]*IRC{
		"TLS":       {Address: ways["TLS"].Address, TLS: &tls.Config{}},
		"WebSocket": {WebSocketURL: ways["secureWebSocket"].WebSocketURL},
		"name":      {Address: ways["TLS"].Address, TLS: trusting},
	} {
		asBot(srv, irc).Channels = []string{"room"}
		delays(t, irc, 1)
		if s := irc.Status(); !strings.Contains(s.Detail, "certificate") {
			t.Errorf("%s: %q", name, s.Detail)
		}
	}
	if got := srv.Received(); len(got) != 0 {
		t.Errorf("sent %+v to a server that isn't trusted", got)
	}
}

// script serves WebSockets that send messages and then wait for the client to leave.
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

// TestSocketMessages: lines may be spread over messages in any way, and one that is too long ends the connection.
func TestSocketMessages(t *testing.T) {
	one, two := privmsg("")+" 1\r\n", privmsg("")+" 2\r\n"
	url := scriptSocket(t, ":x 001 y :hi\r\n"+one+two[:50], "", two[50:], one[:len(one)-1], "\n", strings.Repeat(two, 300))
	irc, in := &IRC{Channels: []string{"room"}, WebSocketURL: url}, &inbox{}
	stop := run(t, irc, in.deliver)
	texts := []string{"hi there 1", "hi there 2", "hi there 1", "hi there 2"}
	for n, m := range in.wait(t, 303) {
		if m.Text != texts[min(n, 3)] {
			t.Fatalf("message %d is %q", n, m.Text)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}

	long := &IRC{Channels: []string{"room"}, WebSocketURL: scriptSocket(t, ":x 001 y :hi\r\n", strings.Repeat("a", maxSocketMessage+1))}
	delays(t, long, 1)
	if s := long.Status(); s.Skipped[TooLong] != 1 || !strings.Contains(s.Detail, "broke") {
		t.Errorf("status %+v", s)
	}
}

// TestSocketRefused: a server that speaks no WebSocket, or would send us elsewhere, is a lost connection like any other.
func TestSocketRefused(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed a redirect") }))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"redirect":  func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"page":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
	} {
		srv := httptest.NewServer(answer)
		irc := &IRC{Channels: []string{"room"}, WebSocketURL: "ws" + strings.TrimPrefix(srv.URL, "http")}
		waits := delays(t, irc, 3)
		if s := irc.Status(); len(waits) != 3 || !strings.Contains(s.Detail, "can't reach the chat server") {
			t.Errorf("%s: %v, %q", name, waits, s.Detail)
		}
		srv.Close()
	}
}

// TestSilentSocket: silence is noticed over WebSocket, too, and asking doesn't end a connection that lives.
func TestSilentSocket(t *testing.T) {
	bubble(t, []string{"room"}, func(t *testing.T, srv *faketwitch.Server) {
		irc := &IRC{Channels: []string{"room"}, WebSocketURL: srv.IRCWebSocketURL()}
		connect(t, srv, irc)
		pass(10 * time.Minute)
		if s := irc.Status(); s.Reconnects != 0 || received(srv, "PING :chatguard") < 9 {
			t.Errorf("asked %d times in 10 minutes; %+v", received(srv, "PING :chatguard"), s)
		}
		srv.Stall()
		pass(72 * time.Second)
		joined(t, irc)
		if s := irc.Status(); s.Reconnects != 1 || !strings.Contains(s.Detail, "fell silent") || srv.Connections() != 2 {
			t.Errorf("status %+v", s)
		}
	})
}

// FuzzLines: however a stream is cut into pieces, over TCP or into the messages of a WebSocket, the same lines come out, and the reader holds no
// more than its buffer.
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
		// A line of many bytes is more than the fuzzer would come up with.
		stream += strings.Repeat("z", max(0, pad%100_000)) + "\nend\n"
		want, tooLong := cutLines(stream)

		got, r, _ := readAll(&choppedReader{rest: stream, chunk: chunk})
		if !slices.Equal(got, want) || r.overrun != tooLong || cap(r.buf) > readBuffer {
			t.Errorf("%d lines, %d too long; want %d and %d", len(got), r.overrun, len(want), tooLong)
		}
		before := over.overrun
		got = overSocket(t, server, over, stream, chunk, len(want))
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
	if err != nil {
		f.Fatal(err)
	}
	server = <-accepted
	f.Cleanup(func() {
		client.CloseNow()
		server.CloseNow()
		close(done)
		srv.Close()
	})
	return server, client
}

// overSocket sends a stream in messages of chunk bytes and returns the n lines that arrive.
func overSocket(t *testing.T, server *websocket.Conn, over *lineReader, stream string, chunk, n int) (got []string) {
	sent := make(chan error, 1)
	go func() {
		var err error
		chunk = max(chunk, len(stream)/500) // many small messages say nothing more, and take long
		for rest := stream; rest != "" && err == nil; rest = rest[min(chunk, len(rest)):] {
			err = server.Write(context.Background(), websocket.MessageBinary, []byte(rest[:min(chunk, len(rest))]))
		}
		sent <- err
	}()
	for len(got) < n {
		if err := over.fill(); err != nil {
			t.Fatal(err)
		}
		for line, ok := over.next(); ok; line, ok = over.next() {
			got = append(got, line)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return got
}
