package web

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
)

// newToken makes a named token, called after what it lets its holder do.
func (d *dashboard) newToken(access journal.Access) string {
	d.Helper()
	made, err := d.store.NewToken(context.Background(), journal.Holder{Name: "may-" + string(access), Access: access}, 0)
	if err != nil {
		d.Fatal(err)
	}
	return made
}

func bearing(token string) func(*http.Request) { return header("Authorization", "Bearer "+token) }

// Each route of the API is refused to whoever may not do what it needs, and to nobody else.
func TestEachRouteIsForThoseWhoMay(t *testing.T) {
	d := dash(t)
	holders := map[journal.Access]string{journal.AccessOwn: token}
	for _, access := range []journal.Access{journal.AccessView, journal.AccessModerate, journal.AccessCheck} {
		holders[access] = d.newToken(access)
	}
	fill := strings.NewReplacer("{channel}", channelID, "{id}", "41", "{entry}", "1")
	for _, route := range d.server.api() {
		method, path, _ := strings.Cut(route.pattern, " ")
		path = "/api/v1" + fill.Replace(path)
		mend := "Sign in first"
		if route.needs == journal.AccessCheck {
			mend = `"chatguard token make NAME --role check\" makes one`
		}
		if a := d.do(method, path, nil); a.StatusCode != http.StatusUnauthorized || !strings.Contains(string(a.body), mend) {
			t.Errorf("%s without a token: %s %s", route.pattern, a.Status, a.body)
		}
		for access, bearer := range holders {
			a := d.do(method, path, nil, bearing(bearer))
			refused := a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden
			if may := access.Allows(route.needs); may == refused {
				t.Errorf("%s for one who may %s: %s %s", route.pattern, access, a.Status, a.body)
			}
			if refused && !strings.Contains(string(a.body), fmt.Sprintf("may-%s may only %[1]s here, and this needs somebody who may %s", access, route.needs)) {
				t.Errorf("%s for one who may %s: %s", route.pattern, access, a.body)
			}
		}
	}
	if p := d.guard.Policy(channelID); policyTag(p) != policyTag(d.opts.BasePolicy(channelID)) {
		t.Error("a request without a body changed the policy")
	}
}

func TestWhoMayOnlyCheckSeesNothing(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	checks, views := bearing(d.newToken(journal.AccessCheck)), bearing(d.newToken(journal.AccessView))
	viaProxy := header("X-Forwarded-For", "192.0.2.1")
	if a := d.do("GET", "/metrics", nil, viaProxy, checks); a.StatusCode != http.StatusForbidden {
		t.Errorf("the metrics: %s", a.Status)
	}
	if a := d.do("GET", "/metrics", nil, viaProxy, views); a.StatusCode != http.StatusOK {
		t.Errorf("the metrics for one who views: %s", a.Status)
	}
	if a := d.do("GET", "/readyz", nil, checks); a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "database") {
		t.Errorf("why it isn't ready: %s %s", a.Status, a.body)
	}
	if a := d.do("GET", "/readyz", nil, views); !strings.Contains(string(a.body), "database") {
		t.Errorf("why it isn't ready, for one who views: %s %s", a.Status, a.body)
	}
}

func TestATokenSignsIn(t *testing.T) {
	d := dash(t)
	c := d.signedIn(map[string]string{"token": d.newToken(journal.AccessView)})
	want := journal.Holder{Name: "may-view", Access: journal.AccessView}
	if me := into[journal.Holder](t, d.do("GET", "/api/v1/session", nil, with(c))); me != want {
		t.Errorf("signed in as %+v", me)
	}
	if a := d.do("POST", "/api/v1/channels/"+channelID+"/pause", nil, with(c)); a.StatusCode != http.StatusForbidden {
		t.Errorf("pausing: %s", a.Status)
	}
	if a := d.do("DELETE", "/api/v1/session", nil, with(c)); a.StatusCode != http.StatusNoContent {
		t.Errorf("signing out: %s", a.Status)
	}
	if a := d.do("GET", "/api/v1/session", nil, with(c)); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("signed out: %s", a.Status)
	}
	if a := d.do("POST", "/api/v1/session", map[string]string{"token": "no such token"}); a.StatusCode != http.StatusUnauthorized || !strings.Contains(string(a.body), "unknown, was revoked or has expired") {
		t.Errorf("a wrong token: %s %s", a.Status, a.body)
	}
}

// TestATokenThatSeesNothingBeginsNoSession, however often it is tried.
func TestATokenThatSeesNothingBeginsNoSession(t *testing.T) {
	d := dash(t)
	secret := map[string]string{"token": d.newToken(journal.AccessCheck)}
	for range 3 {
		a := d.do("POST", "/api/v1/session", secret)
		if a.StatusCode != http.StatusForbidden || len(a.Cookies()) != 0 || !strings.Contains(string(a.body), "only has messages of another chat judged") {
			t.Errorf("%s %s %v", a.Status, a.body, a.Cookies())
		}
	}
	list, err := d.store.Entrants(context.Background())
	if err != nil || len(list) != 1 || list[0].Sessions != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Whoever is revoked beside the running chatguard is out 5 s later: the database's memory has 4, an open feed asks within the fifth.
func TestRevokingBesideTheOwnerEndsSessionsAndFeeds(t *testing.T) {
	d := dash(t)
	made := d.newToken(journal.AccessView)
	c := d.signedIn(map[string]string{"token": made})
	bySession, byToken := d.listenWith("Cookie", c.String(), ""), d.listenWith("Authorization", "Bearer "+made, "")
	bySession.next(snapshotFrame)
	byToken.next(snapshotFrame)
	other := d.listen()
	other.next(snapshotFrame)

	beside, err := persist.OpenTokens(context.Background(), d.database, &persist.Options{Now: d.now})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	if ended, err := beside.Revoke(context.Background(), "may-view"); ended != (persist.Revoked{Tokens: 1, Sessions: 1}) || err != nil {
		t.Fatalf("revoked %+v, %v", ended, err)
	}
	d.pass(5*time.Second - sessionCheck)
	for name, feed := range map[string]*listener{"session": bySession, "token": byToken} {
		if code := feed.closed(); code != signedOut {
			t.Errorf("the feed of the %s ends with %d", name, code)
		}
	}
	for _, as := range []func(*http.Request){with(c), bearing(made)} {
		if a := d.do("GET", "/api/v1/status", nil, as); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("revoked, and then %s", a.Status)
		}
	}
	d.say(spammer, 4)
	other.next(throttledFrame) // others stay
}

// A chat server that asks often under one token isn't held up by itself, nor by those who guess from its address.
func TestAGoodTokenTakesNoTurn(t *testing.T) {
	d := dash(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	patiently := func(r *http.Request) { *r = *r.WithContext(ctx) } // who waits for a turn waits for ever
	for name, good := range map[string]string{"named": d.newToken(journal.AccessView), "the Site's": token} {
		into[status](t, d.do("GET", "/api/v1/status", nil, bearing(good)))
		end, err := d.server.access.bearers.begin(context.Background(), "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		a := d.do("GET", "/api/v1/status", nil, bearing(good), patiently)
		end()
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s token, while another attempt is under way: %s", name, a.Status)
		}
	}
	for i := range 6 {
		d.do("GET", "/api/v1/status", nil, bearing(fmt.Sprint("guess", i)))
	}
	if a := d.do("GET", "/api/v1/status", nil, asOwner); a.StatusCode != http.StatusOK {
		t.Errorf("after the guesses of a neighbour: %s", a.Status)
	}
}

func TestGuessingTokensIsLimitedByAddress(t *testing.T) {
	d := dash(t, func(o *Options) { o.Site.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	d.stopClock()
	guess := func(secret, from string) answer {
		return d.do("GET", "/api/v1/status", nil, bearing(secret), header("X-Forwarded-For", from))
	}
	good := d.newToken(journal.AccessView)
	for i := range 5 {
		if a := guess(fmt.Sprint("guess", i), fmt.Sprintf("2001:db8::%d", i)); a.StatusCode != http.StatusUnauthorized {
			t.Fatalf("a wrong token: %s", a.Status)
		}
	}
	if a := guess("another", "2001:db8::ffff"); a.StatusCode != http.StatusTooManyRequests || a.Header.Get("Retry-After") != "30" {
		t.Errorf("after five of the same /64: %s, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	if a := guess("another", "2001:db8:0:1::"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("from another /64: %s", a.Status)
	}
	if a := guess(good, "2001:db8::ffff"); a.StatusCode != http.StatusOK || a.Header.Get("Retry-After") != "" {
		t.Errorf("a good one after the guesses: %s, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	for i := range 18 { // one guess and the good one have been looked up already
		if a := guess(fmt.Sprint("more", i), "2001:db8::1"); a.StatusCode != http.StatusTooManyRequests {
			t.Errorf("guess %d: %s", i+7, a.Status)
		}
	}
	if a := guess(d.newToken(journal.AccessModerate), "2001:db8::1"); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a good one that was never looked up, after 25 guesses: %s", a.Status)
	}
	if a := guess(good, "2001:db8::1"); a.StatusCode != http.StatusOK {
		t.Errorf("one that is known, after them: %s", a.Status)
	}
}

// A program whose token was revoked goes on with it; those who share its address come in all the same.
func TestOneRevokedTokenLocksNobodyOut(t *testing.T) {
	d := dash(t)
	revoked := bearing("revoked")
	for i := range 100 {
		if a := d.do("GET", "/api/v1/status", nil, revoked); a.StatusCode != http.StatusUnauthorized {
			t.Fatalf("time %d: %s", i+1, a.Status)
		}
	}
	for i := range 4 { // the fifth failure
		if a := d.do("GET", "/api/v1/status", nil, bearing(fmt.Sprint("guess", i))); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("guess %d: %s", i+1, a.Status)
		}
	}
	into[status](t, d.do("GET", "/api/v1/status", nil, bearing(d.newToken(journal.AccessView))))
	into[status](t, d.do("GET", "/api/v1/status", nil, header("Authorization", "bearer  "+token)))
	d.signedIn(map[string]string{"code": "good-code"})
	for i := range 5 {
		if a := d.do("POST", "/api/v1/session", map[string]string{"token": fmt.Sprint("guess", i)}); a.StatusCode != http.StatusUnauthorized {
			t.Errorf("sign-in %d: %s, as if a program's failures counted", i+1, a.Status)
		}
	}
	d.signedIn(map[string]string{"token": token})
	d.pass(wrongKept)
	if a := d.do("GET", "/api/v1/status", nil, revoked); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("later: %s", a.Status)
	}
}

func TestAStrangersForwardedAddressIsNotBelieved(t *testing.T) {
	d := dash(t)
	for i := range 6 {
		want := http.StatusUnauthorized
		if i == 5 {
			want = http.StatusTooManyRequests
		}
		if a := d.do("GET", "/api/v1/status", nil, bearing(fmt.Sprint("guess", i)), header("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))); a.StatusCode != want {
			t.Errorf("guess %d: %s", i+1, a.Status)
		}
	}
}

func TestTroubleKeepsTokensGood(t *testing.T) {
	d := dash(t)
	known, unknown := bearing(d.newToken(journal.AccessView)), bearing(d.newToken(journal.AccessModerate))
	into[status](t, d.do("GET", "/api/v1/status", nil, known))
	d.store.hide(fmt.Errorf("locked: /secret/path"))
	into[status](t, d.do("GET", "/api/v1/status", nil, known))
	into[status](t, d.do("GET", "/api/v1/status", nil, asOwner))
	a := d.do("GET", "/api/v1/status", nil, unknown)
	if a.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(a.body), "secret") {
		t.Errorf("one that can't be looked up: %s %s", a.Status, a.body)
	}
	d.store.hide(nil)
	into[status](t, d.do("GET", "/api/v1/status", nil, unknown))
}
