package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// signIn posts a code or a token and returns the session's cookie.
func (d *dashboard) signIn(secret map[string]string, adjust ...func(*http.Request)) *http.Cookie {
	d.Helper()
	a := d.do("POST", "/api/v1/session", secret, adjust...)
	decode[map[string]string](d, a)
	if len(a.Cookies()) != 1 {
		d.Fatalf("%d cookies", len(a.Cookies()))
	}
	return a.Cookies()[0]
}

func addCookie(c *http.Cookie) func(*http.Request) { return func(r *http.Request) { r.AddCookie(c) } }

func TestSignIn_CodeWorksOnce(t *testing.T) {
	d := dash(t)
	c := d.signIn(map[string]string{"code": "good-code"})
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure {
		t.Errorf("cookie %v", c)
	}
	if name := decode[map[string]any](t, d.do("GET", "/api/v1/status", nil, addCookie(c)))["name"]; name != "anna" {
		t.Errorf("signed in as %v", name)
	}
	d.wantStatus("the code a second time", 401, "POST", "/api/v1/session", map[string]string{"code": "good-code"})
}

func TestSignOut_OwnerWithoutStore(t *testing.T) {
	d := dash(t)
	c := d.signIn(map[string]string{"token": token})
	d.store.changes.set(errors.New("too much waits"))
	d.wantStatus("/api/v1/session", 204, "DELETE", "/api/v1/session", nil, addCookie(c))
}

// If the session can't be ended, at least the browser loses its cookie, and the answer says what
// remains.
func TestSignOut_WhileFailing(t *testing.T) {
	d := dash(t)
	c := d.signIn(map[string]string{"code": "good-code"})
	d.store.changes.set(errors.New("locked"))
	a := d.do("DELETE", "/api/v1/session", nil, addCookie(c))
	if a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "Only this browser is signed out") {
		t.Errorf("%s %s", a.Status, string(a.body))
	}
	if gone := a.Cookies(); len(gone) != 1 || gone[0].Name != c.Name || gone[0].Value != "" || gone[0].MaxAge >= 0 {
		t.Errorf("the cookie stays: %v", gone)
	}
	d.store.changes.set(nil)
	d.wantStatus("once that is fixed", http.StatusNoContent, "DELETE", "/api/v1/session", nil, addCookie(c))
	d.wantStatus("then", http.StatusUnauthorized, "GET", "/api/v1/session", nil, addCookie(c))
}

// Only the host itself can set a cookie with that prefix, so no other host's cookie counts.
func TestCookie_HostPrefix(t *testing.T) {
	d := dash(t, func(o *Options) { o.Access.Site.PublicURL = parseURL("https://chat.example.org/") })
	public := setHost("chat.example.org")
	c := d.signIn(map[string]string{"token": token}, public)
	if !c.Secure || c.Path != "/" || c.Domain != "" || c.Name != "__Host-chatguard" {
		t.Errorf("cookie %v", c)
	}
	laidOver := &http.Cookie{Name: "chatguard", Value: d.signIn(map[string]string{"token": token}).Value}
	d.wantStatus("another host's cookie", http.StatusUnauthorized, "GET", "/api/v1/session", nil, public, addCookie(laidOver))
	d.wantStatus("signed in", http.StatusOK, "GET", "/api/v1/session", nil, public, addCookie(laidOver), addCookie(c))
	if a := d.do("DELETE", "/api/v1/session", nil, public, addCookie(c)); a.StatusCode != http.StatusNoContent || a.Cookies()[0].Name != c.Name {
		t.Errorf("signing out: %s %v", a.Status, a.Cookies())
	}
	// over plain HTTP at the loopback address
	local := d.signIn(map[string]string{"token": token})
	if local.Secure || strings.HasPrefix(local.Name, "__Host-") {
		t.Errorf("cookie %v", local)
	}
}

func TestAttempts_PerAddress(t *testing.T) {
	d := dash(t, func(o *Options) { o.Access.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	d.stopClock()
	guess := func(secret, from string) answer {
		return d.do("POST", "/api/v1/session", map[string]string{"token": secret}, setHeader("X-Forwarded-For", from))
	}
	for i := range 5 {
		if a := guess(fmt.Sprint("wrong", i), "192.0.2.1"); a.StatusCode != 401 {
			t.Fatalf("a wrong token: %s", a.Status)
		}
	}
	if a := guess("another", "198.51.100.9, 192.0.2.1"); a.StatusCode != 429 || a.Header.Get("Retry-After") != "30" {
		t.Errorf("after five wrong tokens: %s, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	if a := guess("wrong0", "192.0.2.1"); a.StatusCode != 401 {
		t.Errorf("the first of them again: %s", a.Status)
	}
	if a := guess("another", "192.0.2.2"); a.StatusCode != 401 {
		t.Errorf("from another address: %s", a.Status)
	}
	d.advance(30 * time.Second)
	if a := guess("another", "192.0.2.1"); a.StatusCode != 401 {
		t.Errorf("after 30 s: %s", a.Status)
	}
}
