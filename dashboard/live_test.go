package dashboard_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/sqlitestore"
)

// feed is the live feed of an open page.
type feed struct {
	*site
	ctx  context.Context
	conn *websocket.Conn
}

// dial opens the live feed of a channel, or of all of them.
func (s *site) dial(channel string, headers http.Header) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(s.Context(), s.http.URL+mount+"/api/v1/live?channel="+url.QueryEscape(channel),
		&websocket.DialOptions{HTTPClient: s.http.Client(), HTTPHeader: headers})
}

// follow opens the room's live feed as a signed-in user.
func (s *site) follow(as string) *feed {
	s.Helper()
	conn, _, err := s.dial(room, http.Header{"Cookie": {"who=" + as}})
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	s.Cleanup(func() { conn.CloseNow(); cancel() })
	f := &feed{s, ctx, conn}
	f.waitFor(`"type":"snapshot"`)
	return f
}

// waitFor waits for a frame that contains all wanted texts.
func (f *feed) waitFor(wanted ...string) {
	f.Helper()
frames:
	for {
		_, data, err := f.conn.Read(f.ctx)
		if err != nil {
			f.Fatalf("waiting for %q: %v", wanted, err)
		}
		for _, text := range wanted {
			if !strings.Contains(string(data), text) {
				continue frames
			}
		}
		return
	}
}

// waitForEnd waits for the connection to close and returns the status code.
func (f *feed) waitForEnd() websocket.StatusCode {
	for {
		if _, _, err := f.conn.Read(f.ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

func TestLive_EndsWithAccessAndRun(t *testing.T) {
	s := newSite(t, newGuard(t), dashboard.Options{})
	ben, anna := s.follow("ben"), s.follow("anna")
	s.revoke("ben")
	if code := ben.waitForEnd(); code != 4401 {
		t.Errorf("revoked, and it ends with %d", code)
	}
	s.ask("GET", "/api/v1/status", "ben", "", 401)
	s.ask("GET", "/api/v1/status", "anna", "", 200)
	go s.stop()
	if code := anna.waitForEnd(); code != websocket.StatusGoingAway {
		t.Errorf("Run is over, and it ends with %d", code)
	}
	s.stop()
}

// TestLive_StoreFailure checks that the live feed reports a store failure and its end.
func TestLive_StoreFailure(t *testing.T) {
	path := newPath(t)
	p := startWith(t, path, newGuard(t), sqlitestore.Options{Logger: quiet, FlushInterval: time.Millisecond})
	s := newSite(t, p.guard, dashboard.Options{Store: p.store})
	page := s.follow("ben")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	s.say("anna", 1)
	page.waitFor(`"type":"status"`, `"database":{"state":"failing","detail":"the file was moved away or deleted`)
	if h := p.store.Health(); !h.Failing || !strings.HasPrefix(h.Problem, "the file was moved away or deleted: put it back") {
		t.Errorf("%+v", h)
	}
	s.ask("GET", "/readyz", "ben", "", 503)
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	page.waitFor(`"type":"status"`, `"database":{"state":"ok"`)
	if h := p.store.Health(); h.Failing || h.Problem != "" {
		t.Errorf("%+v", h)
	}
	s.ask("GET", "/readyz", "ben", "", 200)
}

// TestLive_Switches checks that the live feed reports a pause, and raid mode that ends by itself.
func TestLive_Switches(t *testing.T) {
	p := start(t, newPath(t))
	s := newSite(t, p.guard, dashboard.Options{Store: p.store})
	s.say("spammer", 2)
	page := s.follow("ben")
	s.ask("POST", api+"/pause", "anna", "", 200)
	page.waitFor(`"type":"policy"`, `"in_force":"observe"`)
	s.ask("POST", api+"/resume", "anna", "", 200)
	page.waitFor(`"type":"policy"`, `"in_force":"enforce"`)
	s.ask("POST", api+"/raid", "anna", `{"for":"2s"}`, 200)
	page.waitFor(`"type":"status"`, `"raid_until"`)
	page.waitFor(`"type":"status"`, `"channels":[{"id":"lobby/1 \u0026 co","login":"lobby/1 \u0026 co","timezone":"UTC","acts":false,"raid_lasts":"10m0s"}]`)
}
