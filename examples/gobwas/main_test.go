package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts the server on loopback, and returns its address.
func start(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serve(listener) }()
	t.Cleanup(func() {
		_ = listener.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return "ws://" + listener.Addr().String()
}

// dial opens a WebSocket, and returns the status of the answer and its Retry-After.
func dial(t *testing.T, url, key string) (conn net.Conn, status int, retry string) {
	t.Helper()
	dialer := ws.Dialer{
		Header: ws.HandshakeHeaderHTTP{"Authorization": {key}},
		OnStatusError: func(_ int, _ []byte, answer io.Reader) {
			if r, err := http.ReadResponse(bufio.NewReader(answer), nil); err != nil {
				t.Error(err)
			} else {
				retry = r.Header.Get("Retry-After")
			}
		},
	}
	conn, _, _, err := dialer.Dial(t.Context(), url)
	var refused ws.StatusError
	if errors.As(err, &refused) {
		return nil, int(refused), retry
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, http.StatusSwitchingProtocols, ""
}

func TestChat_Messages(t *testing.T) {
	conn, _, _ := dial(t, start(t), "anna's key")
	for i, text := range []string{"1", "2", "3", "4"} {
		if err := wsutil.WriteClientText(conn, []byte(text)); err != nil {
			t.Fatal(err)
		}
		answer, err := wsutil.ReadServerText(conn)
		if err != nil {
			t.Fatal(err)
		}
		if throttled := strings.Contains(string(answer), `"allowed":false`); throttled != (i == 3) || !throttled && string(answer) != text {
			t.Errorf("%s: %s", text, answer)
		}
	}
}

func TestChat_Connections(t *testing.T) {
	url := start(t)
	for i, c := range []struct {
		key    string
		status int
		retry  string
	}{
		{"anna's key", 101, ""}, {"anna's key", 101, ""}, {"anna's key", 101, ""}, {"anna's key", 429, "5"},
		{"eve's key", 101, ""}, {"wrong key", 401, ""},
	} {
		if _, status, retry := dial(t, url, c.key); status != c.status || retry != c.retry {
			t.Errorf("connection %d with %s: %d, Retry-After %q", i, c.key, status, retry)
		}
	}
}
