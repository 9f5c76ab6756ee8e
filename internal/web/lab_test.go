//go:build !race

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// labSite returns a LabSite with recorded traffic, which may be nil. Its clock stands still until
// the returned func advances it.
func labSite(t testing.TB, recorded *simulate.Recordings) (site http.Handler, advance func(time.Duration)) {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := NewLabSite(access.Site{Listen: "127.0.0.1:8080"}, recorded, func() time.Time { return now }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Handler(), func(d time.Duration) { now = now.Add(d) }
}

// ask sends a question to a LabSite.
func ask(site http.Handler, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080/api/v1/lab", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	return w
}

const oneLane = `"lanes": [{"limits": [{"name": "burst", "algorithm": "token-bucket", "burst": 3, "refill": "4s"}]}]`

// What else is wrong with a question is in the tests of lab.
func TestLab_Refused(t *testing.T) {
	site, advance := labSite(t, nil)
	for _, test := range []struct {
		body   string
		status int
		detail string
	}{
		{`not JSON`, 400, "That can't be read: invalid character 'o' in literal null (expecting 'u')."},
		{`null`, 400, "That can't be read: it is null instead of an object."},
		{`{"lane": []}`, 400, `That can't be read: unknown key "lane".`},
		{`{` + oneLane + `, "messages": [{"at": 1, "user_id": "a", "cost": -1}]}`, 422, "message 1: its cost is negative: use 1 or more"},
		{`{"lanes": [{"limits": []}, {"limits": [{"name": "b", "algorithm": "token-bucket", "burst": 0, "refill": "4s"}]}]}`, 422, `lane 2: limit "b": burst is 0, want 1 or more`},
		{`{"lanes": [{"limits": [{"name": "b", "algorithm": "token-bucket", "brust": 3}]}]}`, 422, `lane 1: limit "b": unknown key "brust"`},
		{`{` + oneLane + `, "traffic": {"kind": "recorded", "channel": "7", "busiest": "10m"}}`, 422, "traffic: there are no recorded messages here: start chatguard lab with a FILE, use a dashboard with a database, or send messages"},
		{`{` + oneLane + `, "traffic": {"kind": "flood"}}`, 422, `traffic: unknown kind "flood": use steady, bursts, poisson, eager, chat or recorded`},
		{strings.Repeat(" ", 4<<20+1), 413, "The request has more than the 4194304 bytes allowed here."},
	} {
		a := ask(site, test.body)
		var p struct{ Detail string }
		json.Unmarshal(a.Body.Bytes(), &p)
		if a.Code != test.status || !strings.HasPrefix(p.Detail, test.detail) || a.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.80s: %d %q, want %d %q", test.body, a.Code, p.Detail, test.status, test.detail)
		}
		advance(time.Second)
	}
}

// A refused value is named, so that the page marks its field.
func TestLab_NamesMistake(t *testing.T) {
	site, _ := labSite(t, nil)
	a := ask(site, `{"lanes": [{"limits": []}, {"limits": [{"name": "a", "algorithm": "fixed-window", "messages": 1, "every": "1s"}, {"name": "b", "algorithm": "token-bucket", "burst": 3, "refill": "4s", "roles": {"vip": {"burst": -1}}}]}]}`)
	var p struct{ Mistake problem.Mistake }
	if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	want := problem.Mistake{Lane: 2, Limit: "b", Role: "vip", Parameter: "burst", Value: "-1", Problem: p.Mistake.Problem}
	if p.Mistake != want || p.Mistake.Problem == "" {
		t.Errorf("got  %+v\nwant %+v", p.Mistake, want)
	}
}

func TestLabSite_OnlyTheLab(t *testing.T) {
	site, _ := labSite(t, nil)
	for path, want := range map[string]int{
		"/": 200, "/lab": 200, "/healthz": 200, "/api/v1/algorithms": 200,
		"/index.html": 404, "/app/now/page.js": 404, "/api/v1/status": 404, "/api/v1/channels": 404, "/api/v1/journal": 404,
		"/readyz": 404, "/metrics": 404, "/api/v1/lab": 200, "/api/v1/session": 404,
	} {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1:8080"+path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
		if csp := w.Header().Get("Content-Security-Policy"); csp != "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'" {
			t.Errorf("%s: policy %q", path, csp)
		}
	}
	r := httptest.NewRequest("POST", "http://127.0.0.1:8080/api/v1/lab", strings.NewReader(`{}`))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	if site.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("from another site: %d", w.Code)
	}
	w = httptest.NewRecorder()
	if site.ServeHTTP(w, httptest.NewRequest("GET", "http://evil.example/", nil)); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("under another name: %d", w.Code)
	}
}

// A proxy names its clients, of which each has its own allowance. The page asks under the public
// address.
func TestLabSite_BehindProxy(t *testing.T) {
	now := noon
	s, err := NewLabSite(access.Site{
		Listen: "127.0.0.1:8080", PublicURL: &url.URL{Scheme: "https", Host: "lab.example.org"}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
	}, nil, func() time.Time { return now }, quiet)
	if err != nil {
		t.Fatal(err)
	}
	post := func(client string, status int, retry string) {
		t.Helper()
		r := httptest.NewRequest("POST", "https://lab.example.org/api/v1/lab", strings.NewReader(`{`+oneLane+`}`))
		r.RemoteAddr = "127.0.0.1:4567"
		r.Header.Set("X-Forwarded-For", client)
		r.Header.Set("Origin", "https://lab.example.org")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.Handler().ServeHTTP(w, r); w.Code != status || w.Header().Get("Retry-After") != retry {
			t.Fatalf("%s: %d, Retry-After %q; want %d, %q", client, w.Code, w.Header().Get("Retry-After"), status, retry)
		}
	}
	for range labBurst {
		post("192.0.2.1", http.StatusOK, "")
	}
	post("192.0.2.1", http.StatusTooManyRequests, "1")
	post("192.0.2.2", http.StatusOK, "")
	now = now.Add(labRefill)
	post("192.0.2.1", http.StatusOK, "")
}

// manyMessages is a question with 1,000 messages and eight lanes.
func manyMessages() string {
	limits := []string{
		`{"algorithm": "token-bucket", "burst": 3, "refill": "4s"}`, `{"algorithm": "leaky-bucket", "every": "4s", "queue": 2}`,
		`{"algorithm": "fixed-window", "messages": 15, "every": "60s"}`, `{"algorithm": "user-window", "messages": 15, "every": "60s"}`,
		`{"algorithm": "sliding-window", "messages": 15, "every": "60s"}`, `{"algorithm": "sliding-log", "messages": 15, "every": "60s"}`,
		`{"algorithm": "daily-window", "messages": 300}`, `{"algorithm": "token-bucket", "burst": 20, "refill": "1s"}`,
	}
	var lanes, messages []string
	for _, l := range limits {
		lanes = append(lanes, `{"limits": [`+l+`]}`)
	}
	for i := range 1000 {
		messages = append(messages, fmt.Sprintf(`{"at": %d, "user_id": "anna"}`, 1767225600000+700*i))
	}
	return `{"lanes": [` + strings.Join(lanes, ",") + `], "messages": [` + strings.Join(messages, ",") + `]}`
}

// BenchmarkLab asks about 1,000 messages in eight lanes over HTTP.
func BenchmarkLab(b *testing.B) {
	lab := newLabs()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := lab.post(w, r, access.Caller{}); err != nil {
			b.Error(err)
		}
	}))
	defer server.Close()
	body := []byte(manyMessages())
	size := int64(0)
	for b.Loop() {
		r, _ := http.NewRequestWithContext(context.Background(), "POST", server.URL, bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		a, err := server.Client().Do(r)
		if err != nil {
			b.Fatal(err)
		}
		size, err = io.Copy(io.Discard, a.Body)
		a.Body.Close()
		if err != nil || a.StatusCode != http.StatusOK {
			b.Fatal(a.Status, err)
		}
	}
	b.ReportMetric(float64(size), "bytes")
}

// The Lab's site has every file that one of its files names, and none of the dashboard's pages.
func TestLabFiles(t *testing.T) {
	all, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	some := labFiles(all)
	for name, f := range some {
		names := named.FindAllSubmatch(f.content().plain, -1)
		if path.Ext(name) == ".js" {
			names = anyImport.FindAllSubmatch(f.content().plain, -1)
		}
		for _, found := range names {
			other := path.Join(path.Dir(name), strings.TrimPrefix(string(found[1]), "{root}"))
			if other != "." && some[other].kind == "" {
				t.Errorf("%s names %s, which isn't served", name, other)
			}
		}
		if strings.HasSuffix(name, "/page.js") || name == indexFile {
			t.Errorf("%s is served", name)
		}
	}
	for _, name := range []string{"", "lab", "lab/main.js", "lab/engine.js", "style/lab.css", "favicon.svg", "app/core/api.js"} {
		if f, ok := some[name]; !ok || len(f.content().plain) == 0 {
			t.Errorf("%q isn't served", name)
		}
	}
}
