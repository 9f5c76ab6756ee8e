//go:build browser

package web

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// findControl returns a script that finds a control of the spammer's row: "name", "menu", "pardon",
// "grant", "exempt" or "reset". "first" is the first control below the row.
func findControl(name string) string {
	return fmt.Sprintf(`document.getElementById("%s-of-%s")`, name, spammer.ID)
}

const (
	question    = `document.querySelector(".held .question")`
	spammersRow = `document.querySelector('.row[data-user="42"]:not(.leaving)')`
)

// act clicks a control of the spammer's row.
func (w *window) act(name string) {
	w.Window.Helper()
	w.See(findControl(name))
	w.Click(fmt.Sprintf(`[id="%s-of-%s"]`, name, spammer.ID))
}

// choose clicks a button of the question below the row.
func (w *window) choose(button string) {
	w.Window.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(".held .question button")].find((b) => b.innerText.startsWith(%q))`, button)
	w.See(find)
	w.Must(chromedp.Evaluate[chromedp.Void](find + ".click()"))
}

// press presses a key on the focused element and waits until a control of the spammer's row has the
// focus.
func (w *window) press(key, then string) {
	w.Window.Helper()
	w.Type(key)
	w.See("document.activeElement === " + findControl(then))
}

// openThrottled opens a window with a throttled spammer.
func openThrottled(t *testing.T, width, height int64) (*dashboard, *window) {
	t.Helper()
	d := dash(t)
	w := d.open(width, height)
	d.say(spammer, 4)
	w.See(spammersRow)
	d.flush()
	return d, w
}

// The keyboard leads through the menu, a question and back, at the width of a phone.
func TestRowActions_Keyboard(t *testing.T) {
	d, w := openThrottled(t, 360, 800)
	w.Must(chromedp.Evaluate[chromedp.Void](findControl("menu") + ".focus()"))
	for _, leaves := range []bool{true, false} {
		w.press(kb.Enter, "first")
		for range 5 { // the usual durations
			w.Type(kb.Tab)
		}
		for _, next := range []string{"other", "ban", "lift", "grant"} {
			w.press(kb.Tab, next)
		}
		w.press(kb.Enter, "first")
		w.See(question + `.querySelectorAll("option").length === 2`)
		if leaves {
			w.wantNoOverflow()
			w.press(kb.Escape, "menu")
			w.See("!" + question)
		}
	}
	w.Write(`[id="first-of-42"]`, "2"+kb.Enter)
	w.See("!" + question + "&& document.activeElement === " + findControl("menu"))
	if v := d.say(spammer, 2); !v.Allowed {
		t.Error("two messages granted, and the second is throttled")
	}
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("two messages granted, and a third is allowed")
	}
	w.press(kb.Enter, "first")
	w.choose("Time out")
	w.Write(".question [name=length]", "soon"+kb.Enter)
	w.See(question + `.querySelector("[role=alert]").textContent !== ""`)
	w.wantNoOverflow()
	w.Accessible()
}

// The usual timeout with the keys of a wide row, and its undo.
func TestRowActions_TimeoutByKeyboard(t *testing.T) {
	d, w := openThrottled(t, 1600, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](findControl("timeout") + ".focus()"))
	w.press(kb.Enter, "first")
	w.wantNoOverflow()
	w.See(findControl("lift") + `.getAttribute("aria-disabled") === null`)
	w.choose("Undo")
	w.See(findControl("lift") + `.getAttribute("aria-disabled") === "true"`)
	if given, want := d.chat.list(), []string{"timeout 10m0s of 42", "lift of 42"}; !slices.Equal(given, want) {
		t.Errorf("the chat got %q, want %q", given, want)
	}
}

// A row's menu and its answer fit a phone. A pardon and its undo reach the row.
func TestRowActions_FitPhone(t *testing.T) {
	d := dash(t, addTimeouts(t))
	w := d.open(360, 800)
	d.spam()
	hasStrikes := func(n int) string {
		return fmt.Sprintf(`document.querySelector('.row[data-user="42"] .strikes')?.textContent.startsWith("%d strike")`, n)
	}
	w.See(spammersRow + "&&" + hasStrikes(2))
	w.act("menu")
	w.See(question)
	w.wantNoOverflow()
	d.lifting.set(errors.New("somebody else has timed out or banned this user since"))
	w.choose("Pardon")
	w.See(hasStrikes(0) + "&&" + question + `.querySelector(".outcome")`)
	w.wantNoOverflow()
	w.Accessible()
	w.choose("Undo")
	w.See(hasStrikes(2))
}

func TestRowActions_FocusedRowStays(t *testing.T) {
	d, w := openThrottled(t, 360, 800)
	for i, name := range []string{"anna", "berta"} {
		d.say(chatguard.User{ID: fmt.Sprint(43 + i), Login: name}, 4)
		w.See(hasRows(name, 1))
	}
	w.Must(chromedp.Evaluate[chromedp.Void](findControl("menu") + ".focus()"))
	w.press(kb.Enter, "first")
	rest := `document.getAnimations().every((a) => a.effect.getComputedTiming().endTime > 2000)`
	w.See(rest)
	place := spammersRow + ".getBoundingClientRect().top"
	before := browsertest.Eval[float64](w.Window, place)
	for i := range 5 {
		name := fmt.Sprint("teatime_", i)
		d.say(chatguard.User{ID: fmt.Sprint(100 + i), Login: name}, 4)
		w.See(hasRows(name, 1))
	}
	d.advance(10*time.Minute - 2*time.Second)
	d.say(chatguard.User{ID: "300", Login: "gardenhour"}, 4)
	w.See(hasRows("gardenhour", 1))
	d.advance(2 * time.Second)
	w.See(elementHasText(spammersRow, "may write again") + `&& document.querySelector(".tab-count").textContent === "1" && ` + hasRows("gardenhour", 1) + "&&" + hasRows("berta", 0))
	w.See(rest)
	if after := browsertest.Eval[float64](w.Window, place); after != before {
		t.Errorf("the row has gone from %v to %v px while its menu is open", before, after)
	}
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "first-of-42" {
		t.Errorf("the focus has gone to %q", focused)
	}
	w.press(kb.Escape, "menu")
	w.Must(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	w.See("!" + spammersRow)
}
