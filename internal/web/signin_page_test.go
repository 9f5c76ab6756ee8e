//go:build browser

package web

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/auth"
)

func TestSignInPage_Token(t *testing.T) {
	d := dash(t)
	views, checks := d.newToken(auth.View), d.newToken(auth.Check)
	w := d.openBlank(360, 800)
	w.Must(chromedp.Navigate("http://" + d.address + "/"))
	w.See(hasText("chatguard signin"))
	w.See(`document.querySelector(".sign-in input[autocomplete=username]") && document.querySelector(".sign-in h1")`) // for password managers
	w.Accessible()
	for token, answer := range map[string]string{
		"no such token": "This token is unknown, was revoked or has expired.",
		checks:          "This token doesn't open the dashboard.",
	} {
		w.Write("#token", token)
		w.Press(".sign-in button")
		w.See(hasText(answer))
	}
	if a := d.do("GET", "/api/v1/session", nil); a.StatusCode != 401 {
		t.Errorf("without signing in: %s", a.Status)
	}
	w.Must(chromedp.Reload())
	w.See(hasText("chatguard signin")) // the check token has started no session
	w.Write("#token", views)
	w.Press(".sign-in button")
	w.See(hasText("Nobody is throttled"))
	w.See(hasText("may-view"))
	const why = "Signed out: your link or token was revoked or has expired. Sign in again."
	w.See("!" + hasText(why))
	if _, err := d.store.Revoke(context.Background(), "may-view"); err != nil {
		t.Fatal(err)
	}
	w.See(hasText(why))
	w.Accessible()
	w.Write("#token", "no such token")
	w.Press(".sign-in button")
	w.See(hasText("This token is unknown, was revoked or has expired.") + "&& !" + hasText(why))
}

func TestSignInPage_AfterSignOut(t *testing.T) {
	w := dash(t).open(360, 800)
	w.See(`document.title === "Now · #somechannel · chatguard"`)
	w.TypeIn(".account", kb.Enter)
	w.TypeIn("#sign-out", kb.Enter)
	w.See(`document.activeElement.id === "token" && document.title === "Sign in · chatguard"`)
	w.Accessible()
}
