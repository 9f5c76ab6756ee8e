package main

import (
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

// signedIn is the header of anna's requests.
var signedIn = http.Header{"Cookie": {"session=anna's session"}}

// dial opens a WebSocket, and returns the status of the answer.
func dial(t *testing.T, url string, h http.Header) (*websocket.Conn, int) {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: h})
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
		conn, _ := dial(t, server.URL+"/chat/"+room, signedIn)
		for _, want := range []string{"hello", "hello", "hello", "please wait 4 s"} {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
				t.Fatal(err)
			}
			if _, answer, err := conn.Read(t.Context()); err != nil || string(answer) != want {
				t.Errorf("%s: %s, %v; want %s", room, answer, err, want)
			}
		}
	}
}

func TestChat_Connections(t *testing.T) {
	server := serve(t)
	for i, path := range []string{"/chat/lobby", "/chat/lobby", "/chat/arena", "/chat/arena"} {
		want := http.StatusSwitchingProtocols
		if i == 3 {
			want = http.StatusTooManyRequests
		}
		if _, status := dial(t, server.URL+path, signedIn); status != want {
			t.Errorf("connection %d: %d, want %d", i, status, want)
		}
	}
	if _, status := dial(t, server.URL+"/chat/lobby", nil); status != http.StatusUnauthorized {
		t.Errorf("without a cookie: %d", status)
	}
}

func TestAPI_Requests(t *testing.T) {
	server := serve(t)
	for i := range 6 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/rooms", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = signedIn
		answer, err := server.Client().Do(r)
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
