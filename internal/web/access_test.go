package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/shared"
)

// newToken creates a named token. Its name contains its access: may-view, may-check.
func (d *dashboard) newToken(access auth.Access) string {
	d.Helper()
	made, err := d.store.NewToken(context.Background(), auth.Identity{Name: "may-" + string(access), Access: access}, 0)
	if err != nil {
		d.Fatal(err)
	}
	return made
}

// newCode creates a sign-in code for a name that may view.
func (d *dashboard) newCode(name string) string {
	d.Helper()
	code, err := d.store.NewSignInCode(d.Context(), auth.Identity{Name: name, Access: auth.View}, 0)
	if err != nil {
		d.Fatal(err)
	}
	return code
}

func setBearer(token string) func(*http.Request) { return setHeader("Authorization", "Bearer "+token) }

// A token that may only check, or only show the overlay, starts no session and sees no state of the
// server. TestRoutes_NeedAccess shows this for the API.
func TestToken_OpensNothingElse(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	viaProxy := setHeader("X-Forwarded-For", "192.0.2.1")
	for access, status := range map[auth.Access]int{auth.Check: http.StatusForbidden, auth.Overlay: http.StatusForbidden, auth.View: http.StatusOK} {
		secret, views := d.newToken(access), status == http.StatusOK
		d.wantStatus(fmt.Sprintf("the metrics for one who may %s", access), status, "GET", "/metrics", nil, viaProxy, setBearer(secret))
		if a := d.do("GET", "/readyz", nil, setBearer(secret)); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "database") != views {
			t.Errorf("why it isn't ready, for one who may %s: %s %s", access, a.Status, a.body)
		}
		a := d.do("POST", "/api/v1/session", map[string]string{"token": secret})
		if a.StatusCode != status || len(a.Cookies()) > 0 != views || strings.Contains(string(a.body), "doesn't open the dashboard") == views {
			t.Errorf("signing in with a token that may %s: %s %s %v", access, a.Status, a.body, a.Cookies())
		}
	}
	list, err := d.store.Holders(t.Context())
	if err != nil || len(list) != 3 || list[0].Sessions+list[1].Sessions+list[2].Sessions != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestSignIn_Token(t *testing.T) {
	d := dash(t)
	c := d.signIn(map[string]string{"token": d.newToken(auth.View)})
	want := access.SignedInAs{Identity: auth.Identity{Name: "may-view", Access: auth.View, From: auth.FromToken}, Author: "token:may-view", All: auth.View}
	if me := decode[access.SignedInAs](t, d.do("GET", "/api/v1/session", nil, addCookie(c))); !reflect.DeepEqual(me, want) {
		t.Errorf("signed in as %+v", me)
	}
	d.wantStatus("pausing", http.StatusForbidden, "POST", "/api/v1/channels/"+channelID+"/pause", nil, addCookie(c))
	if a := d.do("DELETE", "/api/v1/session", nil, addCookie(c)); a.StatusCode != http.StatusNoContent || a.Cookies()[0].MaxAge >= 0 {
		t.Errorf("signing out: %s %v", a.Status, a.Cookies())
	}
	d.wantStatus("signed out", http.StatusUnauthorized, "GET", "/api/v1/session", nil, addCookie(c))
	if a := d.do("POST", "/api/v1/session", map[string]string{"token": "no such token"}); a.StatusCode != http.StatusUnauthorized || !strings.Contains(string(a.body), "unknown, was revoked or has expired") {
		t.Errorf("a wrong token: %s %s", a.Status, a.body)
	}
}

// A token that another process revokes stops working within 5 s. The store notices the revocation
// within 4 s, and an open feed checks its reader's access every second.
func TestAccess_RevokedElsewhere(t *testing.T) {
	d := dash(t)
	made := d.newToken(auth.View)
	c := d.signIn(map[string]string{"token": made})
	bySession, byToken := d.listenWith("Cookie", c.String(), ""), d.listenWith("Authorization", "Bearer "+made, "")
	bySession.next(live.SnapshotFrame)
	byToken.next(live.SnapshotFrame)
	other := d.listen()
	other.next(live.SnapshotFrame)

	beside, err := persist.OpenTokens(context.Background(), d.database, &persist.Options{Now: d.now})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	if ended, err := beside.Revoke(context.Background(), "may-view"); ended != (auth.Revoked{Tokens: 1, Sessions: 1}) || err != nil {
		t.Fatalf("revoked %+v, %v", ended, err)
	}
	d.advance(5*time.Second - live.AccessCheck)
	for name, feed := range map[string]*listener{"session": bySession, "token": byToken} {
		if code := feed.waitClosed(); code != live.SignedOut {
			t.Errorf("the feed of the %s ends with %d", name, code)
		}
	}
	for _, as := range []func(*http.Request){addCookie(c), setBearer(made)} {
		d.wantStatus("revoked", http.StatusUnauthorized, "GET", "/api/v1/status", nil, as)
	}
	d.say(spammer, 4)
	other.next(live.ThrottledFrame) // other feeds stay open
}

// After too many guesses at the Site's token, its address cannot use the right token either. Named
// tokens, sign-in links and sessions still work at this address.
func TestAttempts_OnlySiteToken(t *testing.T) {
	d := dash(t)
	d.stopClock()
	guesses := 0
	guess := func(send func(secret string) answer) {
		t.Helper()
		for i := range 40 {
			want := http.StatusUnauthorized
			if i >= access.AttemptBurst {
				want = http.StatusTooManyRequests
			}
			guesses++
			if a := send(fmt.Sprint("guess", guesses)); a.StatusCode != want || (a.Header.Get("Retry-After") == "30") != (i >= access.AttemptBurst) {
				t.Fatalf("guess %d: %s, Retry-After %q", i+1, a.Status, a.Header.Get("Retry-After"))
			}
		}
	}
	asks := func(secret string) answer { return d.do("GET", "/api/v1/session", nil, setBearer(secret)) }
	signsIn := func(secret string) answer {
		return d.do("POST", "/api/v1/session", map[string]string{"token": secret})
	}
	before := d.signIn(map[string]string{"token": token})
	guess(asks)
	if a := signsIn(token); a.StatusCode != http.StatusOK {
		t.Errorf("the owner signs in after programs' guesses: %s", a.Status)
	}
	guess(signsIn)
	for i, access := range []auth.Access{auth.View, auth.Moderate, auth.Own} {
		fresh := d.newToken(access)
		if a := asks(fresh); a.StatusCode != http.StatusOK {
			t.Errorf("a fresh token that may %s: %s", access, a.Status)
		}
		d.signIn(map[string]string{"token": fresh})
		code := fmt.Sprint("code", i)
		d.store.addCode(code, "anna")
		c := d.signIn(map[string]string{"code": code})
		d.wantStatus("signed in with a link", http.StatusOK, "GET", "/api/v1/session", nil, addCookie(c))
	}
	check := d.do("POST", "/api/v1/check", map[string]string{"channel": "lobby", "user_id": "1"}, setBearer(d.newToken(auth.Check)))
	if check.StatusCode != http.StatusOK {
		t.Errorf("a fresh token that may check: %s", check.Status)
	}
	d.wantStatus("the owner's session", http.StatusOK, "GET", "/api/v1/session", nil, addCookie(before))
	for what, a := range map[string]answer{"a program": asks(token), "a person": signsIn(token)} {
		if a.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(a.body), "a named token or a link") {
			t.Errorf("%s with the Site's token: %s %s", what, a.Status, a.body)
		}
	}
	d.advance(access.AttemptRefill)
	if a := signsIn(token); a.StatusCode != http.StatusOK {
		t.Errorf("the Site's token, 30 s later: %s", a.Status)
	}
}

// A site without a token has nothing to guess.
func TestAttempts_NoSiteToken(t *testing.T) {
	d := dash(t, func(o *Options) { o.Access.Site.Token = "" })
	for i := range 20 {
		d.wantStatus(fmt.Sprintf("guess %d", i+1), http.StatusUnauthorized, "POST", "/api/v1/session", map[string]string{"token": fmt.Sprint("guess", i)})
	}
}

func TestAttempts_IPv6Block(t *testing.T) {
	d := dash(t, func(o *Options) { o.Access.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	d.stopClock()
	guesses := 0
	guess := func(from string) int {
		guesses++
		return d.do("GET", "/api/v1/status", nil, setBearer(fmt.Sprint("guess", guesses)), setHeader("X-Forwarded-For", from)).StatusCode
	}
	for i := range access.AttemptBurst {
		if status := guess(fmt.Sprintf("2001:db8::%d", i)); status != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", i+1, status)
		}
	}
	if status := guess("2001:db8::ffff"); status != http.StatusTooManyRequests {
		t.Errorf("after five of the same /64: %d", status)
	}
	for i := range 3 * access.AttemptBurst { // the refused guesses used up no attempts of the block
		if status := guess(fmt.Sprintf("2001:db8:0:%d::1", i+1)); status != http.StatusUnauthorized {
			t.Errorf("guess %d from a /64 of its own: %d", i+1, status)
		}
	}
	if status := guess("2001:db8:0:99::1"); status != http.StatusTooManyRequests {
		t.Errorf("after twenty of the same /48: %d", status)
	}
	if status := guess("2001:db8:1::1"); status != http.StatusUnauthorized {
		t.Errorf("from another /48: %d", status)
	}
}

// A program keeps sending a token after it was revoked; others at its address can still sign in.
func TestAttempts_RevokedTokenBlocksNobody(t *testing.T) {
	d := dash(t)
	d.stopClock()
	revoked := setBearer("revoked")
	for i := range 100 {
		if a := d.do("GET", "/api/v1/status", nil, revoked); a.StatusCode != http.StatusUnauthorized {
			t.Fatalf("time %d: %s", i+1, a.Status)
		}
	}
	for i := range access.AttemptBurst - 2 { // leaves one attempt
		d.wantStatus(fmt.Sprintf("guess %d", i+1), http.StatusUnauthorized, "GET", "/api/v1/status", nil, setBearer(fmt.Sprint("guess", i)))
	}
	decode[live.Status](t, d.do("GET", "/api/v1/status", nil, setBearer(d.newToken(auth.View))))
	decode[live.Status](t, d.do("GET", "/api/v1/status", nil, setHeader("Authorization", "bearer  "+token)))
	d.signIn(map[string]string{"code": "good-code"})
	for i := range access.AttemptBurst - 1 {
		if a := d.do("POST", "/api/v1/session", map[string]string{"token": fmt.Sprint("guess", i)}); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("sign-in %d: %s; want 401, because failed API requests do not count", i+1, a.Status)
		}
	}
	d.signIn(map[string]string{"token": token})
	d.advance(access.RejectedTime)
	d.wantStatus("later", http.StatusUnauthorized, "GET", "/api/v1/status", nil, revoked)
}

func TestAccess_StoreInTrouble(t *testing.T) {
	d := dash(t)
	good := setBearer(d.newToken(auth.Moderate))
	session := addCookie(d.signIn(map[string]string{"code": "good-code"}))
	owners := addCookie(d.signIn(map[string]string{"token": token}))
	d.store.lookups.set(errors.New("locked: /secret/path"))
	for name, as := range map[string]func(*http.Request){"token": good, "session": session} {
		if a := d.do("GET", "/api/v1/status", nil, as); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "secret") {
			t.Errorf("a %s that can't be looked up: %s %s", name, a.Status, a.body)
		}
	}
	for name, as := range map[string]func(*http.Request){"token": asOwner, "session": owners} {
		d.wantStatus(fmt.Sprintf("the owner's %s", name), http.StatusOK, "GET", "/api/v1/status", nil, as)
	}
	d.store.lookups.set(nil)
	for _, as := range []func(*http.Request){good, session} {
		decode[live.Status](t, d.do("GET", "/api/v1/status", nil, as))
	}
}

// TestToken_OfAnotherNode checks that the answer to an unknown token says which node knows it, if
// several nodes share limits.
func TestToken_OfAnotherNode(t *testing.T) {
	for _, mode := range live.ShareModes {
		d := dash(t, func(o *Options) {
			o.Live.Shared = func() live.Shared { return live.Shared{Mode: mode, Health: shared.Health{Up: true}} }
		})
		a := d.do("GET", "/api/v1/throttled", nil, setBearer("of-another-node"))
		says := strings.Contains(string(a.body), "A token works on the node that made it.")
		if a.StatusCode != http.StatusUnauthorized || says != (mode != live.ShareOff) {
			t.Errorf("%s: %s %s", mode, a.Status, a.body)
		}
	}
}
