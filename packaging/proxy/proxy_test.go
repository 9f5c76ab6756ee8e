//go:build proxy

// Package proxy checks the configurations of Caddy and nginx in this folder. The tests start the
// real proxies, which Debian's packages provide, with the real chatguard behind them. `make
// plain` runs them.
package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// setups are what the configurations offer, and changes to them that people make.
var setups = []struct {
	name    string
	start   func(t *testing.T, s *site)
	host    string
	path    string // of public_url
	changes []string
	mode    browserMode
}{
	{"Caddy/root", startCaddy, "chat.example.org", "/", nil, browse},
	{"Caddy/path", startCaddy, "www.example.org", "/guard/", nil, browse},
	{"Caddy/path removed", startCaddy, "www.example.org", "/guard/", []string{
		"handle @guard {", "redir /guard /guard/?{query}\n\thandle_path /guard/* {",
	}, noBrowser},
	{"nginx/root", startNginx, "chat.example.org", "/", nil, browse},
	{"nginx/path", startNginx, "www.example.org", "/guard/", nil, browse},
	{"nginx/path removed", startNginx, "www.example.org", "/guard/", []string{
		"proxy_pass http://chatguard;", "proxy_pass http://chatguard/;",
	}, noBrowser},
	{"nginx/path replaced by a slash", startNginx, "www.example.org", "/guard/", []string{
		"proxy_pass http://chatguard;", "proxy_pass http://chatguard/;",
		"location /guard/ {", "location /guard {",
	}, noBrowser},
}

type browserMode bool

const (
	browse    browserMode = true
	noBrowser browserMode = false
)

// TestProxies checks that everything works through both proxies, at the root of a host name and
// below a path.
func TestProxies(t *testing.T) {
	for _, setup := range setups {
		t.Run(setup.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, setup.host, setup.path)
			s.changes = setup.changes
			setup.start(t, s)
			s.checkPage()
			s.checkSession()
			s.checkOtherSites()
			s.checkFeed()
			s.checkAddresses()
			if setup.mode == browse {
				s.checkBrowser()
			}
			if strings.Contains(s.log(), "that isn't trusted") {
				t.Errorf("the proxy isn't trusted:\n%s", s.log())
			}
		})
	}
}

// checkPage checks that the page and its files are served, also without the slash, and that plain
// HTTP leads to TLS.
func (s *site) checkPage() {
	s.Helper()
	s.expect(s.get(""), 200, "<title>chatguard</title>")
	s.expect(s.get("app/shell/main.js"), 200, "import")
	s.expect(s.get("healthz"), 200, "ok")
	s.expect(s.get("metrics"), 401, "")
	bare := s.do("GET", strings.TrimSuffix(s.url, "/")+"?x=1", "")
	s.expect(bare, 200, "<title>chatguard</title>")
	if to := bare.Request.URL; to.RawQuery != "x=1" {
		s.Errorf("without the slash: the query is lost: %s", to)
	}
	s.expect(s.do("GET", s.url+"nothing", ""), 404, "There is nothing here")
	s.expect(s.do("POST", s.url+"api/v1/check", strings.Repeat(" ", 5<<20),
		"Content-Type", "application/json", "Authorization", "Bearer "+s.checks), 413, "/problem")
	plain := s.do("GET", "http://"+s.plain+"/guard/", "", "Host", s.host)
	to := plain.Header.Get("Location")
	if plain.StatusCode/100 != 3 || !strings.HasPrefix(to, "https://"+s.host) {
		s.Errorf("plain HTTP: %s to %q", plain.Status, to)
	}
}

// checkSession signs in with a one-time code, and reads the API with the session.
func (s *site) checkSession() {
	s.Helper()
	link := s.chatguard("signin")
	code, ok := strings.CutPrefix(link, s.url+"#signin=")
	if !ok {
		s.Fatalf("the link is %s", link)
	}
	signedIn := s.do("POST", s.url+"api/v1/session", fmt.Sprintf(`{"code":%q}`, code),
		"Content-Type", "application/json", "Origin", s.origin)
	s.expect(signedIn, 200, `"own"`)
	if len(signedIn.Cookies()) != 1 {
		s.Fatalf("cookies: %v", signedIn.Cookies())
	}
	s.cookie = signedIn.Cookies()[0]
	path := "/" + strings.Trim(s.path, "/")
	c := s.cookie
	if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != path {
		s.Errorf("cookie %v", c)
	}
	s.expect(s.get("api/v1/channels"), 401, "")
	s.expect(s.get("api/v1/channels", "Cookie", s.cookie.String()), 200, `"lobby"`)
}

// checkOtherSites checks that a page of another site can't change anything, and that this site's
// page can.
func (s *site) checkOtherSites() {
	s.Helper()
	pause := func(origin, site string) *answer {
		return s.do("POST", s.url+"api/v1/channels/check:lobby/pause", "",
			"Cookie", s.cookie.String(), "Origin", origin, "Sec-Fetch-Site", site)
	}
	s.expect(pause("https://evil.example", "cross-site"), 403, "another site")
	s.expect(pause(s.origin, "same-origin"), 200, "")
	resume := s.do("POST", s.url+"api/v1/channels/check:lobby/resume", "",
		"Cookie", s.cookie.String(), "Origin", s.origin)
	s.expect(resume, 200, "")
}

// checkAddresses checks that chatguard counts wrong tokens by the address of the client, not of the
// proxy, and that a client can't claim another address.
func (s *site) checkAddresses() {
	s.Helper()
	guesses := 0
	guess := func(from, claims string) *answer {
		guesses++
		s.from(from)
		return s.get("api/v1/channels",
			"Authorization", fmt.Sprintf("Bearer wrong-%d", guesses), "X-Forwarded-For", claims)
	}
	for range 5 {
		s.expect(guess("127.0.0.2", "192.0.2.1"), 401, "")
	}
	s.expect(guess("127.0.0.2", "192.0.2.2"), 429, "")
	s.expect(guess("127.0.0.3", "127.0.0.2"), 401, "")
}
