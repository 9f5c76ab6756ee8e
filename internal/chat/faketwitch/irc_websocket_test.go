package faketwitch

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// dialSocket opens a WebSocket to the chat and sends hello, one line per message.
func dialSocket(t *testing.T, s *Server, hello ...string) *websocket.Conn {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: s.Dial, DisableKeepAlives: true}}
	conn, _, err := websocket.Dial(t.Context(), s.IRCWebSocketURL(), &websocket.DialOptions{HTTPClient: client})
	must(t, err)
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	for _, line := range hello {
		must(t, conn.Write(t.Context(), websocket.MessageText, []byte(line+"\r\n")))
	}
	return conn
}

// nextMessage returns the next message, which must be text.
func nextMessage(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	kind, text, err := conn.Read(t.Context())
	if err != nil || kind != websocket.MessageText {
		t.Fatalf("%v, %v", kind, err)
	}
	return string(text)
}

// TestIRCOverWebSocket checks that the commands are the same and that messages contain whole lines,
// several at a time.
func TestIRCOverWebSocket(t *testing.T) {
	s := start(t, Options{Channels: []string{"room"}})
	conn := dialSocket(t, s, append(anonymous, "JOIN #room")...)
	if ack := nextMessage(t, conn); ack != ":tmi.twitch.tv CAP * ACK :twitch.tv/tags twitch.tv/commands\r\n" {
		t.Errorf("acknowledged %q", ack)
	}
	if welcome := nextMessage(t, conn); !strings.Contains(welcome, " 001 justinfan123 ") || !strings.HasSuffix(welcome, " :>\r\n") {
		t.Errorf("welcomed with %q", welcome)
	}
	if joined := nextMessage(t, conn); !strings.Contains(joined, " ROOMSTATE #room\r\n") {
		t.Errorf("joined with %q", joined)
	}
	_, err := s.Say(Line{Channel: "room", Login: "anna", Text: "hello"})
	must(t, err)
	if said := nextMessage(t, conn); !strings.HasSuffix(said, "PRIVMSG #room :hello\r\n") {
		t.Errorf("said %q", said)
	}
	line := []byte(strings.Repeat("x", 1000) + "\r\n")
	s.Flood(bytes.Repeat(line, 100))
	for got := 0; got < 100*len(line); {
		text := nextMessage(t, conn)
		if len(text) > socketMessage || len(text)%len(line) != 0 {
			t.Fatalf("a message of %d bytes", len(text))
		}
		got += len(text)
	}
	s.HangUp(1)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	gone, _, err := websocket.Dial(t.Context(), s.IRCWebSocketURL(), &websocket.DialOptions{HTTPClient: client})
	if err == nil {
		if _, _, err = gone.Read(t.Context()); err == nil {
			t.Error("no hanging up")
		}
		gone.CloseNow()
	}
	if s.Connections() != 2 {
		t.Errorf("%d connections", s.Connections())
	}
	s.Disconnect()
	if _, _, err := conn.Read(t.Context()); err == nil {
		t.Error("still connected")
	}
	must(t, s.WaitJoined(t.Context(), 0))
}

func TestFirstMessage(t *testing.T) {
	long := strings.Repeat("x", socketMessage)
	for raw, want := range map[string]int{
		"":                         0,
		"a\nb":                     3,
		long:                       socketMessage,
		long + "\nb\n":             socketMessage + 1,
		"a\n" + long + "\n":        2,
		"a\nb\nc" + long + "\nd\n": 4,
		long + long:                2 * socketMessage,
	} {
		if got := firstMessage([]byte(raw)); len(got) != want {
			t.Errorf("%d bytes of %d, want %d", len(got), len(raw), want)
		}
	}
}
