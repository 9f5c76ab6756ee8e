//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// hasText returns a script that is true if the page shows the text.
func hasText(text string) string { return fmt.Sprintf(`document.body.innerText.includes(%q)`, text) }

// elementHasText returns a script that is true if an element shows the text. found is the script
// that returns the element.
func elementHasText(found, text string) string {
	return found + `?.innerText.replace(/\s+/g, " ").includes(` + "`" + text + "`" + `)`
}

// hasRows returns a script that is true if the table has exactly n rows of the user.
func hasRows(user string, n int) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".row:not(.leaving) bdi")].filter((name) => name.textContent === %q).length === %d`, user, n)
}

func TestSignInLink_SignsIn(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.See(hasText("Nobody is throttled."))
	if address := browsertest.Eval[string](w.Window, "location.href"); address != "http://"+w.address+"/#/now" {
		t.Errorf("the address bar shows %s", address)
	}
	w.Must(chromedp.Reload())
	w.See(hasText("Nobody is throttled."))
	// the code is used, but the session lasts
	w.Must(chromedp.Navigate("about:blank"), chromedp.Navigate("http://"+w.address+"/#signin=good-code"))
	w.See(hasText("Nobody is throttled."))
}

// wantNoOverflow fails the test if the page is wider than the window.
func (w *window) wantNoOverflow() {
	w.Helper()
	w.See("document.documentElement.scrollWidth <= innerWidth") // once the page is laid out
}

// wantFit fails the test unless the page, in each width, is no wider than the window.
func (w *window) wantFit(widths ...int64) {
	w.Window.Helper()
	for _, width := range widths {
		w.Must(chromedp.EmulateViewport(width, 800))
		w.See(fmt.Sprintf("innerWidth === %d && document.documentElement.scrollWidth <= innerWidth", width))
	}
}

// TestPages_FitWindow resizes the window of each page.
func TestPages_FitWindow(t *testing.T) {
	d := dash(t, addLimits(t, everyAlgorithm...), func(o *Options) {
		o.Live.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: strings.Repeat("somechannel", 3)}, {ID: "8", Login: "another"}}
		}
		o.Live.Connections = func() []live.Connection {
			return []live.Connection{
				{Name: "Twitch", State: live.Disconnected, Detail: "Twitch can't be reached; trying again in 30 s"},
				{Name: "Helix", State: live.Low, Detail: "12 of 800 points left"},
				{Name: "Moon", State: "waxing"},
				{Name: "Token", State: live.Refused, Detail: "Twitch refused the token: run `chatguard login`"},
				{Name: "#gardenhour", State: live.Observing, Detail: "type `/mod chatguard_bot` in the chat of gardenhour"},
				{Name: "#gardenhour", State: live.Connected},
			}
		}
	})
	widths := []int64{320, 390, 700, 900, 979, 980, 1099, 1100, 1200, 1280, 1400, 1600, 1920}
	w := d.openBlank(1600, 800)
	w.Must(chromedp.Navigate("http://" + w.address + "/"))
	w.See(hasText("chatguard signin"))
	w.wantFit(widths...)
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
	w.See(hasText("Nobody is throttled"))
	w.wantFit(widths...)

	d.say(spammer, 4)
	if _, _, err := d.control.Users.Grant(t.Context(), auditTarget(spammer, "berta"), "daily", 5); err != nil {
		t.Fatal(err)
	}
	d.flush()
	for page, shown := range map[string]string{
		"now": ".rates .chart canvas", "limits": "#burst-0", "people?user=42": ".person .chart canvas", "journal": ".entries:not(.of-user) .entry", "audit": ".audit",
	} {
		w.Must(chromedp.EmulateViewport(1600, 800))
		w.visit("#/" + page)
		w.See(fmt.Sprintf(`document.querySelector(%q) && document.querySelectorAll("main h1.title").length === 1`, shown))
		w.wantFit(widths...)
	}

	w.visit("#/now")
	w.See(spammersRow)
	w.Click("header .status")
	w.See(`document.querySelector("#states").matches(":popover-open")`)
	w.wantFit(widths...)
	w.Accessible()
	w.wantFit(360)
	hidden := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".states .detail, .states code")].filter((e) => {
		const { left, top, right, bottom } = e.getBoundingClientRect();
		const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
		return left < 0 || right > innerWidth || !(e.contains(seen) || seen?.contains(e));
	}).map((e) => e.innerText)`)
	if len(hidden) > 0 {
		t.Errorf("at 360 px nobody can read %q", hidden)
	}
	w.Click("header .account") // closes the states
	w.See(`document.querySelector("#account").matches(":popover-open") && !document.querySelector("#states").matches(":popover-open")`)
	w.wantFit(widths...)
	w.Type(kb.Escape)
	w.See(`!document.querySelector("#account").matches(":popover-open") && document.activeElement.matches(".account")`)
	d.stop()
	w.See(isLost)
	w.wantFit(widths...)
}

// delayRequests delays the page's requests that match a pattern ("PUT", "GET .*/week") until
// release() is called on the page. Then the requests fail with the status, or continue if the
// status is 0.
func (w *window) delayRequests(requests string, status int) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const real = fetch, held = new Promise((go) => (window.release = () => { window.fetch = real; go(); }));
		window.fetch = async (address, options) => {
			if (!RegExp(%q).test(options?.method + " " + address)) return real(address, options);
			window.isHolding = true;
			await held;
			const answer = %d ? Response.json({ detail: "The database is failing." }, { status: %d }) : await real(address, options);
			setTimeout(() => (window.answered = true), 100);
			return answer;
		};
	}`, requests, status, status)))
}

func (w *window) releaseRequests() {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void]("release()"))
}
