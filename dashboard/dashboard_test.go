package dashboard_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/shared"
)

func allow(*http.Request) (string, dashboard.Role, bool) { return "anna", dashboard.Own, true }

func TestNew_InvalidOptions(t *testing.T) {
	guard := newGuard(t)
	const missing = "dashboard: Options.Authorize is missing: set it to decide who has access"
	for want, test := range map[string]struct {
		guard *chatguard.Guard
		opts  dashboard.Options
	}{
		missing: {guard, dashboard.Options{}},
		"dashboard: Options.SharedHealth needs a Guard":                                                {guard, dashboard.Options{Authorize: allow, SharedHealth: func() (h shared.Health) { return h }}},
		"dashboard: Options.Nodes needs Options.SharedHealth":                                          {guard, dashboard.Options{Authorize: allow, Nodes: func(context.Context) ([]shared.Node, error) { return nil, nil }}},
		`dashboard: Options.PublicURL is "https://:443/": want an address`:                             {guard, dashboard.Options{Authorize: allow, PublicURL: "https://:443/"}},
		"dashboard: the Guard is missing: create one with chatguard.New":                               {nil, dashboard.Options{Authorize: allow}},
		`dashboard: Options.PublicURL is "chat.example.org": want an address such as "https://chat.ex`: {guard, dashboard.Options{Authorize: allow, PublicURL: "chat.example.org"}},
	} {
		if _, err := dashboard.New(test.guard, &test.opts); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := dashboard.New(guard, nil); err == nil || err.Error() != missing {
		t.Errorf("nil Options: %v", err)
	}
}

func TestRole_Rights(t *testing.T) {
	s := newSite(t, newGuard(t), dashboard.Options{})
	s.say("spammer", 2)
	for _, test := range []struct {
		as, method, path string
		status           int
		says             string
	}{
		{"nobody", "GET", "/", 200, "<title>"},
		{"nobody", "GET", "/api/v1/status", 401, "Sign in to the surrounding site, then reload this page."},
		{"nobody", "GET", "/api/v1/live", 401, `"mounted":true`},
		{"nobody", "GET", "/metrics", 401, ""},
		{"stranger", "GET", "/api/v1/throttled", 401, ""},
		{"", "GET", "/api/v1/throttled", 401, ""},    // no name
		{"odd", "GET", "/api/v1/throttled", 401, ""}, // unknown role
		{"ben", "GET", "/api/v1/throttled", 200, "spammer"},
		{"ben", "GET", "/metrics", 200, `chatguard_throttled_messages_total{channel="lobby/1 & co",channel_id="lobby/1 & co"} 1`},
		{"ben", "POST", api + "/pause", 403, "ben has view access; this needs moderate access."},
		{"ben", "POST", api + "/users/spammer/reset", 403, ""},
		{"anna", "POST", api + "/users/spammer/reset", 200, ""},
		{"anna", "POST", api + "/pause", 200, `"saved":false`},
		{"anna", "GET", "/api/v1/audit", 200, `"author":"site:anna"`},
		{"anna", "GET", "/api/v1/status", 200, `"database":{"state":"off"}`},
		{"anna", "GET", "/api/v1/channels", 200, `"paused_by":"site:anna"`},
		{"anna", "POST", "/api/v1/session", 404, "There are no sessions here"},
	} {
		if said := s.ask(test.method, test.path, test.as, "", test.status); !strings.Contains(said, test.says) {
			t.Errorf("%s %s as %s: %s", test.method, test.path, test.as, said)
		}
	}
	if who := s.throttledUsers("ben"); len(who) != 0 {
		t.Errorf("who was reset is throttled: %q", who)
	}
	if v := say(t, s.guard, "spammer", 3); !v.Allowed {
		t.Errorf("while it is paused: %+v", v)
	}
}

// TestDashboard_ThrottledIsDropped checks that a throttled message is dropped, because that is all
// that a server does.
func TestDashboard_ThrottledIsDropped(t *testing.T) {
	guard := newGuard(t)
	say(t, guard, "earlier", 2) // before the dashboard exists
	s := newSite(t, guard, dashboard.Options{})
	s.say("spammer", 2)
	if who := s.throttledUsers("ben"); !slices.Equal(who, []string{"spammer drop done"}) {
		t.Errorf("throttled %q", who)
	}
	s.say("earlier", 1)
	if who := s.throttledUsers("ben"); !slices.Equal(who, []string{"spammer drop done", "earlier drop done"}) {
		t.Errorf("throttled %q", who)
	}
}

func TestOptions_ChannelNames(t *testing.T) {
	s := newSite(t, newGuard(t), dashboard.Options{
		Channels: func() []dashboard.Channel { return []dashboard.Channel{{ID: "7", Name: "lobby"}, {ID: "8"}} },
	})
	if said := s.ask("GET", "/api/v1/channels", "ben", "", 200); !strings.Contains(said, `[{"id":"7","login":"lobby",`) || !strings.Contains(said, `{"id":"8","login":"8",`) {
		t.Errorf("channels %s", said)
	}
	s.ask("GET", api+"/policy", "ben", "", 404)
}

// TestDashboard_TwoShareOneGuard checks that a change made in one dashboard shows in the other.
func TestDashboard_TwoShareOneGuard(t *testing.T) {
	p := start(t, newPath(t))
	one, other := newSite(t, p.guard, dashboard.Options{Store: p.store}), newSite(t, p.guard, dashboard.Options{Store: p.store})
	one.say("spammer", 2)
	one.setBurst("anna", 2)
	one.ask("POST", api+"/pause", "anna", "", 200)
	if said := other.ask("GET", "/api/v1/channels", "ben", "", 200); !strings.Contains(said, `"paused_by":"site:anna"`) {
		t.Errorf("channels %s", said)
	}
	other.ask("POST", api+"/resume", "anna", "", 200)
	other.ask("DELETE", api+"/policy", "anna", "", 200)
	if p := inner.Of(p.guard).InForce(room); p.Mode != chatguard.ModeEnforce || p.Limits[0].Burst != 1 {
		t.Errorf("in force %+v", p)
	}
	if said := one.ask("GET", "/api/v1/journal", "ben", "", 200); strings.Count(said, `"action":"drop"`) != 1 {
		t.Errorf("journal %s", said)
	}
}

func TestRun_RefusesRequestsOutside(t *testing.T) {
	s := newSite(t, newGuard(t), dashboard.Options{})
	other, err := dashboard.New(s.guard, &dashboard.Options{Authorize: allow, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	status := func(d *dashboard.Dashboard) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/status", nil)
		r.AddCookie(&http.Cookie{Name: "who", Value: "ben"})
		d.ServeHTTP(w, r)
		return w.Code
	}
	if code := status(other); code != http.StatusServiceUnavailable {
		t.Errorf("before Run: %d", code)
	}
	if code := status(s.board); code != http.StatusOK {
		t.Errorf("while it runs: %d", code)
	}
	s.stop()
	if code := status(s.board); code != http.StatusServiceUnavailable {
		t.Errorf("after Run: %d", code)
	}
	if err := s.board.Run(t.Context()); err == nil {
		t.Error("it is run twice")
	}
	run(t, other)()
}

func TestDashboard_RefusesOtherOrigins(t *testing.T) {
	s := newSite(t, newGuard(t), dashboard.Options{PublicURL: "https://Chat.example.org:443" + mount})
	s.say("spammer", 2)
	origin := func(value string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("Origin", value) } }
	s.ask("POST", api+"/pause", "anna", "", 403, origin("https://evil.example"))
	// through the proxy
	s.ask("POST", api+"/pause", "anna", "", 200, origin("https://chat.example.org"))
	s.ask("POST", api+"/pause", "anna", "", 200, origin(s.http.URL))
	conn, _, err := s.dial("", http.Header{"Cookie": {"who=anna"}, "Origin": {"https://chat.example.org"}})
	if err != nil {
		t.Fatalf("the page follows through the proxy: %v", err)
	}
	conn.CloseNow()
	_, answer, err := s.dial("", http.Header{"Cookie": {"who=anna"}, "Origin": {"https://evil.example"}})
	if err == nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("another site's page follows: %v", err)
	}
}

// TestMount_MistakesLoggedOnce checks that a mounting mistake is logged once, however many requests
// arrive.
func TestMount_MistakesLoggedOnce(t *testing.T) {
	var lines bytes.Buffer
	s := newSite(t, newGuard(t), dashboard.Options{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	for range 3 {
		s.ask("GET", "/api/v1/status", "odd", "", 401)
		s.ask("GET", "/api/v1/status", "", "", 401)
		if _, _, err := s.dial("", http.Header{"Cookie": {"who=anna"}, "Origin": {"https://chat.example.org"}}); err == nil {
			t.Error("a page of another host follows")
		}
	}
	s.end()
	for _, said := range []string{"role that doesn't exist", "without a name", "set PublicURL to its address"} {
		if n := strings.Count(lines.String(), said); n != 1 {
			t.Errorf("%q is logged %d times:\n%s", said, n, &lines)
		}
	}
}

func TestMount_StrippedSlashIsLogged(t *testing.T) {
	s := newSite(t, newGuard(t), dashboard.Options{})
	for _, path := range []string{"/m/", "/m/api/v1/status"} {
		w := httptest.NewRecorder()
		http.StripPrefix("/m/", s.board).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "without its trailing slash") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
