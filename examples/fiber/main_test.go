package main

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/fasthttp/websocket"
	"github.com/gofiber/fiber/v3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, // goroutines of fasthttp that sleep, and end some seconds after the server
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// start starts the server on loopback, and returns its address.
func start(t *testing.T) string {
	t.Helper()
	app, err := routes()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() {
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "ws://" + listener.Addr().String() + "/chat/"
}

// dial opens a WebSocket, and returns the status of the answer.
func dial(t *testing.T, url, key string) (*websocket.Conn, int) {
	t.Helper()
	conn, answer, err := websocket.DefaultDialer.DialContext(t.Context(), url, http.Header{"Authorization": {key}})
	if answer == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, answer.StatusCode
}

// say sends a message, and returns the answer.
func say(conn *websocket.Conn, text string) (string, error) {
	if err := conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		return "", err
	}
	_, answer, err := conn.ReadMessage()
	return string(answer), err
}

func TestChat_Messages(t *testing.T) {
	url := start(t)
	for _, room := range []string{"lobby", "arena"} { // each room is another allowance
		conn, _ := dial(t, url+room, "anna's key")
		for i, text := range []string{"1", "2", "3", "4"} {
			answer, err := say(conn, text)
			if err != nil {
				t.Fatal(err)
			}
			if throttled := strings.Contains(answer, `"allowed":false`); throttled != (i == 3) || !throttled && answer != text {
				t.Errorf("%s: %s", text, answer)
			}
		}
	}
}

func TestChat_Connections(t *testing.T) {
	url := start(t)
	for _, c := range []struct {
		room, key string
		status    int
		refused   bool
	}{
		{"lobby", "anna's key", 101, false}, {"lobby", "anna's key", 101, false}, {"arena", "anna's key", 101, false}, {"lobby", "anna's key", 101, true},
		{"lobby", "eve's key", 101, false}, {"lobby", "wrong key", 401, false}, {"cellar", "eve's key", 404, false},
	} {
		conn, status := dial(t, url+c.room, c.key)
		if status != c.status {
			t.Errorf("%s with %s: %d, want %d", c.room, c.key, status, c.status)
		}
		if status != http.StatusSwitchingProtocols {
			continue
		}
		if _, err := say(conn, "hello"); c.refused != websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
			t.Errorf("%s with %s: %v", c.room, c.key, err)
		}
	}
}
