package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts the server on loopback.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	handler, err := routes()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// dial opens a WebSocket, and returns the status of the answer.
func dial(t *testing.T, url, key string) (*websocket.Conn, int) {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {key}}})
	if answer == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, answer.StatusCode
}

func TestChat_Messages(t *testing.T) {
	server := serve(t)
	for _, room := range []string{"lobby", "arena"} { // each room is another allowance
		conn, _ := dial(t, server.URL+"/chat/"+room, "anna's key")
		for i, text := range []string{"1", "2", "3", "4"} {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
				t.Fatal(err)
			}
			_, answer, err := conn.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if i < 3 {
				if string(answer) != text {
					t.Errorf("%s: %s", text, answer)
				}
				continue
			}
			var verdict struct {
				Allowed      bool  `json:"allowed"`
				RetryAfterMS int64 `json:"retry_after_ms"`
			}
			if err := json.Unmarshal(answer, &verdict); err != nil || verdict.Allowed || verdict.RetryAfterMS == 0 {
				t.Errorf("%s: %s", text, answer)
			}
		}
	}
}

func TestChat_Connections(t *testing.T) {
	server := serve(t)
	for _, c := range []struct {
		room, key string
		status    int
	}{
		{"lobby", "anna's key", 101},
		{"lobby", "anna's key", 101},
		{"arena", "anna's key", 101},
		{"lobby", "anna's key", 429},
		{"lobby", "eve's key", 101},
		{"lobby", "wrong key", 401},
		{"cellar", "eve's key", 404},
	} {
		if _, status := dial(t, server.URL+"/chat/"+c.room, c.key); status != c.status {
			t.Errorf("%s with %s: %d, want %d", c.room, c.key, status, c.status)
		}
	}
}

func TestAPI_Requests(t *testing.T) {
	server := serve(t)
	for i := range 6 {
		answer, err := server.Client().Get(server.URL + "/rooms")
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		throttled := answer.StatusCode == http.StatusTooManyRequests
		if throttled != (i == 5) || throttled != (answer.Header.Get("Retry-After") != "") || answer.Header.Get("RateLimit") == "" {
			t.Errorf("request %d: %s %v", i, answer.Status, answer.Header)
		}
	}
}
