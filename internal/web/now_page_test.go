//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestNowPage_Accessible(t *testing.T) {
	for _, width := range []int64{360, 1600} {
		for _, scheme := range []string{"light", "dark"} {
			d := dash(t, addLimits(t, chatguard.Limit{
				Name: "tried", Algorithm: chatguard.UserWindow, Messages: 2, Every: time.Hour, Mode: chatguard.Observe,
			}))
			w := d.open(width, 800)
			w.Prefer(map[string]string{"prefers-color-scheme": scheme})
			w.See(hasText("Nobody is throttled."))
			w.openActivity()
			w.See(`document.querySelector(".chart")`)
			w.Accessible()

			d.say(spammer, 4)
			d.say(chatguard.User{ID: "43", Login: "anna", DisplayName: "アンナ"}, 3)
			w.See(spammersRow + "&&" + hasRows("アンナ", 1))
			w.TypeIn(".chart summary", kb.Enter) // the summary moves if the legend needs another line
			w.See(`document.querySelector(".chart tbody tr")`)
			w.Accessible()

			for _, opener := range []string{"menu", "around"} {
				w.act(opener)
				w.See(question)
				if opener == "around" {
					w.See(`document.querySelectorAll(".around li").length > 3`)
				}
				w.Accessible()
				w.wantNoOverflow()
				w.press(kb.Escape, opener)
			}

			d.breakDatabase(time.Minute)
			w.See(hasText("The database is failing"))
			w.Accessible()
			d.stop()
			w.See(hasText("Connection lost."))
			w.Accessible()
			w.wantNoOverflow()
		}
	}
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
	for _, width := range []int64{360, 979, 980, 1280, 1359, 1360, 1679, 1680} {
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
}

// openActivity opens the figures and the chart if they are folded.
func (w *window) openActivity() {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](`{ const folded = document.querySelector(".folded"); if (folded) folded.open = true; }`))
	w.See(`document.querySelector(".figures")`)
}

// figure returns a script for the number with that label on the page.
func figure(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".figures div")].find((f) => f.querySelector("dt").innerText === %q)?.querySelector("dd").innerText`, name)
}

// An observed message does not count as throttled, whether the channel only observes or the limit
// does.
func TestNowPage_ObservedIsNotThrottled(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{Name: "tried", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour, Mode: chatguard.Observe}))
	w := d.open(360, 800)
	w.openActivity()
	for i := range 5 {
		d.say(chatguard.User{ID: fmt.Sprint(i)}, 3)
	}
	w.See(figure("Observed only") + ` === "5" && parseFloat(` + figure("Messages per second") + ") > 0 && " + figure("Throttled per second") + ` === "0.0"`)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	for i := range 5 {
		d.say(chatguard.User{ID: fmt.Sprint(i)}, 3)
	}
	w.See("!" + figure("Throttled per second") + " && parseFloat(" + figure("Would be throttled per second") + ") > 0")
	w.wantNoOverflow()
}

func TestNowPage_BidiNamesStayInRow(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	names := []string{"\u200B\u200D\u2060\uFEFFanna", "ber\u202Eta\u2066\u2067", strings.Repeat("Z\u0351\u0353", 3000), strings.Repeat("gardenhour ", 900)}
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

func TestNowPage_KeyboardReachesUndrawnRows(t *testing.T) {
	d := dash(t)
	w := d.open(1600, 900)
	d.throttleUsers(5000)
	w.See(`document.querySelector(".figures dd")?.textContent === "5,000"`)
	w.See(hasRows("user_4999", 1))
	isOn := func(control string, user int) string {
		return fmt.Sprintf(`document.activeElement.id === "%s-of-%d" && (({ top, bottom }) => top > 0 && bottom < innerHeight)(document.activeElement.getBoundingClientRect())`, control, user)
	}
	w.Must(chromedp.Evaluate[chromedp.Void](`document.getElementById("menu-of-4999").focus()`))
	for i := range 60 { // far below the visible part
		w.Type(kb.ArrowDown)
		w.See(isOn("menu", 4998-i))
	}
	w.Type(kb.End)
	w.See(isOn("menu", 0))
	w.Type(kb.ArrowDown)
	w.See(isOn("menu", 0))
	w.Type(kb.Home)
	w.See(isOn("menu", 4999) + `&& !document.getElementById("name-of-0")`)
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".row:last-child a").focus()`))
	// the next row has been drawn
	w.See(`!document.activeElement.closest(".row").matches(":last-child")`)
	controls := browsertest.Eval[int](w.Window, `document.activeElement.closest(".row").querySelectorAll("a, button").length`)
	w.Type(strings.Repeat(kb.Tab, controls))
	w.See(`document.activeElement.id.startsWith("name-of-")`)
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".row").length`); n > 100 {
		t.Errorf("%d rows are drawn", n)
	}
}

func TestNowPage_FocusSurvivesStorm(t *testing.T) {
	d := dash(t)
	w := d.open(1600, 900)
	d.throttleUsers(1000)
	w.See(hasRows("user_999", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`document.getElementById("menu-of-990").focus()`))
	place := `document.querySelector('[data-user="990"]').style.transform`
	before := browsertest.Eval[string](w.Window, place)
	for i := range 3000 {
		d.say(chatguard.User{ID: fmt.Sprint(2000 + i), Login: fmt.Sprint("new_", i)}, 4)
		if i%3 == 0 {
			d.say(chatguard.User{ID: fmt.Sprint(i % 1000)}, 1)
		}
	}
	w.See(`document.querySelector(".figures dd")?.textContent === "4,000" && ` + hasRows("new_2999", 1))
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "menu-of-990" {
		t.Errorf("the focus is on %q", focused)
	}
	if after := browsertest.Eval[string](w.Window, place); after != before {
		t.Errorf("the row has gone from %s to %s", before, after)
	}
	w.Type(kb.Enter)
	w.See(question)
}

func TestNowPage_RowsMatchFigures(t *testing.T) {
	d := dash(t)
	w := d.open(1600, 900)
	d.throttleUsers(30)
	w.See(`document.querySelector(".figures dd")?.textContent === "30"`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		window.differences = [];
		const look = () => {
			const shown = Number(document.querySelector(".figures dd").textContent), drawn = document.querySelectorAll(".row:not(.leaving)").length;
			if (shown !== drawn || document.querySelector(".users")?.innerText.includes("in 0 s")) window.differences.push([shown, drawn]);
		};
		new MutationObserver(look).observe(document.getElementById("app"), { childList: true, subtree: true, characterData: true });
	}`))
	d.advance(10*time.Minute - 2*time.Second) // they leave one by one, in order of arrival
	w.See(hasText("Nobody is throttled."))
	if differ := browsertest.Eval[[][]int](w.Window, "window.differences"); len(differ) > 0 {
		t.Errorf("shown and drawn: %v", differ)
	}
}

func TestNowPage_HidesOutdatedFigures(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.See(hasText("Nobody is throttled."))
	d.stop()
	w.See(hasText("No data since") + "&& !" + hasText("Nobody is throttled"))
	d.start(d.opts)
	w.See(isBack + "&&" + hasText("Nobody is throttled."))

	d.say(spammer, 4)
	w.See(spammersRow)
	d.stop()
	w.See(isLost)
	w.Must(chromedp.Evaluate[chromedp.Void](`{ const real = Date.now; Date.now = () => real() + 3_600_000; }`))
	w.goTo("people") // and back, so that everything is redrawn
	w.See(`!document.querySelector(".users")`)
	w.goTo("now")
	w.See(`document.querySelector(".users, .list .nobody")`)
	if isKept := browsertest.Eval[bool](w.Window, spammersRow+`?.closest(".stale") != null`); !isKept {
		t.Error("by the browser's clock alone, the spammer may write again")
	}
}

func TestNowPage_QuestionFitsPhone(t *testing.T) {
	d := dash(t)
	d.throttleUsers(20)
	w := d.open(360, 640)
	w.See(hasRows("user_19", 1))
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

// tab returns a script for the number in a tab: 0 is who is held back now, 1 the last 10 minutes.
func tab(i int) string {
	return fmt.Sprintf(`document.querySelectorAll(".tab-count")[%d]?.textContent`, i)
}

// Someone who may write again stays in the second tab, with the message that was throttled.
func TestNowPage_RecentStays(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	vip := chatguard.User{ID: "43", Login: "berta", Color: "#0000ff", Roles: chatguard.RolesOf(chatguard.VIP, chatguard.Subscriber)}
	d.say(vip, 4)
	w.See(tab(0) + `=== "1" && ` + tab(1) + `=== "1"`)
	row := `document.querySelector('.row[data-user="43"]:not(.leaving)')`
	w.See(elementHasText(row, "vip: subscriber: berta") + "&&" + elementHasText(row, "hello everyone") + `&& getComputedStyle(` + row + `.querySelector(".name")).color !== "rgb(0, 0, 0)"`)
	moderator := vip
	moderator.Roles = chatguard.RolesOf(chatguard.Moderator)
	d.say(moderator, 1)
	w.See(tab(0) + `=== "0" && ` + hasText("Nobody is throttled.") + "&& !" + row)
	w.Must(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".nobody a")].find((a) => a.innerText === "1 in the last 10 minutes").click()`))
	w.See(elementHasText(row, "s ago") + `&& location.hash === "#/now?tab=recent"`)
	w.Accessible()
	d.advance(live.Recent)
	w.See(hasText("Nobody was throttled in the last 10 minutes.") + "&& !" + row)
}

// The order and the filter are in the address bar.
func TestNowPage_SortAndFilter(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{Name: "tried", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour, Mode: chatguard.Observe}))
	entries := map[string]chatguard.EntryID{}
	for i, name := range []string{"berta", "anna", "clara"} {
		user := chatguard.User{ID: fmt.Sprint(i), Login: name}
		entries[name] = d.say(user, 4+i*i).EntryID
	}
	d.say(chatguard.User{ID: "9", Login: "observed"}, 2)
	report := func(name string, action chatguard.Action, result journal.Result) {
		d.server.Report(journal.Outcome{Entry: entries[name], At: d.now(), Action: action, Result: result, Reason: "because"})
	}
	report("berta", chatguard.Timeout, journal.Done)
	report("anna", chatguard.Delete, journal.Failed)
	report("clara", chatguard.Delete, journal.Done)
	w := d.open(1400, 900)
	order := func(want string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".row:not(.leaving)")].sort((a, b) => a.dataset.index - b.dataset.index).map((row) => row.querySelector(".name").textContent).join() === %q`, want)
	}
	choose := func(label, option string) {
		w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
			const choice = document.querySelector('select[aria-label="%s"]');
			choice.value = [...choice.options].find((o) => o.text === "%s").value;
			choice.dispatchEvent(new Event("change", { bubbles: true }));
		}`, label, option)))
	}
	w.See(order("observed,clara,anna,berta"))
	choose("Order", "By name")
	w.See(order("anna,berta,clara,observed") + `&& location.hash === "#/now?sort=name"`)
	choose("Order", "Most throttled")
	w.See(order("clara,anna,observed,berta") + "||" + order("clara,anna,berta,observed"))
	choose("Order", "Newest first")
	for show, want := range map[string]string{"Timed out or banned": "berta", "Failed": "anna", "Observed only": "observed"} {
		choose("Show", show)
		w.See(order(want))
	}
	choose("Show", "Everyone")
	choose("Limit", "tried")
	w.See(order("observed") + `&& location.hash === "#/now?limit=tried"`)
	choose("Show", "Failed")
	w.See(hasText("Nobody matches the filter."))
	w.Accessible()
	w.Must(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".nobody button")].find((b) => b.innerText === "Show all").click()`))
	w.See(order("observed,clara,anna,berta") + `&& location.hash === "#/now"`)
	failed := `document.querySelector('.row[data-user="1"] .chip')`
	w.See(elementHasText(failed, "delete failed") + `&& ` + failed + `.matches(".failed") && ` + failed + `.querySelector("svg")`)
	w.visit("#/now?tab=recent&sort=strikes&show=nonsense&limit=gone")
	w.See(hasText("Nobody matches the filter."))
}

// The message is a button that shows what was said around it.
func TestNowPage_MessagesAround(t *testing.T) {
	for _, width := range []int64{360, 1400} {
		d := dash(t)
		w := d.open(width, 800)
		d.sayText(chatguard.User{ID: "7", Login: "anna"}, "before <b>it</b>")
		for range 4 {
			d.sayText(spammer, "buy this")
		}
		d.sayText(chatguard.User{ID: "7", Login: "anna"}, "after")
		w.See(spammersRow)
		w.Must(chromedp.Evaluate[chromedp.Void](findControl("around") + ".focus()"))
		w.press(kb.Enter, "first")
		said := `[...document.querySelectorAll(".around li")].map((li) => li.querySelector(".line").innerText.trim()).join("|")`
		w.See(said + `=== "anna: before <b>it</b>|Spammer: buy this|Spammer: buy this|Spammer: buy this|Spammer: buy this|anna: after"`)
		w.See(`document.querySelector(".around .asked .chip").innerText === "throttled" && document.querySelectorAll(".around .chip").length === 1`)
		w.wantNoOverflow()
		w.Accessible()
		w.press(kb.Escape, "around")
		w.See("!" + question)
		d.advance(live.Recent - time.Minute)
		d.sayText(chatguard.User{ID: "7", Login: "anna"}, "much later")
		d.advance(2 * time.Minute)
	}
}

// A viewer may look at the messages around, too.
func TestNowPage_MessagesAroundForViewers(t *testing.T) {
	d := dash(t)
	w := d.openAs("clara", auth.View, 1400, 900)
	d.say(spammer, 4)
	w.act("around")
	w.See(`document.querySelectorAll(".around li").length === 4`)
	w.Accessible()
}

// On a phone, four users are visible below the title, the switches and the tabs.
func TestNowPage_FourUsersOnPhone(t *testing.T) {
	d := dash(t)
	d.throttleUsers(6)
	w := d.open(390, 844)
	w.See(`document.querySelectorAll(".row").length === 6`)
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
}
