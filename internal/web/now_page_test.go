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
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

func TestNowPage_Accessible(t *testing.T) {
	for _, width := range []int64{360, 1600} {
		for _, scheme := range []string{"light", "dark"} {
			d := dash(t, addLimits(t, chatguard.Limit{
				Name: "tried", Algorithm: chatguard.UserWindow, Messages: 2, Every: time.Hour, Mode: chatguard.Observe,
			}))
			w := d.open(width, 800)
			w.Prefer(map[string]string{"prefers-color-scheme": scheme})
			w.See(hasText("Nobody is throttled.") + `&& document.querySelector(".chart")`)
			w.Accessible()

			d.say(spammer, 4)
			d.say(chatguard.User{ID: "43", Login: "anna", DisplayName: "アンナ"}, 3)
			w.See(spammersRow + "&&" + hasRows("アンナ", 1))
			w.TypeIn("summary", kb.Enter) // the summary moves if the legend needs another line
			w.See(`document.querySelector(".chart tbody tr")`)
			w.Accessible()

			opener := "menu"
			if width == 1600 {
				opener = "exempt"
			}
			w.act(opener)
			w.See(question)
			w.Accessible()
			w.press(kb.Escape, opener)

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

// figure returns a script for the number with that label on the page.
func figure(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".figures div")].find((f) => f.querySelector("dt").innerText === %q)?.querySelector("dd").innerText`, name)
}

// An observed message does not count as throttled, whether the channel only observes or the limit
// does.
func TestNowPage_ObservedIsNotThrottled(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{Name: "tried", Algorithm: chatguard.UserWindow, Messages: 1, Every: time.Hour, Mode: chatguard.Observe}))
	w := d.open(360, 800)
	for i := range 5 {
		d.say(chatguard.User{ID: fmt.Sprint(i)}, 3)
	}
	w.See(figure("observed only") + ` === "5" && parseFloat(` + figure("messages per second") + ") > 0 && " + figure("throttled per second") + ` === "0.0"`)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	for i := range 5 {
		d.say(chatguard.User{ID: fmt.Sprint(i)}, 3)
	}
	w.See("!" + figure("throttled per second") + " && parseFloat(" + figure("would be throttled per second") + ") > 0")
	w.wantNoOverflow()
}

func TestNowPage_BidiNamesStayInRow(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	names := []string{"\u200B\u200D\u2060\uFEFFanna", "ber\u202Eta\u2066\u2067", strings.Repeat("Z\u0351\u0353", 3000), strings.Repeat("gardenhour ", 900)}
	for i, name := range names {
		d.say(chatguard.User{ID: fmt.Sprint(i), Login: name, DisplayName: name}, 4)
		w.See(hasRows(hostile.Clip(name, journal.MaxName), 1))
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
	w.Must(chromedp.Evaluate[chromedp.Void](`document.getElementById("grant-of-4999").focus()`))
	for i := range 60 { // far below the visible part
		w.Type(kb.ArrowDown)
		w.See(isOn("grant", 4998-i))
	}
	w.Type(kb.End)
	w.See(isOn("grant", 0))
	w.Type(kb.ArrowDown)
	w.See(isOn("grant", 0))
	w.Type(kb.Home)
	w.See(isOn("grant", 4999) + `&& !document.getElementById("name-of-0")`)
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
	w.Must(chromedp.Evaluate[chromedp.Void](`document.getElementById("grant-of-990").focus()`))
	place := `document.querySelector('[data-user="990"]').style.transform`
	before := browsertest.Eval[string](w.Window, place)
	for i := range 3000 {
		d.say(chatguard.User{ID: fmt.Sprint(2000 + i), Login: fmt.Sprint("new_", i)}, 4)
		if i%3 == 0 {
			d.say(chatguard.User{ID: fmt.Sprint(i % 1000)}, 1)
		}
	}
	w.See(`document.querySelector(".figures dd")?.textContent === "4,000" && ` + hasRows("new_2999", 1))
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "grant-of-990" {
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
	w.See(`document.querySelector(".users, .nobody")`)
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
