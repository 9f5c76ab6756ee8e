//go:build browser

package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/dashboard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

func init() { stopBrowser = browsertest.Stop }

func pageShows(text string) string { return fmt.Sprintf(`document.body.innerText.includes(%q)`, text) }

// goTo clicks the link to a page.
func goTo(w *browsertest.Window, page string) {
	w.Helper()
	w.Click(fmt.Sprintf(`header nav a[href^="#/%s"]`, page))
}

func TestPage_PartOfTheSite(t *testing.T) {
	p := start(t, newPath(t))
	s := newSite(t, p.guard, dashboard.Options{Store: p.store})
	w := browsertest.Open(t, 1400, 900)
	w.Must(chromedp.Navigate(s.http.URL + mount)) // the mux adds the slash
	const elsewhere = "Sign in to the surrounding site, then reload this page."
	w.See(pageShows(elsewhere) + `&& !document.querySelector("form, input, button")`)
	w.Accessible()

	w.Must(chromedp.Navigate(s.http.URL + "/login/anna"))
	w.See(pageShows("No messages yet."))
	s.say("spammer", 2)
	w.See(pageShows("#"+room) + "&&" + pageShows("spammer") + "&&" + pageShows("blocked"))
	if browsertest.Eval[bool](w, pageShows("Sign out")) {
		t.Error("it offers to sign out")
	}
	goTo(w, "limits")
	w.See(pageShows("Same as the server’s code."))
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(pageShows("Saved by anna"))
	if burst := p.guard.ChannelPolicy(room).Limits[0].Burst; burst != 5 {
		t.Errorf("the burst is %d", burst)
	}
	const rates = `performance.getEntriesByType("resource").filter(({ name }) => name.includes("/rates")).length`
	before := browsertest.Eval[int](w, rates)
	for _, page := range []string{"people", "journal", "audit", "now"} {
		goTo(w, page)
	}
	if at := browsertest.Eval[string](w, "location.href"); !strings.HasPrefix(at, s.http.URL+mount+"/#") {
		t.Errorf("the page is at %s", at)
	}

	w.See(rates + " > " + fmt.Sprint(before)) // no other request is due soon
	w.Must(chromedp.Evaluate[chromedp.Void](`new MutationObserver(() => (window.asked ||= document.querySelector("#token") !== null))
		.observe(document.body, { childList: true, subtree: true })`))
	s.revoke("anna")
	w.See(pageShows(elsewhere) + `&& !document.querySelector("form, input, button")`)
	if browsertest.Eval[bool](w, "window.asked === true") {
		t.Error("it has asked for a token")
	}
	w.Must(chromedp.Navigate(s.http.URL + "/login/ben"))
	w.See(pageShows("All good"))
	goTo(w, "limits")
	w.See(`document.querySelector("#burst-0")`)
	if browsertest.Eval[bool](w, `!!document.querySelector(".finish .primary")`) {
		t.Error("who only views may save limits")
	}
	w.Must(chromedp.Navigate("about:blank"))
}
