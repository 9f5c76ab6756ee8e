//go:build browser

package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

// hasEntries returns a script that is true if the journal shows exactly n rows that contain the
// text.
func hasEntries(n int, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".entries .entry")].filter((row) => row.textContent.includes(%q)).length === %d`, text, n)
}

// pick chooses a value from a drop-down list as a person does.
func (w *window) pick(list, value string) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](isPicked(list, value)))
}

func isPicked(list, value string) string {
	return fmt.Sprintf(`{
		const list = document.querySelector(%q);
		list.value = %q;
		list.dispatchEvent(new Event("change", { bubbles: true }));
	}`, list, value)
}

func TestJournalPage_Filters(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 3)
	d.say(teahouse, 3)
	d.reportOutcome(d.write(gardenhour, "one more"), journal.Failed, "the bot is no moderator here")
	d.reportOutcome(d.write(teahouse, "and another"), journal.Done, "")
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(1, "delete failed the bot is no moderator here") + "&&" + hasEntries(1, "and another") + "&&" + hasEntries(2, "burst"))

	w.Click("#only-failures")
	w.See(`location.hash === "#/journal?result=failed" &&` + hasEntries(1, "gardenhour") + "&&" + hasEntries(0, "teahouse"))
	w.See(`document.querySelector("#filter-result").value === "failed"`)
	w.Write("#filter-name", "teahouse"+kb.Enter)
	w.See(`location.hash === "#/journal?name=teahouse&result=failed" &&` + hasText("No throttled messages match these filters."))
	// back to before the last choice; what was typed is no step of the history
	w.Must(chromedp.Evaluate[chromedp.Void]("history.back()"))
	w.See(`location.hash === "#/journal" && document.querySelector("#filter-name").value === "" && !document.querySelector("#only-failures").checked`)
	w.See(hasEntries(1, "gardenhour") + "&&" + hasEntries(1, "teahouse"))

	w.pick("#filter-limit", "daily")
	w.See(`location.hash === "#/journal?limit=daily" &&` + hasText("No throttled messages match these filters."))
	// all at once
	w.Must(chromedp.Evaluate[chromedp.Void](isPicked("#filter-limit", "") + isPicked("#filter-action", "delete") + isPicked("#filter-result", "done")))
	w.See(`location.hash === "#/journal?action=delete&result=done" &&` + hasEntries(1, "teahouse") + "&&" + hasEntries(0, "gardenhour"))
	w.visit("#/journal?user=72&action=delete") // as from a link that somebody sent
	w.See(hasEntries(1, "teahouse") + "&&" + hasEntries(0, "gardenhour") + `&& document.querySelector("#filter-action").value === "delete"`)
	w.Click(".entry .user a")
	w.See(`location.hash === "#/people?user=72"`)
}

func TestJournalPage_Export(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 4)
	d.flush()
	w := d.open(1400, 900)
	w.visit("#/journal?user=gardenhour")
	w.See(hasEntries(1, "gardenhour") + "&&" + hasEntries(0, "teahouse"))
	table := browsertest.Eval[string](w.Window, `(() => {
		const link = document.querySelector(".export");
		const question = new XMLHttpRequest();
		question.open("GET", link.href, false);
		question.send();
		return link.hasAttribute("download") + " " + question.getResponseHeader("Content-Type") + "\n" + question.responseText;
	})()`)
	if !strings.HasPrefix(table, "true text/csv") || !strings.Contains(table, "gardenhour") || strings.Contains(table, "teahouse") {
		t.Errorf("exported: %s", table)
	}
}

func TestJournalPage_NewEntriesOnDemand(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasText("No throttled messages yet."))
	first := d.say(gardenhour, 4)
	w.See(hasEntries(1, "gardenhour") + "&&" + hasEntries(1, "deleting…")) // shown at once: the page was empty
	d.reportOutcome(first, journal.Failed, "Twitch said no")
	d.say(teahouse, 5)
	w.See(hasText("Show 2 new") + "&&" + hasEntries(0, "teahouse") + "&&" + hasEntries(1, "delete failed Twitch said no"))
	w.TypeIn(".fresh button", kb.Enter)
	w.See(hasEntries(2, "teahouse") + "&&" + hasEntries(1, "gardenhour") + `&& !document.querySelector(".fresh button")`)
	w.See(`document.activeElement === document.querySelector(".entry .text-button")`)
	if top := browsertest.Eval[string](w.Window, `document.querySelector(".entry .user").textContent`); top != "teahouse" {
		t.Errorf("at the top is %s", top)
	}
}

func TestJournalPage_DrawsLazily(t *testing.T) {
	d := dash(t)
	for i := range 250 {
		d.say(chatguard.User{ID: fmt.Sprint(1000 + i), Login: fmt.Sprintf("user_%d_", i)}, 4)
	}
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(1, "user_249_") + "&&" + hasEntries(0, "user_150_"))
	w.Click(".more button")
	w.See(`document.querySelector(".entries").ariaRowCount === "201"`)
	w.Click(".more button")
	w.See(hasText("No older records."))
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector(".more").scrollIntoView()`))
	w.See(hasEntries(1, "user_0_") + "&&" + hasEntries(0, "user_249_"))
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".entry").length`); n > 60 {
		t.Errorf("%d rows are drawn", n)
	}
}

func TestJournalPage_WholeMessageOnDemand(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 3)
	long := strings.Repeat("so many words ", 30) + "the end"
	d.write(gardenhour, long)
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(1, "so many words"))
	if all := browsertest.Eval[bool](w.Window, `document.querySelector(".entry").textContent.includes("the end")`); all {
		t.Error("the row has the whole text")
	}
	w.TypeIn(".text-button", kb.Enter)
	w.See(`document.querySelector("dialog")?.open && document.querySelector(".whole-text").textContent.endsWith("the end") &&` + hasText("Penalty"))
	w.Accessible()
	w.Type(kb.Escape)
	w.See(`!document.querySelector("dialog") && document.activeElement.className === "text-button"`)
}

func TestJournalPage_SearchFromWholeMessage(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flush()
	w := d.open(1400, 900)
	for page, message := range map[string]string{"#/journal": ".entries:not(.of-user) .text-button", "#/people?user=" + gardenhour.ID: ".person .text-button"} {
		w.visit(page)
		w.Click(message)
		w.See(`document.querySelector("dialog")?.open`)
		w.Type("/")
		w.See(`!document.querySelector("dialog") && document.activeElement.id === "find"`)
	}
}

func TestJournalPage_NewEntriesOnPhone(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.goTo("journal")
	d.say(gardenhour, 4)
	w.See(hasEntries(1, "gardenhour"))
	d.say(teahouse, 4)
	w.See(`document.querySelector(".fresh button")`)
	hidden := browsertest.Eval[bool](w.Window, `document.querySelector(".fresh button").getBoundingClientRect().bottom > document.querySelector(".entry").getBoundingClientRect().top`)
	if hidden {
		t.Error("the button for new entries covers the first entry")
	}
	w.Accessible()
	w.wantNoOverflow()
}

func TestJournalPage_Pardon(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(1, "gardenhour"))
	w.TypeIn(".pardon button", kb.Enter)
	w.See(`document.activeElement.textContent.trim() === "Undo" && document.querySelector(".pardon .answer").innerText === "Pardoned"`)
	strikes := func() int {
		e, err := d.guard.Explain(chatguard.Message{ChannelID: channelID, User: gardenhour})
		if err != nil {
			t.Fatal(err)
		}
		return e.Strikes
	}
	if n := strikes(); n != 0 {
		t.Errorf("pardoned, and %d strikes", n)
	}
	w.Accessible()
	w.Type(kb.Enter)
	w.See(`document.activeElement.textContent.trim() === "Pardon"`)
	if n := strikes(); n != 1 {
		t.Errorf("undone, and %d strikes", n)
	}
}

// After a reload, other moderators see who pardoned what and cannot pardon it again.
func TestJournalPage_PardonSeenByOthers(t *testing.T) {
	d := dash(t)
	v := d.say(gardenhour, 4)
	d.say(teahouse, 4)
	if _, _, err := d.control.Pardon(t.Context(), v.EntryID, "berta"); err != nil {
		t.Fatal(err)
	}
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(1, "gardenhour") + `&& document.querySelectorAll(".pardon button").length === 1 && document.querySelector("span.pardon.muted").textContent.startsWith("Pardoned by berta, ")`)
	w.Accessible()
	w.Click(".entry:last-child .text-button")
	w.See(`[...document.querySelectorAll("dialog dd")].some((dd) => dd.textContent.startsWith("by berta, ")) && !document.querySelector("dialog .pardon button")`)
	w.Type(kb.Escape)
	w.seePerson(gardenhour)
	w.See(`document.querySelector(".person span.pardon.muted") && !document.querySelector(".person .pardon button")`)
}

func TestJournalPage_ViewersCannotPardon(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flush()
	w := d.openAs("clara", auth.View, 1400, 900)
	w.goTo("journal")
	w.See(hasEntries(1, "gardenhour"))
	w.Accessible()
	w.Click(".text-button")
	w.See(`document.querySelector("dialog")?.open`)
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".pardon button, .forgive").length`); n != 0 {
		t.Errorf("%d places to pardon at", n)
	}
}

func TestJournalPage_Unreadable(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.store.failReads(context.DeadlineExceeded)
	w.goTo("journal")
	w.See(`document.querySelector("main .error")?.textContent.includes("the database is failing")`)
	d.store.failReads(nil)
}

func TestJournalPage_HostileTexts(t *testing.T) {
	d := dash(t)
	for i, text := range hostileNames {
		user := chatguard.User{ID: fmt.Sprint(80 + i), Login: text, DisplayName: text}
		d.say(user, 3)
		d.write(user, text)
	}
	d.flush()
	for _, width := range []int64{360, 1600} {
		d.store.addCode("code", "anna")
		w := d.openWith("code", width, 900)
		w.goTo("journal")
		w.See(fmt.Sprintf(`document.querySelectorAll(".entry").length === %d`, len(hostileNames)))
		w.wantNoOverflow()
		for i := range hostileNames {
			w.See(`!document.querySelector("dialog")`)
			w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll(".text-button")[%d].click()`, i)))
			w.See(`document.querySelector("dialog")?.open`)
			w.wantNoOverflow()
			w.Type(kb.Escape)
		}
		w.wantUnharmed()
	}
}

func TestJournalPage_Accessible(t *testing.T) {
	d := dash(t)
	d.say(teahouse, 3)
	for i, result := range []journal.Result{journal.Done, journal.Failed, journal.Skipped, journal.Pending} {
		d.reportOutcome(d.write(teahouse, fmt.Sprint("message ", i)), result, "for a reason")
	}
	d.flush()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1600} {
			d.store.addCode("code", "anna")
			w := d.openWith("code", width, 900)
			w.Prefer(map[string]string{"prefers-color-scheme": scheme})
			w.goTo("journal")
			w.See(hasEntries(4, "message"))
			w.Accessible()
			w.wantNoOverflow()
			w.visit("#/journal?user=nobody")
			w.See(hasText("No throttled messages match these filters."))
			w.Accessible()
			w.wantNoOverflow()
		}
	}
}

// The journal filters as one types, in one step of the browser's history, and keeps the focus.
func TestJournalPage_FiltersWhileTyping(t *testing.T) {
	d := dash(t)
	d.say(localised, 4)
	d.say(berta, 4)
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(2, "hello everyone"))
	before := browsertest.Eval[int](w.Window, "history.length")
	w.Write("#filter-name", "長")
	w.See(`location.hash.startsWith("#/journal?name=") &&` + hasEntries(1, "長い") + "&&" + hasEntries(0, "berta") + `&& document.activeElement.id === "filter-name"`)
	if after := browsertest.Eval[int](w.Window, "history.length"); after != before {
		t.Errorf("the history grew from %d to %d", before, after)
	}
}
