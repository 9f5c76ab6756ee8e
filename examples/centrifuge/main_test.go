package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/centrifugal/centrifuge"
	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, // goroutines of centrifuge that end some seconds after the node
		goleak.IgnoreAnyFunction("github.com/centrifugal/centrifuge/internal/dissolve.(*Dissolver).runWorker"),
		goleak.IgnoreAnyFunction("github.com/centrifugal/centrifuge.(*websocketTransport).Close"))
}

// serve starts a node on loopback.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	guard, err := chatguard.New(chatguard.DefaultPolicy(), nil)
	if err != nil {
		t.Fatal(err)
	}
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := chat(node, guard)
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Run(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		if err := node.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return server
}

// dial opens a WebSocket, and returns the status of the answer.
func dial(t *testing.T, url, cookie string) (*websocket.Conn, int) {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {"session=" + cookie}}})
	if answer == nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, answer.StatusCode
}

// reply is the answer to a command in centrifuge's JSON protocol.
type reply struct {
	ID    int `json:"id"`
	Error struct {
		Code      int    `json:"code"`
		Message   string `json:"message"`
		Temporary bool   `json:"temporary"`
	} `json:"error"`
}

// command sends a command, such as "publish", and returns the error in the reply, or "ok".
func command(t *testing.T, to *json.Encoder, from *json.Decoder, name string, parameters any) string {
	t.Helper()
	if err := to.Encode(map[string]any{"id": 1, name: parameters}); err != nil {
		t.Fatal(err)
	}
	for {
		var r reply
		if err := from.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.ID == 0 {
			continue // a publication
		}
		if e := r.Error; e.Code != 0 {
			return fmt.Sprintf("%d %s, temporary %t", e.Code, e.Message, e.Temporary)
		}
		return "ok"
	}
}

func TestChat_Messages(t *testing.T) {
	conn, _ := dial(t, serve(t).URL, "anna's session")
	stream := websocket.NetConn(t.Context(), conn, websocket.MessageText) // a frame may have several replies
	to, from := json.NewEncoder(stream), json.NewDecoder(stream)
	expect := func(name string, parameters map[string]any, want string) {
		t.Helper()
		if got := command(t, to, from, name, parameters); got != want {
			t.Errorf("%s %v: %s, want %s", name, parameters, got, want)
		}
	}
	expect("connect", map[string]any{}, "ok")
	expect("subscribe", map[string]any{"channel": "cellar"}, "102 unknown channel, temporary false")
	expect("publish", map[string]any{"channel": "lobby", "data": "hello"}, "103 permission denied, temporary false")
	for _, channel := range []string{"lobby", "arena"} { // each is another allowance
		expect("subscribe", map[string]any{"channel": channel}, "ok")
		for range 3 {
			expect("publish", map[string]any{"channel": channel, "data": "hello"}, "ok")
		}
		expect("publish", map[string]any{"channel": channel, "data": "hello"}, "429 please wait 4 s, temporary true")
	}
}

func TestChat_Connections(t *testing.T) {
	server := serve(t)
	for i, want := range []int{101, 101, 101, 429} {
		if _, status := dial(t, server.URL, "anna's session"); status != want {
			t.Errorf("connection %d: %d, want %d", i, status, want)
		}
	}
	if _, status := dial(t, server.URL, "no session"); status != http.StatusUnauthorized {
		t.Errorf("without an account: %d", status)
	}
}
