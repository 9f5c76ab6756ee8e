//go:build browser

package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/auth"
)

// A token that is typed starts a session, which lasts until the person signs out with the keys or
// the token is revoked.
func TestSignInPage_Token(t *testing.T) {
	d := dash(t)
	views := d.newToken(auth.View)
	w := d.openBlank(360, 800)
	w.Must(chromedp.Navigate("http://" + d.address + "/"))
	w.See(`document.querySelector("#token")`)
	w.Write("#token", "no such token"+kb.Enter)
	w.See(`document.querySelector("#token-error").textContent !== ""`)
	w.Accessible()
	w.Write("#token", views+kb.Enter)
	w.See(hasText("Nobody is throttled"))
	w.TypeIn(".account", kb.Enter)
	w.TypeIn("#sign-out", kb.Enter)
	w.waitForFocus("token")
	w.Write("#token", views+kb.Enter)
	w.See(hasText("Nobody is throttled"))
	w.Must(chromedp.Reload())
	w.See(hasText("may-view"))
	if _, err := d.store.Revoke(t.Context(), "may-view"); err != nil {
		t.Fatal(err)
	}
	w.See(`document.querySelector(".sign-in .banner")`)
}
