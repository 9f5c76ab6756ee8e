package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gorilla/websocket"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	goleak.VerifyTestMain(m)
}

// serve starts the server on loopback, and returns the address of the chat.
func serve(t *testing.T) (server *httptest.Server, chat string) {
	t.Helper()
	handler, err := routes()
	if err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server, "ws" + strings.TrimPrefix(server.URL, "http") + "/chat"
}

// dial opens a WebSocket, and returns the status of the answer.
func dial(t *testing.T, url string) (*websocket.Conn, int) {
	t.Helper()
	conn, answer, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	if answer == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, answer.StatusCode
}

func TestChat_Messages(t *testing.T) {
	_, chat := serve(t)
	conn, _ := dial(t, chat)
	for i, want := range []string{"hello", "hello", "hello", `"allowed":false`} {
		if err := conn.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, answer, err := conn.ReadMessage(); err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("message %d: %s, %v", i, answer, err)
		}
	}
}

// Connections count while they are open, and no longer.
func TestChat_Connections(t *testing.T) {
	server, chat := serve(t)
	first, _ := dial(t, chat)
	for _, want := range []int{101, 101, 429} {
		if _, status := dial(t, chat); status != want {
			t.Errorf("status %d, want %d", status, want)
		}
	}
	if answer, err := server.Client().Get(server.URL + "/rooms"); err != nil || answer.StatusCode != http.StatusOK || answer.Body.Close() != nil {
		t.Errorf("another route: %v, %v", answer, err)
	}

	// The server closes the connection after it has read the close message.
	if err := first.WriteMessage(websocket.CloseMessage, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, first.NetConn()); err != nil {
		t.Fatal(err)
	}
	status := 0
	for range 6 { // the session ends just after the connection is closed
		if _, status = dial(t, chat); status == http.StatusSwitchingProtocols {
			return
		}
	}
	t.Errorf("after a connection was closed: status %d", status)
}
