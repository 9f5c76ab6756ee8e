//go:build browser

package web

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

// findControl returns a script that finds a control of the spammer's row: "name", "menu", "pardon",
// "grant", "exempt" or "reset". "first" is the first control below the row.
func findControl(name string) string {
	return fmt.Sprintf(`document.getElementById("%s-of-%s")`, name, spammer.ID)
}

const (
	question    = `document.querySelector(".held .question")`
	spammersRow = `document.querySelector('.row[data-user="42"]:not(.leaving)')`
	deedOf42    = `document.querySelector('.row[data-user="42"] .deed')`
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

// wantAudit fails the test unless the audit has a change of the spammer with this action.
func (d *dashboard) wantAudit(action journal.AuditAction) {
	d.Helper()
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	for _, a := range d.store.audits {
		if a.Action == action && a.UserID == spammer.ID && a.Author == "link:anna" {
			return
		}
	}
	d.Errorf("%s isn't among %+v", action, d.store.audits)
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

// When a pardon is announced, the new number of throttled users does not replace it too soon.
func TestRowActions_AnnouncementNotCutShort(t *testing.T) {
	d := dash(t)
	w := d.open(1600, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		window.heard = [];
		const region = document.querySelector("[aria-live]");
		new MutationObserver(() => heard.push({ text: region.textContent, at: performance.now() })).observe(region, { childList: true, characterData: true, subtree: true });
	}`))
	d.say(spammer, 4)
	w.See(spammersRow)
	d.flush()
	w.act("pardon")
	w.See(`heard.slice(0, -1).some(({ text }) => text.startsWith("Spammer: Pardoned: 1 message, 1 strike removed."))`)
	if length := browsertest.Eval[float64](w.Window, `{
		const at = heard.findIndex(({ text }) => text.startsWith("Spammer: Pardoned: 1 message, 1 strike removed."));
		heard[at + 1].at - heard[at].at;
	}`); length < 2900 {
		t.Errorf("it was cut short after %.0f ms", length)
	}
}

func TestRowActions_GrantByKeyboard(t *testing.T) {
	for _, width := range []int64{360, 1600} {
		const opener = "menu"
		d, w := openThrottled(t, width, 800)
		open := func() {
			w.press(kb.Enter, "first")
			if width == 360 { // a wider row shows these itself
				for _, next := range []string{"timeout", "ban", "grant"} {
					w.press(kb.Tab, next)
				}
			}
			w.press(kb.Enter, "first")
			w.See(elementHasText(question, "Give Spammer"))
		}
		w.Must(chromedp.Evaluate[chromedp.Void](findControl(opener) + ".focus()"))
		open()
		w.See(`[...document.querySelectorAll(".question option")].map((o) => o.value).join() === "burst,daily"`)
		w.wantNoOverflow()
		w.Accessible()
		w.press(kb.Escape, opener)
		w.See("!" + question)
		open()
		w.See(findControl("first") + `.value === "10"`)
		w.Write(`[id="first-of-42"]`, "2"+kb.Enter)
		w.See(elementHasText(deedOf42, "2 granted until ") + "&& !" + question + "&& document.activeElement === " + findControl(opener))
		d.wantAudit(journal.UserGranted)
		if v := d.say(spammer, 2); !v.Allowed {
			t.Error("two messages granted, and the second is throttled")
		}
		if v := d.say(spammer, 1); v.Allowed {
			t.Error("two messages granted, and a third is allowed")
		}
	}
}

func TestRowActions_Exempt(t *testing.T) {
	for button, length := range map[string]time.Duration{"for 10 minutes": 10 * time.Minute, "for an hour": time.Hour, "permanently": 0} {
		d, w := openThrottled(t, 1600, 900)
		w.act("menu")
		w.choose("Exempt")
		w.See(elementHasText(question, "Let Spammer write without limits") + "&&" + elementHasText(question, "until the end of their day, 00:00"))
		w.choose(button)
		w.See(elementHasText(deedOf42, "exempt "))
		d.wantAudit(journal.UserExempted)
		own, err := d.guard.UserOverride(chatguard.Key{ChannelID: channelID, UserID: spammer.ID})
		if err != nil {
			t.Fatal(err)
		}
		ends := own.ExemptUntil.After(d.now().Add(length-time.Minute)) && !own.ExemptUntil.After(d.now().Add(length))
		if own.Exempt != chatguard.AlwaysExempt || length > 0 && !ends || length == 0 && !own.ExemptUntil.IsZero() {
			t.Errorf("%s: %+v", button, own)
		}
		w.choose("Undo")
		w.See(elementHasText(deedOf42, "undone"))
		if own, err := d.guard.UserOverride(chatguard.Key{ChannelID: channelID, UserID: spammer.ID}); err != nil || own.Exempt != chatguard.ExemptByRole {
			t.Errorf("after undoing, the override is %+v, %v", own, err)
		}
	}
}

func TestRowActions_ResetAsksFirst(t *testing.T) {
	d, w := openThrottled(t, 360, 800)
	w.act("menu")
	w.choose("Reset")
	w.See(elementHasText(question, "Reset Spammer? This clears their usage and strikes."))
	w.wantNoOverflow()
	w.choose("Cancel")
	w.See("!" + question + "&& document.activeElement === " + findControl("menu"))
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("cancelled, and the user is reset")
	}
	w.act("menu")
	w.choose("Reset")
	w.See(elementHasText(question, "Reset Spammer?"))
	w.choose("Reset")
	w.See(elementHasText(deedOf42, "reset"))
	d.wantAudit(journal.UserReset)
	if v := d.say(spammer, 3); !v.Allowed {
		t.Error("reset, and a third message is throttled")
	}
}

func TestRowActions_RefusalShown(t *testing.T) {
	d, w := openThrottled(t, 360, 800)
	d.store.failChanges(errors.New("too many changes wait"))
	for _, action := range []string{"Reset", "Pardon"} {
		w.act("menu")
		w.choose(action)
		if action == "Reset" {
			w.See(elementHasText(question, "Reset Spammer?"))
			w.choose(action)
		}
		w.See(elementHasText(`document.querySelector(".held .question [role=alert]")`, "database is failing"))
		w.wantNoOverflow()
		w.Accessible()
		w.press(kb.Escape, "menu")
		w.See("!" + question)
	}
}

func TestRowActions_UnsavedShown(t *testing.T) {
	d, w := openThrottled(t, 360, 800)
	d.breakDatabase(time.Minute)
	w.See(hasText("The database is failing")) // above the rows
	w.act("menu")
	w.choose("Pardon")
	w.See(elementHasText(`document.querySelector(".held .question [role=status]")`, "In force, but not saved yet: a restart now would undo it."))
	w.wantNoOverflow()
	w.Accessible()
	w.press(kb.Escape, "menu")
	w.See("!" + question)
}

func TestRowActions_NoButtonsForViewers(t *testing.T) {
	d := dash(t)
	w := d.openAs("clara", auth.View, 1600, 900)
	d.say(spammer, 4)
	w.See(spammersRow + `&& document.querySelector(".me").innerText === "clara · view only"`)
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".users .acts").length`); n > 0 {
		t.Errorf("there are %d buttons", n)
	}
	w.Accessible()
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

func TestRowActions_NameOpensCard(t *testing.T) {
	_, w := openThrottled(t, 360, 800)
	w.act("name")
	w.See(`location.hash === "#/people?user=42"`)
}
