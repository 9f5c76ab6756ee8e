//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

// hasEntries returns a script that is true if the journal shows exactly n rows that contain the
// text.
func hasEntries(n int, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".entries .entry")].filter((row) => row.textContent.includes(%q)).length === %d`, text, n)
}

// The browser's history has a step for each filter that was chosen, and none for what was typed.
func TestJournalPage_Back(t *testing.T) {
	d := dash(t)
	d.say(localised, 4)
	d.say(berta, 4)
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.See(hasEntries(2, "hello everyone"))
	w.Click("#only-failures")
	w.See(`location.hash === "#/journal?result=failed" &&` + hasEntries(0, ""))
	w.TypeIn("#filter-name", "ber")
	w.See(`location.hash === "#/journal?name=ber&result=failed" && document.activeElement.id === "filter-name"`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{ // back before "berta" has been drawn
		const field = document.activeElement
		field.value = "berta"
		field.dispatchEvent(new Event("input", { bubbles: true }))
		field.dispatchEvent(new Event("change", { bubbles: true }))
		history.back()
	}`))
	w.See(`location.hash === "#/journal" && document.querySelector("#filter-name").value === "" && !document.querySelector("#only-failures").checked &&` + hasEntries(2, "hello everyone"))
}

// A message's dialog has the focus, and returns it.
func TestJournalPage_DialogFocus(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flush()
	w := d.open(1400, 900)
	w.goTo("journal")
	w.TypeIn(".text-button", kb.Enter)
	w.See(`document.querySelector("dialog")?.open`)
	w.Accessible()
	w.Type(kb.Escape)
	w.See(`!document.querySelector("dialog") && document.activeElement.className === "text-button"`)
	for _, page := range []string{"#/journal", "#/people?user=" + gardenhour.ID} {
		w.visit(page)
		w.Click(".entries .text-button")
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
	w.wantNoOverflow()
}

func TestJournalPage_HostileTexts(t *testing.T) {
	d := dash(t)
	for i, text := range hostileNames {
		user := chatguard.User{ID: fmt.Sprint(80 + i), Login: text, DisplayName: text}
		d.say(user, 3)
		d.write(user, text)
	}
	d.flush()
	w := d.open(1600, 900)
	w.goTo("journal")
	w.See(fmt.Sprintf(`document.querySelectorAll(".entry").length === %d`, len(hostileNames)))
	w.wantNoOverflow()
	w.Must(chromedp.EmulateViewport(360, 900))
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

func TestJournalPage_Accessible(t *testing.T) {
	d := dash(t)
	d.say(teahouse, 3)
	for i, result := range []journal.Result{journal.Done, journal.Failed, journal.Skipped, journal.Pending} {
		v := d.write(teahouse, fmt.Sprint("message ", i))
		d.reportOutcome(v, result, "for a reason")
		if i == 0 {
			if _, _, err := d.control.Pardons.PardonEntry(t.Context(), v.EntryID, "berta"); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.flush()
	w := d.open(360, 900)
	w.inBothSchemes(func() {
		w.visit("#/journal")
		w.See(hasEntries(4, "message"))
		w.Accessible()
	})

}
