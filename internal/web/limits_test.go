//go:build browser

package web

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/policies"
)

// What the page Limits shows and sends is tested in web/test/pages. These tests are about what
// needs a browser.

var clara = chatguard.User{ID: "51", Login: "clara"}

// openLimits opens the Limits page and waits until the limits are shown.
func (w *window) openLimits() {
	w.Window.Helper()
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
}

// pickOption selects an option of a select element.
func (w *window) pickOption(selector, value string) {
	w.Window.Helper()
	w.See(fmt.Sprintf(`document.querySelector("%s option[value='%s']")`, selector, value))
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const select = document.querySelector(%q);
		select.value = %q;
		select.dispatchEvent(new Event("change", { bubbles: true }));
	}`, selector, value)))
}

const isIdle = `document.querySelector("#save").ariaDisabled === "true" && !document.querySelector(".mode").disabled`

// save presses the save button and waits until saving is done.
func (w *window) save() {
	w.Window.Helper()
	w.Press("#save")
	w.See(`document.querySelector(".note.good") && ` + isIdle)
}

// waitForFocus waits until an element has the focus.
func (w *window) waitForFocus(id string) {
	w.Window.Helper()
	w.See(fmt.Sprintf(`document.activeElement.id === %q`, id))
}

// openHistory unfolds the history of the limits.
func (w *window) openHistory() {
	w.Window.Helper()
	w.Click(".history summary")
	w.See(`document.querySelector(".revisions li")`)
}

// hasBurst is a script that is true if the first limit has this burst.
func hasBurst(burst string) string {
	return `document.querySelector("#burst-0")?.value === "` + burst + `"`
}

// Every preset is a valid policy: it can be saved.
func TestLimitsPage_PresetsAreValid(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	for _, id := range browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".presets button")].map((button) => button.id)`) {
		before := d.guard.ChannelPolicy(channelID)
		w.See(`document.querySelector(".presets") || (document.querySelector("#choose-preset").click(), false)`)
		w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("#%s").click()`, id)))
		w.save()
		if p := d.guard.ChannelPolicy(channelID); reflect.DeepEqual(p.Limits, before.Limits) {
			t.Errorf("%s has not changed the limits: %+v", id, p)
		}
	}
}

func TestLimitsPage_TwoModerators(t *testing.T) {
	d := dash(t)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	w.openLimits()
	other.openLimits()
	w.Write("#burst-0", "8")
	other.Write("#messages-1", "200")
	other.Write("#burst-0", "2")
	other.save()
	w.Press(".compare")
	w.See(`document.querySelector(".both")`)
	if notes := browsertest.Eval[float64](w.Window, `document.querySelector(".finish > [role=status]").getBoundingClientRect().height / innerHeight`); notes > 0.5 {
		t.Errorf("the notes cover %.2f of the window", notes)
	}
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".both")
	w.See(`!document.querySelector(".both")`)
	w.save()
	if p := d.guard.ChannelPolicy(channelID); p.Limits[0].Burst != 8 || p.Limits[1].Messages != 200 {
		t.Errorf("in force is %+v", p)
	}
	other.See(hasBurst("8")) // nothing is typed there
}

func TestLimitsPage_ByKeyboard(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.openLimits()
	w.TypeIn("#limit-1-up", kb.Enter)
	w.waitForFocus("limit-0-down")
	// The ladder is delete, delete, warn, timeout 30s, timeout 10m. This moves warn up.
	w.TypeIn("#rung-2-up", kb.Enter)
	w.waitForFocus("rung-1-up")
	w.Type(kb.Enter) // and up to the top
	w.waitForFocus("rung-0-action")
	w.TypeIn("#exempt-vip", " ")
	w.TypeIn("#add-limit", kb.Enter)
	w.See(`document.querySelector(".chooser li button")`)
	w.Type(kb.Tab + kb.Escape)
	w.waitForFocus("add-limit")
	w.Type(kb.Enter)
	w.See(`document.querySelector(".chooser li button")`)
	w.Type(kb.Tab + kb.Enter)
	w.waitForFocus("name-2")
	w.Type(kb.Enter) // Enter saves
	w.See(`document.querySelector(".note.good")`)
	p := d.guard.ChannelPolicy(channelID)
	if len(p.Limits) != 3 || p.Limits[0].Name != "daily" || p.Limits[2].Name != "token-bucket" || fmt.Sprint(p.Penalties.Ladder[:2]) != "[warn delete]" || len(p.Exempt) != 4 {
		t.Errorf("in force is %+v", p)
	}
}

// pressEnter presses a button with the keyboard and waits until the page shows the result, with
// some element focused.
func (w *window) pressEnter(button, then string) {
	w.Window.Helper()
	w.See(`document.querySelector('` + button + `')?.matches(":enabled:not([aria-disabled=true])")`)
	w.TypeIn(button, kb.Enter)
	w.See(then)
	w.See(`document.activeElement !== document.body && !document.activeElement.matches(":disabled")`)
}

func TestLimitsPage_KeepsFocus(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	decode[policies.Revised](t, d.put(burst(5)))
	w.openLimits()
	w.openHistory()
	isSaved := func(burst string) string {
		return `document.querySelector(".note.good") && ` + isIdle + "&&" + hasBurst(burst)
	}
	w.Write("#burst-0", "7")
	w.pressEnter("#save", isSaved("7"))
	w.pressEnter(".note button", isSaved("5")) // undo
	w.pressEnter(`button[aria-label="Restore revision 2"]`, isSaved("7"))
	w.pressEnter(".to-file", isSaved("3"))
	w.Write("#burst-0", "8")
	w.pressEnter(".discard", isIdle+"&&"+hasBurst("3"))
	for _, button := range []string{".both", ".theirs"} {
		w.Write("#burst-0", "8")
		d.put(func(p *chatguard.Policy) { p.Limits[1].Messages++ })
		w.pressEnter(".compare", `document.querySelector(".both")`)
		w.pressEnter(button, `!document.querySelector(".both")`)
	}
	w.Write("#burst-0", "9")
	w.delayRequests("PUT", 0)
	w.TypeIn("input[value=enforce]", kb.Enter) // it saves too, and is disabled meanwhile
	w.See(`document.querySelector(".mode").disabled && document.activeElement.id === "save"`)
	w.releaseRequests()
	w.See(isSaved("9") + `&& document.activeElement.id === "save"`)
}

// A value that only the server refuses is marked like one that the page refuses: in the policy, and
// in a user's own limits.
func TestPages_MarkRefusedValue(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	d.flush()
	w := d.open(1400, 900)
	// wantMarked waits until the server's error is below the field, which has the focus.
	wantMarked := func(id, says string) {
		t.Helper()
		w.waitForFocus(id)
		w.See(fmt.Sprintf(`(({ ariaInvalid, ariaDescribedByElements }) => ariaInvalid === "true" &&
			ariaDescribedByElements.some((one) => one.textContent.includes(%q) && one.getBoundingClientRect().height > 0))(document.activeElement)`, says))
		w.Accessible()
	}
	w.openLimits()
	w.Click(".limit .rare summary")
	w.Write("#reserve-0", "3")
	w.Press("#save")
	wantMarked("reserve-0", "reserve is 3, want 0 to 2, less than the limit holds")
	w.Write("#reserve-0", "2")
	w.save()

	w.visit("#/people?user=" + spammer.ID)
	w.Click("#amend-override")
	w.Write("#own-burst-burst", "2147483647")
	w.Press(".amend .primary")
	wantMarked("own-burst-burst", "burst × refill is too long")
}
