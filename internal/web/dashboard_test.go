//go:build browser

package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/access"
	"github.com/chatguard/chatguard/internal/web/live"
)

// hasText returns a script that is true if the page shows the text.
func hasText(text string) string { return fmt.Sprintf(`document.body.innerText.includes(%q)`, text) }

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

func TestSignInLink_Used(t *testing.T) {
	w := dash(t).openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=old-code"))
	w.See(hasText("has been used or is too old"))
	if address := browsertest.Eval[string](w.Window, "location.hash"); strings.Contains(address, "old-code") {
		t.Errorf("the address bar shows %s", address)
	}
	w.Write("#token", "wrong")
	w.Press(".primary")
	w.See(hasText("This token is unknown, was revoked or has expired."))
	w.Write("#token", token+kb.Enter)
	w.See(hasText("Nobody is throttled."))
	w.signOut()
	w.See(hasText("chatguard signin"))
}

func TestNowPage_ThrottledUserAppearsAndLeaves(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(spammer, 3)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.See(hasRows("other", 1))
	w.See(hasRows("Spammer", 0))
	d.say(spammer, 1)
	w.See(hasRows("Spammer", 1))
	w.See(hasText("in 9 min ") + "&&" + hasText("deleting…"))
	d.advance(10 * time.Minute)
	w.See(hasText("Nobody is throttled."))
	w.See(hasText("6 messages in the last minute were fine, 2 were throttled."))
}

func TestNowPage_ObservedNotCounted(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{
		Name: "tried", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour, Mode: chatguard.Observe,
	}))
	w := d.open(360, 800)
	w.openActivity()
	if v := d.say(spammer, 2); !v.Allowed || !v.Observed {
		t.Fatalf("a limit that observes: %+v", v)
	}
	w.See(hasRows("Spammer", 1) + "&&" + hasText("Observed only") + "&&" + hasText("would be deleted"))
	figures := `[...document.querySelectorAll(".figures dd")].map((e) => e.textContent).slice(0, 2).join()`
	w.See(figures + `=== "0,1"`)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.See(hasRows("other", 1) + "&&" + figures + `=== "1,1"`)
	w.wantNoOverflow()

	d.advance(time.Hour)
	w.See(hasText("Nobody is throttled.") + "&&" + hasText("2 messages in the last minute were fine, 1 was throttled, 3 would have been throttled."))
}

func TestPage_Reconnects(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(spammer, 4)
	w.See(hasRows("Spammer", 1))
	d.stop()
	w.See(hasText("Connection lost."))
	w.See(hasRows("Spammer", 1)) // known rows stay
	d.start(d.opts)
	d.say(chatguard.User{ID: "43", Login: "meanwhile"}, 4)
	w.See(hasRows("meanwhile", 1) + "&&" + hasRows("Spammer", 0) + `&& !document.querySelector(".lost")`)
}

func TestPage_RevokedSessionShowsSignIn(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.store.revoke()
	w.See(hasText("chatguard signin"))
}

// shownName returns a name as the page shows it: without what turns the text around it, and cut.
func shownName(name string) string {
	name = regexp.MustCompile(`[\x{202a}-\x{202e}\x{2066}-\x{2069}]`).ReplaceAllString(hostile.Clip(name, journal.MaxName), "")
	if short := hostile.Truncate(name, 50); short != name {
		return short + "…"
	}
	return name
}

func TestNowPage_HostileNames(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	names := []string{
		`<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`,
		"\u202Egnp.exe\u202D مرحبا",
		strings.Repeat("W", 10_000),
		"{{constructor}} ${document.title='broken'} &amp; '\"",
	}
	for i, name := range names {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: name, DisplayName: name}, 4)
		w.See(hasRows(shownName(name), 1))
	}
	w.See(fmt.Sprintf(`document.title === "(%d) Now · #somechannel · chatguard"`, len(names)))
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row img, .row script").length`); n != 0 {
		t.Errorf("names created %d elements", n)
	}
	w.wantNoOverflow()
}

// wantNoOverflow fails the test if the page is wider than the window.
func (w *window) wantNoOverflow() {
	w.Helper()
	if wide := browsertest.Eval[int](w.Window, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		w.Errorf("the page is %d pixels wider than the window", wide)
	}
}

func TestPages_FitWindow(t *testing.T) {
	for _, width := range []int64{360, 700, 979, 980, 1600} {
		d := dash(t, func(o *Options) {
			o.Channels = func() []live.Channel {
				return []live.Channel{{ID: channelID, Login: strings.Repeat("somechannel", 3)}, {ID: "8", Login: "another"}}
			}
			o.Connections = func() []live.Connection {
				return []live.Connection{{Name: "Twitch", State: live.Disconnected, Detail: "Twitch can't be reached; trying again in 30 s"}}
			}
		})
		w := d.openBlank(width, 800)
		w.Must(chromedp.Navigate("http://" + w.address + "/"))
		w.See(hasText("chatguard signin"))
		w.wantNoOverflow()
		w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
		w.See(hasText("sees no messages"))
		w.wantNoOverflow()
		d.say(spammer, 4)
		w.See(hasRows("Spammer", 1))
		w.wantNoOverflow()
		w.goTo("limits")
		w.See(`document.querySelector("#burst-0")`)
		w.wantNoOverflow()
		d.stop()
		w.See(hasText("Connection lost."))
		w.wantNoOverflow()
	}
}

func TestPages_FitResizedWindow(t *testing.T) {
	d := dash(t, addLimits(t, everyAlgorithm...))
	d.say(spammer, 4)
	if _, _, err := d.control.Grant(t.Context(), auditTarget(spammer, "berta"), "daily", 5); err != nil {
		t.Fatal(err)
	}
	d.flush()
	w := d.open(1600, 800)
	for page, shown := range map[string]string{
		"now": ".rates .chart canvas", "limits": "#burst-0", "people?user=42": ".person .chart canvas", "journal": ".entries:not(.of-user) .entry", "audit": ".audit",
	} {
		w.Must(chromedp.EmulateViewport(1600, 800))
		w.visit("#/" + page)
		w.See(fmt.Sprintf("document.querySelector(%q)", shown))
		for _, width := range []int64{1280, 1200, 1100, 1000, 980, 900, 360} {
			w.Must(chromedp.EmulateViewport(width, 800))
			w.See(fmt.Sprintf("innerWidth === %d && document.documentElement.scrollWidth <= innerWidth", width))
		}
	}
}

func TestNowPage_DrawsRowsLazily(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.throttleUsers(5000)
	w.See(`document.querySelector(".figures dd").textContent === "5,000"`)
	w.See(hasRows("user_4999", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`))
	w.See(hasRows("user_0", 1))
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row").length`); n > 100 {
		t.Errorf("%d rows are drawn", n)
	}
}

func TestPages_PerChannel(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: "first"}, {ID: "8", Login: "second"}}
		}
	})
	w := d.open(1400, 900)
	d.say(spammer, 4)
	w.See(hasRows("Spammer", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`location.hash = "#/now?channel=8"`))
	w.See(hasText("Nobody is throttled.") + `&& document.querySelector("select").value === "8"`)
	w.goTo("limits")
	w.See(`location.hash === "#/limits?channel=8" && document.querySelector("#burst-0")`)
	w.Write("#burst-0", "5")
	w.Press(".finish .primary")
	w.See(hasText("Saved by anna"))
	if first, second := d.guard.ChannelPolicy(channelID).Limits[0].Burst, d.guard.ChannelPolicy("8").Limits[0].Burst; first != 3 || second != 5 {
		t.Errorf("bursts are %d and %d", first, second)
	}
}

func TestPages_ReducedMotion(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.Prefer(map[string]string{"prefers-reduced-motion": "reduce"})
	d.say(spammer, 4)
	w.See(hasRows("Spammer", 1))
	moving := browsertest.Eval[string](w.Window, `(() => {
		const style = getComputedStyle(document.querySelector(".row"));
		return style.transitionDuration + " " + style.animationDuration;
	})()`)
	if strings.Trim(moving, "0s, ") != "" {
		t.Errorf("rows move for %s", moving)
	}
}

func TestPages_UnderPath(t *testing.T) {
	d := dash(t)
	outer := http.Server{Handler: http.StripPrefix("/guard", d.server.Handler())}
	listener, err := access.Site{Listen: "127.0.0.1:0"}.Open()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- outer.Serve(listener) }()
	defer func() { outer.Close(); <-done }()
	w := d.openBlank(1400, 900)
	w.Must(chromedp.Navigate("http://" + listener.Addr().String() + "/guard/#signin=good-code"))
	d.say(spammer, 4)
	w.See(hasRows("Spammer", 1))
	w.Must(chromedp.Navigate("about:blank")) // its live feed ends
}

func TestPages_LateChannelAppears(t *testing.T) {
	var known atomic.Bool
	for _, page := range []string{"now", "limits"} {
		known.Store(false)
		d := dash(t, func(o *Options) {
			channels := o.Channels
			o.Channels = func() []live.Channel {
				if known.Load() {
					return channels()
				}
				return nil
			}
		})
		w := d.openBlank(1400, 900)
		w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
		w.See(hasText("Joining the channel on Twitch…") + "&&" + headerHasState("good", "Twitch connected"))
		w.goTo(page)
		known.Store(true)
		w.See(hasText("#somechannel") + "&&" + headerHasState("good", "Enforcing"))
		if page == "limits" {
			w.See(`document.querySelector("#burst-0")?.value === "3"`)
			w.goTo("now")
		}
		w.See(hasText("Nobody is throttled."))
	}
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

func TestSignOut_FailureShown(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.delayRequests("DELETE", http.StatusServiceUnavailable)
	w.signOut()
	w.releaseRequests()
	w.See(hasText("You are still signed in. The database is failing.") + "&&" + hasText("Nobody is throttled."))
	w.signOut()
	w.See(hasText("chatguard signin"))
}
