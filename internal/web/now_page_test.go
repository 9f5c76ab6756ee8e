//go:build browser

package web

import (
	"fmt"
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
	"github.com/chatguard/chatguard/internal/web/live"
)

// TestNowPage_Accessible shows the page in its states, each as a phone or a large screen shows it,
// light or dark.
func TestNowPage_Accessible(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{
		Name: "tried", Algorithm: chatguard.UserWindow, Messages: 2, Every: time.Hour, Mode: chatguard.ModeObserve,
	}))
	d.noteStream(3*time.Hour, 2*time.Hour)
	d.recordFlood(floodAnna, d.now().Add(-150*time.Minute))
	d.flush()
	w := d.open(1600, 800)
	accessible := func(width int64, scheme string) {
		t.Helper()
		w.Prefer(map[string]string{"prefers-color-scheme": scheme})
		w.Must(chromedp.EmulateViewport(width, 800))
		w.See(fmt.Sprintf(`innerWidth === %d && (document.querySelector(".folded") !== null) === (innerWidth < 1360)`, width))
		w.openActivity()
		w.See(`document.querySelector(".chart")`)
		w.Accessible()
		w.wantNoOverflow()
	}
	w.See(hasText("Nobody is throttled.") + `&& document.querySelector(".card.summary")`)
	accessible(1600, "light")

	d.say(spammer, 4)
	d.say(chatguard.User{ID: "43", Login: "anna", DisplayName: "アンナ"}, 3)
	d.flush()
	w.See(spammersRow + "&&" + hasRows("アンナ", 1))
	w.TypeIn(".chart summary", kb.Enter) // the summary moves if the legend needs another line
	w.See(`document.querySelector(".chart tbody tr")`)
	accessible(1600, "dark")
	accessible(360, "light")

	for opener, scheme := range map[string]string{"menu": "dark", "around": "light"} {
		w.act(opener)
		w.See(question)
		if opener == "around" {
			w.See(`document.querySelectorAll(".around li").length > 3`)
		}
		accessible(360, scheme)
		w.press(kb.Escape, opener)
	}
	w.Must(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()")) // a row with the focus stays
	w.visit("#/now?tab=recent&show=failed")
	w.See(hasText("Nobody matches the filter."))
	accessible(360, "dark")
	w.visit("#/now")

	if _, err := d.control.Switches.Pause(t.Context(), channelID, "berta"); err != nil {
		t.Fatal(err)
	}
	d.breakDatabase(time.Minute)
	w.See(hasText("The database is failing") + "&&" + hasText("Paused by berta"))
	d.stop()
	w.See(isLost)
	accessible(1600, "light")
	accessible(360, "dark")
}

// TestNowPage_WaitFits checks that the wait of a row is never cut: the bar beside it is narrower
// then.
func TestNowPage_WaitFits(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{Name: "hour", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour}))
	w := d.open(1280, 900)
	d.say(spammer, 1)
	d.advance(27 * time.Second)
	d.say(spammer, 1)
	w.See(spammersRow)
	for _, width := range []int64{360, 979, 980, 1280, 1359, 1360, 1680, 1919, 1920} {
		w.Must(chromedp.EmulateViewport(width, 900))
		w.See(fmt.Sprintf(`innerWidth === %d`, width))
		cut := browsertest.Eval[string](w.Window, `(() => {
			const cell = document.querySelector(".row .may-speak"), text = cell.querySelector(".left");
			const isCut = text.scrollWidth > text.clientWidth || text.getBoundingClientRect().right > cell.getBoundingClientRect().right + 0.5;
			return isCut ? text.innerText : "";
		})()`)
		if cut != "" {
			t.Errorf("%d pixels: cut: %q", width, cut)
		}
	}
	w.Prefer(map[string]string{"prefers-reduced-motion": "reduce"})
	moving := browsertest.Eval[string](w.Window, `(() => {
		const style = getComputedStyle(document.querySelector(".row"));
		return style.transitionDuration + " " + style.animationDuration;
	})()`)
	if strings.Trim(moving, "0s, ") != "" {
		t.Errorf("with reduced motion, rows move for %s", moving)
	}
}

// TestNowPage_SwitchesMoveNothing checks that the list stays in place if somebody presses a switch.
func TestNowPage_SwitchesMoveNothing(t *testing.T) {
	var modes atomic.Pointer[journal.ChatModes]
	d := dash(t, func(o *Options) {
		o.Live.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: "somechannel", Modes: modes.Load()}}
		}
	})
	w := d.open(1400, 900)
	d.say(spammer, 4)
	d.flush()
	w.See(spammersRow)
	top := func() float64 {
		return browsertest.Eval[float64](w.Window, `document.querySelector(".row").getBoundingClientRect().top`)
	}
	do := func(method, path string, body any) {
		t.Helper()
		if a := d.do(method, channelPath+path, body, asOwner); a.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %s", method, path, a.Status, a.body)
		}
	}
	for _, width := range []int64{1400, 1280, 320} {
		w.Must(chromedp.EmulateViewport(width, 900))
		w.See(fmt.Sprintf(`innerWidth === %d && (document.querySelector(".folded") !== null) === (innerWidth < 1360) &&
			(document.querySelector(".now > .figures") === null) === (innerWidth < 980)`, width))
		before := top()
		do("POST", "/raid", nil)
		do("POST", "/pause", nil)
		modes.Store(&journal.ChatModes{EmoteMode: true})
		do("PATCH", "/modes", map[string]any{"emote_mode": true})
		w.See(`document.querySelectorAll(".switch-state").length === 3`)
		if after := top(); after != before {
			t.Errorf("%d pixels: raid mode and pause move the list from %g to %g", width, before, after)
		}
		if isCut := browsertest.Eval[bool](w.Window, `(() => {
			const line = document.querySelector(".switch-states").getBoundingClientRect();
			return [...document.querySelectorAll(".switch-state > span")].some((state) => state.getBoundingClientRect().bottom > line.bottom);
		})()`); isCut {
			t.Errorf("%d pixels: the states of the switches overflow their line", width)
		}
		modes.Store(nil)
		do("DELETE", "/raid", nil)
		do("POST", "/resume", nil)
		w.See(`document.querySelectorAll(".switch-state").length === 0`)
	}
}

// openActivity opens the figures and the chart if they are folded.
func (w *window) openActivity() {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](`{ const folded = document.querySelector(".folded"); if (folded) folded.open = true; }`))
	w.See(`document.querySelector(".figures")`)
}

// shownName returns a name as the page shows it: without what turns the text around it, and cut.
func shownName(name string) string {
	name = regexp.MustCompile(`[\x{202a}-\x{202e}\x{2066}-\x{2069}]`).ReplaceAllString(hostile.Clip(name, journal.MaxName), "")
	if short := hostile.Truncate(name, 50); short != name {
		return short + "…"
	}
	return name
}

func TestNowPage_HostileNamesStayInRow(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	names := []string{
		"\u200B\u200D\u2060\uFEFFanna",
		"ber\u202Eta\u2066\u2067",
		strings.Repeat("Z\u0351\u0353", 3000),
		strings.Repeat("gardenhour ", 900),
		`<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`,
		"\u202Egnp.exe\u202D مرحبا",
		strings.Repeat("W", 10_000),
		"{{constructor}} ${document.title='broken'} &amp; '\"",
	}
	for i, name := range names {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: name, DisplayName: name}, 4)
		w.See(hasRows(shownName(name), 1))
	}
	spilt := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".row > *")].filter((cell) => {
		const row = cell.parentElement.getBoundingClientRect(), own = cell.getBoundingClientRect();
		return own.left < row.left - 8 || own.right > row.right + 8 || own.bottom > row.bottom + 1 || own.top < row.top - 1;
	}).map((cell) => cell.className)`)
	if len(spilt) > 0 {
		t.Errorf("cells beside their row: %q", spilt)
	}
	w.See(fmt.Sprintf(`document.title === "(%d) Now · #somechannel · chatguard"`, len(names)))
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row img, .row script").length`); n != 0 {
		t.Errorf("names created %d elements", n)
	}
	w.wantNoOverflow()
	for i := range names {
		w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.getElementById("menu-of-%d").click()`, i)))
		w.See(question)
		w.choose("Exempt")
		w.See(question + `.innerText.includes("without limits")`)
		w.wantNoOverflow()
		w.choose("Cancel")
	}
}

// throttleUsers makes n users throttled.
func (d *dashboard) throttleUsers(n int) {
	d.Helper()
	for i := range n {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: fmt.Sprint("user_", i)}, 4)
	}
}

// TestNowPage_DrawsRowsLazily checks that the keyboard and scrolling reach rows that aren't drawn
// yet.
func TestNowPage_DrawsRowsLazily(t *testing.T) {
	const users = 1000
	d := dash(t)
	w := d.open(1600, 900)
	d.throttleUsers(users)
	w.See(`document.querySelector(".figures dd")?.textContent === "1,000"`)
	w.See(hasRows("user_999", 1))
	wantFew := func() {
		t.Helper()
		if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row").length`); n > 100 {
			t.Errorf("%d rows are drawn", n)
		}
	}
	isOn := func(control string, user int) string {
		return fmt.Sprintf(`document.activeElement.id === "%s-of-%d" && (({ top, bottom }) => top > 0 && bottom < innerHeight)(document.activeElement.getBoundingClientRect())`, control, user)
	}
	w.Must(chromedp.Evaluate[chromedp.Void](`document.getElementById("menu-of-999").focus()`))
	for i := range 30 { // far below the visible part
		w.Type(kb.ArrowDown)
		w.See(isOn("menu", users-2-i))
	}
	w.Type(kb.End)
	w.See(isOn("menu", 0))
	w.Type(kb.ArrowDown)
	w.See(isOn("menu", 0))
	w.Type(kb.Home)
	w.See(isOn("menu", users-1) + `&& !document.getElementById("name-of-0")`)
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".row:last-child a").focus()`))
	// the next row has been drawn
	w.See(`!document.activeElement.closest(".row").matches(":last-child")`)
	controls := browsertest.Eval[int](w.Window, `document.activeElement.closest(".row").querySelectorAll("a, button").length`)
	w.Type(strings.Repeat(kb.Tab, controls))
	w.See(`document.activeElement.id.startsWith("name-of-")`)
	wantFew()
	w.Must(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); scrollTo(0, document.body.scrollHeight)`))
	w.See(hasRows("user_0", 1))
	wantFew()
}

func TestNowPage_FocusSurvivesStorm(t *testing.T) {
	d := dash(t)
	w := d.open(1600, 900)
	d.throttleUsers(300)
	w.See(hasRows("user_299", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`document.getElementById("menu-of-290").focus()`))
	place := `document.querySelector('[data-user="290"]').style.transform`
	before := browsertest.Eval[string](w.Window, place)
	for i := range 900 {
		d.say(chatguard.User{ID: fmt.Sprint(2000 + i), Login: fmt.Sprint("new_", i)}, 4)
		if i%3 == 0 {
			d.say(chatguard.User{ID: fmt.Sprint(i % 300)}, 1)
		}
	}
	w.See(`document.querySelector(".figures dd")?.textContent === "1,200" && ` + hasRows("new_899", 1))
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "menu-of-290" {
		t.Errorf("the focus is on %q", focused)
	}
	if after := browsertest.Eval[string](w.Window, place); after != before {
		t.Errorf("the row has gone from %s to %s", before, after)
	}
	w.Type(kb.Enter)
	w.See(question)
}

// TestNowPage_Phone checks that four users are visible below the title, the switches and the tabs,
// that nothing covers the pages' links, and that a question fits.
func TestNowPage_Phone(t *testing.T) {
	d := dash(t)
	d.throttleUsers(30)
	w := d.open(390, 844)
	w.See(hasRows("user_29", 1))
	visible := browsertest.Eval[int](w.Window, `{
		const bottom = document.querySelector("nav").getBoundingClientRect().top;
		[...document.querySelectorAll(".row")].filter((row) => row.getBoundingClientRect().bottom <= bottom).length;
	}`)
	if visible < 4 {
		t.Errorf("%d users are visible", visible)
	}
	w.wantNoOverflow()
	small := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll("main :is(a, button, select, summary)")].filter((e) => {
		const { width, height } = e.getBoundingClientRect();
		return width < 24 || height < 24;
	}).map((e) => e.id || e.className || e.innerText)`)
	if len(small) > 0 {
		t.Errorf("targets smaller than 24 px: %q", small)
	}
	covered := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll("nav a")].filter((link) => {
		const { left, right, top, bottom } = link.getBoundingClientRect();
		return !link.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2)) || bottom - top < 40;
	}).map((link) => link.innerText)`)
	if len(covered) > 0 {
		t.Errorf("nobody can press %q", covered)
	}

	w.Must(chromedp.EmulateViewport(360, 640))
	w.See("innerHeight === 640")
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const row = document.querySelector('.row[data-index="5"]');
		row.scrollIntoView({ block: "end" });
		scrollBy(0, 60); // room for the first line
		row.querySelector(".acts button").click();
	}`))
	w.choose("Grant")
	w.See(`document.activeElement.name === "messages"`)
	w.See(question + `.getBoundingClientRect().bottom <= innerHeight`)
}
