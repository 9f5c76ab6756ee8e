//go:build browser

package web

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// dashToClick runs a dashboard on which every page has something to click.
func dashToClick(t *testing.T) *dashboard {
	t.Helper()
	d := dash(t, withWebhooks(t), func(o *Options) {
		o.Login = &fakeLogin{}
		o.ExportPolicy = func(chatguard.Policy) ([]byte, error) { return []byte("mode = \"observe\"\n"), nil }
		o.Setup = func(string) (BotSetup, bool) {
			return BotSetup{Token: live.Valid, Account: "bot", Moderator: ModeratorYes, Since: time.Now()}, true
		}
	})
	d.say(spammer, 4)
	d.flush()
	for _, change := range []struct {
		path string
		body any
	}{
		{channelPath + "/users/42/notes", map[string]any{"text": "rude"}},
		{"/api/v1/tokens", map[string]any{"name": "berta", "role": "help"}},
		{"/api/v1/links", map[string]any{"name": "carl", "role": "help"}},
	} {
		if a := d.do("POST", change.path, change.body, asOwner); a.StatusCode >= 300 {
			t.Fatalf("%s: %s %s", change.path, a.Status, a.body)
		}
	}
	d.put(func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve })
	d.flush()
	return d
}

// openPage opens a page in a new window of a new dashboard.
func openPage(t *testing.T, address string) *browsertest.Window {
	t.Helper()
	w := dashToClick(t).open(1280, 900)
	w.visit("#/" + address)
	return w.Window
}

// openSignIn opens the sign-in page, with a way to sign in with Twitch.
func openSignIn(t *testing.T, _ string) *browsertest.Window {
	t.Helper()
	w := dashWithTwitchAt(t, "").openBlank(1280, 900)
	w.Must(chromedp.Navigate("http://" + w.address + "/"))
	w.See(`document.querySelector("#with-twitch")`)
	return w.Window
}

// openFirstRun opens the setup page. Its answers are refused, so it stays.
func openFirstRun(t *testing.T, _ string) *browsertest.Window {
	t.Helper()
	f := newFirstRun(t)
	f.err = &AnswerError{"no such channel"}
	code, err := f.tokens.NewSignInCode(t.Context(), auth.Identity{Name: "owner", Access: auth.Own}, 0)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(f.handler)
	t.Cleanup(site.Close)
	w := browsertest.Open(t, 1280, 900)
	w.Must(chromedp.Navigate(site.URL + "/#signin=" + code))
	w.See(`document.querySelector("#begin")`)
	return w
}

// openViewers opens the page of a viewer.
func openViewers(t *testing.T, _ string) *browsertest.Window {
	t.Helper()
	return dash(t, showViewers).openViewer(viewerOf(spammer), 1280, 900)
}

// TestClicks_DoubleIsOne clicks each control of the pages twice, 150 ms apart: nothing else happens
// than with one click. Among the controls are those that send the changes named here.
func TestClicks_DoubleIsOne(t *testing.T) {
	for _, page := range []struct {
		address string
		open    func(t *testing.T, address string) *browsertest.Window
		changes []string
	}{
		{"now", openPage, []string{"POST api/v1/channels/7/pause", "POST api/v1/channels/7/raid", "DELETE api/v1/session"}},
		{"limits", openPage, []string{"PUT api/v1/channels/7/policy", "PUT api/v1/channels/7/settings"}},
		{"people?user=42", openPage, []string{"POST api/v1/channels/7/users/42/ban", "POST api/v1/channels/7/users/42/grant", "DELETE api/v1/channels/7/users/42/notes/"}},
		{"journal", openPage, []string{"POST api/v1/journal/"}},
		{"audit", openPage, nil},
		{"admin", openPage, []string{"POST api/v1/links", "POST api/v1/tokens", "POST api/v1/webhooks", "PUT api/v1/channels/7/settings"}},
		{"sign-in", openSignIn, []string{"POST api/v1/session ", "POST api/v1/session/device"}},
		{"first run", openFirstRun, []string{"PUT api/v1/configuration"}},
		{"viewer", openViewers, []string{"DELETE api/v1/viewer"}},
	} {
		t.Run(page.address, func(t *testing.T) {
			runParallel(t)
			c := &crawl{T: t, address: page.address, seen: map[string]bool{}, open: func() *browsertest.Window { return page.open(t, page.address) }}
			c.run()
			for _, change := range page.changes {
				if !slices.ContainsFunc(c.changes, func(sent string) bool { return strings.HasPrefix(sent, change) }) {
					t.Errorf("no control sends %s, of %q", change, slices.Sorted(maps.Keys(c.seen)))
				}
			}
		})
	}
}

// TestClicks_NoteMovesList checks that a click does nothing, however late, if a note above the list
// has moved another row under the mouse. Once the mouse has moved, a click counts.
func TestClicks_NoteMovesList(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.throttleUsers(5)
	w.See(hasRows("user_4", 1) + `&& document.querySelectorAll(".row.arriving").length === 0`)
	point := browsertest.Eval[[2]float64](w.Window, `(({ x, y, width, height }) => [x + width / 2, y + height / 2])(document.getElementById("pardon-of-2").getBoundingClientRect())`)
	under := fmt.Sprintf(`document.elementFromPoint(%g, %g).closest("button").id`, point[0], point[1])
	at := time.Now()
	mouse := func(event input.DispatchMouseEventType, x float64, after time.Duration) {
		t.Helper()
		w.Must(chromedp.MouseEvent(event, x, point[1], chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1), func(p *input.DispatchMouseEventParams) {
			p.Timestamp = input.TimeSinceEpoch(float64(at.Add(after).UnixMicro()) / 1e6)
		}))
	}
	click := func(x float64, after time.Duration) (changed int) {
		t.Helper()
		mouse(input.DispatchMouseEventTypeMousePressed, x, after)
		mouse(input.DispatchMouseEventTypeMouseReleased, x, after)
		return browsertest.Await[int](w.Window, `import("/app/core/state.js").then(({ state }) => Object.keys(state.changes).length)`)
	}
	mouse(input.DispatchMouseEventTypeMouseMoved, point[0], 0)
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".database-note").style.height = getComputedStyle(document.documentElement).getPropertyValue("--user-row")`))
	w.See(under + ` === "pardon-of-3"`)
	for _, after := range []time.Duration{time.Millisecond, time.Second, time.Minute} {
		if n := click(point[0], after); n != 0 {
			t.Errorf("a click %s later changes %d users", after, n)
		}
	}
	mouse(input.DispatchMouseEventTypeMouseMoved, point[0]-100, time.Minute)
	mouse(input.DispatchMouseEventTypeMouseMoved, point[0], time.Minute)
	if n := click(point[0], time.Minute); n != 1 {
		t.Errorf("a click on purpose changes %d users", n)
	}
}

// TestClicks_AnswerMovesNothing checks that the answer to a click on the last row in sight scrolls
// nothing, and that it lies in its own row.
func TestClicks_AnswerMovesNothing(t *testing.T) {
	d := dash(t)
	d.throttleUsers(30)
	w := d.open(1400, 900)
	w.See(hasRows("user_29", 1) + `&& document.querySelectorAll(".row.arriving").length === 0`)
	last := browsertest.Eval[string](w.Window, `[...document.querySelectorAll(".acts > [id^=pardon-of-]")].find((button) => button.getBoundingClientRect().bottom > innerHeight).id`)
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`scrollBy(0, document.getElementById(%q).getBoundingClientRect().bottom + 2 - innerHeight)`, last)))
	before := browsertest.Eval[float64](w.Window, "scrollY")
	w.Click("#" + last)
	w.See(`document.querySelector(".of-answer .outcome")`)
	if after := browsertest.Eval[float64](w.Window, "scrollY"); after != before {
		t.Errorf("the answer scrolls the page from %g to %g", before, after)
	}
	if over := browsertest.Eval[float64](w.Window, `(() => {
		const answer = document.querySelector(".of-answer");
		return answer.getBoundingClientRect().bottom - answer.closest(".row").getBoundingClientRect().bottom;
	})()`); over > 6 {
		t.Errorf("the answer lies over the next row by %g pixels", over)
	}
}
