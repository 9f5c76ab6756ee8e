package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard"
)

// stopBrowser ends the browser that tests have started. It does something only in builds with the
// constraint "browser".
var stopBrowser = func() {}

// start runs the program. It returns its address and a function that ends it.
func start(t *testing.T, s settings) (address string, end func()) {
	t.Helper()
	s.listen = "127.0.0.1:0"
	ctx, stop := context.WithCancel(context.Background())
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, s, out)
		out.CloseWithError(fmt.Errorf("it has ended: %w", err))
		ended <- err
	}()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(strings.TrimSpace(line), "htp:/"), end
}

func TestServer_RestartKeepsUsage(t *testing.T) {
	s := settings{policy: slowPolicy(), db: filepath.Join(t.TempDir(), "chat.db"), moderator: "eve:secret"}
	address, end := start(t, s)
	anna := visitTo(t, address, "chat", "Anna", "main")
	for _, text := range []string{"1", "2", "3"} {
		anna.say(text)
	}
	anna.wantLines("Anna: 1", "Anna: 2", "Anna: 3")
	go end()
	if _, _, err := anna.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the end was %v", err)
	}
	end()

	address, _ = start(t, s)
	anna = visitTo(t, address, "chat", "anna", "nowhere") // that means the room main
	anna.say("4")
	if f := anna.hear(); f.Verdict == nil || f.Verdict.Allowed || f.Verdict.Limit != "burst" {
		t.Errorf("heard %+v", f)
	}
	anna.CloseNow()
}

func TestDashboard_ModeratorOnly(t *testing.T) {
	address, _ := start(t, settings{policy: chatguard.DefaultPolicy(), moderator: "eve:secret"})
	for credentials, want := range map[string]int{"": 401, "eve:wrong": 401, "eve:": 401, "eve:secret": 200} {
		r, err := http.NewRequest("GET", "http://"+address+"/moderate/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if name, password, ok := strings.Cut(credentials, ":"); ok {
			r.SetBasicAuth(name, password)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q gets %s, want %d", credentials, answer.Status, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if err := run(t.Context(), settings{policy: chatguard.DefaultPolicy(), listen: "127.0.0.1:0", moderator: "eve"}, io.Discard); err == nil {
		t.Error("a moderator without a password")
	}
}

func TestRooms_UnknownRefused(t *testing.T) {
	for path, want := range map[string]int{"/": http.StatusOK, "/?room=music": http.StatusOK, "/?room=cellar": http.StatusNotFound} {
		w := httptest.NewRecorder()
		pageHandler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("%s is answered with %d, want %d", path, w.Code, want)
		}
	}
}
