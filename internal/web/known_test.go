package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/journal"
)

// someone is who a known session belongs to.
var someone = journal.Holder{Name: "anna", Access: journal.AccessModerate}

func TestTroubleSignsNobodyOut(t *testing.T) {
	d := dash(t)
	c := d.signedIn(map[string]string{"code": "good-code"})
	is := func(when string, status int) {
		t.Helper()
		d.pass(lookUpPause)
		if a := d.do("GET", "/api/v1/status", nil, with(c)); a.StatusCode != status {
			t.Errorf("%s: %s %s", when, a.Status, a.body)
		}
	}
	d.store.hide(errors.New("locked"))
	is("in trouble", 200)
	if c := into[change](t, d.do("PUT", policyPath, d.guard.Policy(channelID), with(c), header("If-Match", "*"))); c.Author != "anna" {
		t.Errorf("in trouble, and changed by %s", c.Author)
	}
	d.pass(believed)
	is("in trouble for too long", 503)
	d.store.hide(nil)
	is("mended", 200)
	d.store.revoke()
	is("revoked", 401)
	d.store.hide(errors.New("locked"))
	is("revoked, and in trouble", 503)
}

func TestAStoreThatHangsIsWaitedForOnce(t *testing.T) {
	d := dash(t)
	c := d.signedIn(map[string]string{"code": "good-code"})
	d.store.hide(errors.New("locked"))
	asked := d.store.asked()
	for range 5 {
		into[status](t, d.do("GET", "/api/v1/status", nil, with(c)))
	}
	if n := d.store.asked() - asked; n != 1 {
		t.Errorf("asked %d times", n)
	}
	d.store.hide(nil)
	d.pass(lookUpPause)
	into[status](t, d.do("GET", "/api/v1/status", nil, with(c)))
	if n := d.store.asked() - asked; n != 2 {
		t.Errorf("mended, and asked %d times", n)
	}
}

func TestTroubleWithOneSessionLetsNobodyElseIn(t *testing.T) {
	d := dash(t)
	d.signedIn(map[string]string{"code": "good-code"})
	d.store.hide(errors.New("locked: /secret/path"))
	a := d.do("GET", "/api/v1/status", nil, header("Cookie", cookieName(&http.Request{Host: d.address})+"=guess"))
	if a.StatusCode != 503 || strings.Contains(string(a.body), "secret") {
		t.Errorf("a guess: %s %s", a.Status, a.body)
	}
}

func TestTheKnownAreBounded(t *testing.T) {
	var k known
	for i := range maxKnown + 1 {
		k.remember(fmt.Sprint(i), someone, noon, 0)
	}
	if _, ok := k.holder(fmt.Sprint(maxKnown), noon); ok || len(k.holders) != maxKnown {
		t.Errorf("%d are known", len(k.holders))
	}
	later := noon.Add(believed)
	k.remember("later", someone, later, 0)
	if who, ok := k.holder("later", later); !ok || who != someone || len(k.holders) != 1 {
		t.Errorf("later %d are known", len(k.holders))
	}
}

// Only who was known has left: unknown sessions, sent in masses, keep nobody from being remembered.
func TestUnknownSessionsEndNothing(t *testing.T) {
	d := dash(t)
	c := d.signedIn(map[string]string{"code": "good-code"})
	known := &d.server.access.sessions.known
	before := known.endings()
	if a := d.do("GET", "/api/v1/status", nil, with(&http.Cookie{Name: c.Name, Value: "guess"})); a.StatusCode != 401 || known.endings() != before {
		t.Errorf("a guess: %s, and %d have ended", a.Status, known.endings()-before)
	}
	d.store.revoke()
	if a := d.do("GET", "/api/v1/status", nil, with(c)); a.StatusCode != 401 || known.endings() != before+1 {
		t.Errorf("one that was revoked: %s, and %d have ended", a.Status, known.endings()-before)
	}
}

func TestWrongSecretsAreBounded(t *testing.T) {
	var s wrongSecrets
	for i := range maxWrong + 1 {
		s.remember("192.0.2.1", fmt.Sprint(i), errToken(), noon)
	}
	if len(s.refused) != maxWrong || s.refusal("192.0.2.1", "0", noon) == nil || s.refusal("192.0.2.2", "0", noon) != nil {
		t.Errorf("%d are remembered", len(s.refused))
	}
	later := noon.Add(wrongKept)
	s.remember("192.0.2.1", "later", errToken(), later)
	if len(s.refused) != 1 || s.refusal("192.0.2.1", "later", later) == nil {
		t.Errorf("later %d are remembered", len(s.refused))
	}
}

// Whoever was asked about before a session ended may be the one who has left.
func TestWhoHasLeftIsNotRemembered(t *testing.T) {
	var k known
	asked := k.endings()
	k.forget("anna's")
	k.remember("anna's", someone, noon, asked)
	if who, ok := k.holder("anna's", noon); ok {
		t.Errorf("%s is still known", who.Name)
	}
	k.remember("anna's", someone, noon, k.endings())
	if _, ok := k.holder("anna's", noon); !ok {
		t.Error("who has come back isn't known")
	}
}
