//go:build browser

package web

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/web/live"
)

// pressEnter presses a button with the keyboard and waits until the page shows the result, with
// some element focused.
func (w *window) pressEnter(button, then string) {
	w.Window.Helper()
	w.See(`document.querySelector('` + button + `')?.matches(":enabled:not([aria-disabled=true])")`)
	w.TypeIn(button, kb.Enter)
	w.See(then)
	w.See(`document.activeElement !== document.body && !document.activeElement.matches(":disabled")`)
}

const isIdle = `document.querySelector("#save").ariaDisabled === "true" && !document.querySelector(".mode").disabled`

// isSaved returns a script that is true once the saved burst is shown.
func isSaved(burst string) string {
	return hasText("Saved by anna") + "&&" + isIdle + `&& document.querySelector("#burst-0").value === "` + burst + `"`
}

func TestLimitsFocus_StaysWhileEditing(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	decode[control.Revised](t, d.put(burst(5)))
	w.openLimits()
	w.openHistory()
	w.Write("#burst-0", "7")
	w.pressEnter("#save", isSaved("7"))
	w.pressEnter(".note button", isSaved("5")) // undo
	w.pressEnter(`button[aria-label="Restore revision 2"]`, isSaved("7"))
	w.pressEnter(".to-file", isSaved("3"))
	w.Write("#burst-0", "8")
	w.pressEnter(".discard", isIdle+`&& document.querySelector("#burst-0").value === "3"`)
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

func TestLimitsFocus_DraftPerChannel(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Channels = func() []live.Channel {
			return []live.Channel{{ID: channelID, Login: "first"}, {ID: "8", Login: "second"}}
		}
	})
	w := d.open(1400, 900)
	w.openLimits()
	isWarned := func() bool {
		return browsertest.Eval[bool](w.Window, `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`)
	}
	if isWarned() {
		t.Error("without a draft, leaving the page asks for confirmation")
	}
	w.Write("#burst-0", "5")
	w.See(`document.querySelector("#save").ariaDisabled === "false"`)
	if !isWarned() {
		t.Error("with a draft, leaving the page does not ask for confirmation")
	}
	w.pickOption("header select", "8")
	w.See(`document.querySelector("#burst-0")?.value === "3" && document.querySelector("select").value === "8"`)
	if !isWarned() {
		t.Error("with a draft for another channel, leaving the page does not ask for confirmation")
	}
	w.pickOption("header select", channelID)
	w.See(`document.querySelector("#burst-0")?.value === "5" && document.querySelector("#save").ariaDisabled === "false"`)

	w.pickOption("header select", "8")
	w.See(`document.querySelector("#burst-0")?.value === "3"`)
	decode[control.Revised](t, d.put(burst(9)))
	w.pickOption("header select", channelID)
	w.See(hasText("changed these limits while you were editing.") + `&& document.querySelector("#burst-0").value === "5"`)
	w.Press(".compare")
	w.See(hasText("owner changed these limits while you were editing."))
	w.Press(".theirs")
	w.See(`document.querySelector("#burst-0").value === "9"`)
	if isWarned() {
		t.Error("after the draft is discarded, leaving the page asks for confirmation")
	}
}

func TestLimitsFocus_ConflictIsConsistent(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.openLimits()
	w.See(hasText("Same as the configuration file."))
	w.Write("#burst-0", "8")
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode, p.Limits[1].Messages = chatguard.Observe, 200 }))
	w.See(hasText("owner changed these limits while you were editing.") + "&& !" + hasText("Same as the configuration file."))
	w.See(elementHasText(`document.querySelector(".mode label:has(:not(:checked))")`, "Observe only (current)") + "&& !" + elementHasText(`document.querySelector(".mode")`, "Enforce (current)"))
	w.Press(".compare")
	w.See(`document.querySelector(".both")`)
	notes := browsertest.Eval[float64](w.Window, `document.querySelector(".finish > [role=status]").getBoundingClientRect().height / innerHeight`)
	if notes > 0.5 {
		t.Errorf("the notes cover %.2f of the window", notes)
	}
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".both")
	w.See(hasText("Changed by owner") + "&& !" + hasText("can’t be read now"))
}
