//go:build browser

package web

import (
	"errors"
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
	"github.com/chatguard/chatguard/internal/web/live"
)

// hasButton returns a script that is true if the button of a switch can be pressed and its text is
// does. The status that describes the button must contain about.
func hasButton(name, does, about string) string {
	return fmt.Sprintf(`(() => {
		const button = document.getElementById(%q);
		const about = button && document.getElementById(button.getAttribute("aria-describedby"));
		return about?.getAttribute("role") === "status" && button.innerText.trim() === %q && about.innerText.includes(%q) && button.ariaDisabled === "false";
	})()`, name, does, about)
}

// headerHasState returns a script that is true if a state in the header contains the text.
func headerHasState(kind, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".states .state.%s")].some((e) => e.innerText.replace(/\s+/g, " ") === %q)`, kind, text)
}

func TestSwitchPage_PauseByKeyboard(t *testing.T) {
	d := dash(t)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	w.See(hasButton("pause", "Pause", "stops throttling until you resume") + "&&" + headerHasState("good", "Enforcing"))
	w.wantNoOverflow()
	w.TypeIn("#pause", kb.Enter)
	for _, each := range []*window{w, other} {
		each.See(hasButton("pause", "Resume", "Paused by anna (link): nobody is throttled.") + "&&" + headerHasState("notice", "Observing nobody is throttled"))
		each.wantNoOverflow()
	}
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "pause" {
		t.Errorf("pressed, and the focus is on %q", focused)
	}
	if v := d.say(spammer, 4); !v.Allowed {
		t.Error("paused, and a fourth message is throttled")
	}
	other.goTo("limits")
	// the stated policy is edited
	other.See(`document.querySelector("input[value=enforce]")?.checked &&` + hasText("Not enforcing right now"))
	other.goTo("now")
	other.Press("#pause")
	w.See(hasButton("pause", "Pause", "stops throttling") + "&&" + headerHasState("good", "Enforcing"))
	if v := d.say(spammer, 1); v.Allowed {
		t.Error("resumed, and a fifth message is allowed")
	}
}

func TestSwitchPage_RaidMode(t *testing.T) {
	d := dash(t)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	w.Press("#raid")
	for _, each := range []*window{w, other} {
		each.See(hasButton("raid", "End raid mode", "Raid mode until "))
		each.wantNoOverflow()
	}
	until := d.control.Switches(channelID).RaidUntil
	w.Must(chromedp.Evaluate[chromedp.Void](`import("./app/words/time.js").then(({ clock }) => (window.clock = clock)), null`))
	w.See("window.clock")
	shown := browsertest.Eval[string](w.Window, fmt.Sprintf("clock(%d)", until.UnixMilli()))
	w.See(hasButton("raid", "End raid mode", "Raid mode until "+shown+": stricter limits."))
	if v := d.say(newcomer, 2); v.Allowed {
		t.Error("a raid, and somebody new writes twice")
	}
	other.Press("#raid")
	w.See(hasButton("raid", "Start raid mode", "makes the limits stricter for a while"))
	if !d.control.Switches(channelID).RaidUntil.IsZero() {
		t.Error("raid mode is still on")
	}
}

func TestSwitchPage_RaidLength(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.See(`document.getElementById("raid-length")?.selectedOptions[0].innerText === "10 min"`)
	w.Must(chromedp.Evaluate[chromedp.Void](`(() => {
		const lengths = document.getElementById("raid-length");
		lengths.value = "1h";
		lengths.dispatchEvent(new Event("change", { bubbles: true }));
	})()`))
	before := d.now().Truncate(time.Second)
	w.Press("#raid")
	w.See(hasButton("raid", "End raid mode", "Raid mode until ") + `&& !document.getElementById("raid-length")`)
	if until := d.control.Switches(channelID).RaidUntil; until.Before(before.Add(time.Hour)) || until.After(d.now().Add(time.Hour)) {
		t.Errorf("raid mode lasts until %s, an hour after %s", until, before)
	}
}

func TestSwitchPage_DoubleClick(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.See(hasButton("pause", "Pause", ""))
	click := func(detail int) string {
		return fmt.Sprintf(`document.getElementById("pause").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: %d }))`, detail)
	}
	w.Must(chromedp.Evaluate[chromedp.Void](click(1)))
	w.See(hasButton("pause", "Resume", "Paused by anna (link)"))
	w.Must(chromedp.Evaluate[chromedp.Void](click(2)))
	w.Press("#raid")
	w.See(hasButton("raid", "End raid mode", ""))
	if d.control.Switches(channelID).PausedBy != "link:anna" {
		t.Error("resumed by a double click")
	}
}

func TestSwitchPage_UnsavedShown(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	w := d.open(360, 800)
	const unsaved = "In force, but not saved yet: a restart now would undo it."
	w.Press("#pause")
	w.See(hasButton("pause", "Resume", "") + "&&" + elementHasText(`document.getElementById("pause-unsaved")`, unsaved))
	w.wantNoOverflow()
	w.Press("#raid") // the pause is still unsaved
	w.See(elementHasText(`document.getElementById("raid-unsaved")`, unsaved) + "&&" + elementHasText(`document.getElementById("pause-unsaved")`, unsaved))
	d.repairDatabase()
	w.See("!" + hasText(unsaved) + "&&" + hasButton("pause", "Resume", ""))
}

func TestSwitchPage_FailureShown(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.See(hasButton("raid", "Start raid mode", ""))
	d.store.failChanges(errors.New("disk full"))
	w.Press("#raid")
	problem := `document.getElementById("raid-problem")`
	w.See(elementHasText(problem, "done, but a restart would undo it: the database is failing") + `&& !document.getElementById("pause-problem")`)
	w.See(hasButton("raid", "End raid mode", "Raid mode until"))
	w.wantNoOverflow()
	w.Type(kb.Escape)
	w.See("!" + problem)
	d.store.failChanges(nil)
	w.Press("#raid")
	w.See(hasButton("raid", "Start raid mode", ""))
}

func TestSwitchPage_ViewersSeeState(t *testing.T) {
	d := dash(t)
	w := d.openAs("clara", auth.View, 360, 800)
	stands := func(texts ...string) string {
		return `[...document.querySelectorAll(".switch-states [role=status]")].map((e) => e.innerText.replace(/ until.*:/, ":")).join("|") === ` + fmt.Sprintf("%q", strings.Join(texts, "|"))
	}
	w.See(stands("", ""))
	w.Accessible()
	if _, err := d.control.Pause(t.Context(), channelID, "berta"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.control.StartRaid(t.Context(), channelID, "berta", time.Hour); err != nil {
		t.Fatal(err)
	}
	w.See(stands("Paused by berta: nobody is throttled.", "Raid mode: stricter limits."))
	w.Accessible()
	w.wantNoOverflow()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".switches").length`); n > 0 {
		t.Errorf("there are %d buttons", n)
	}
}

func TestSwitchPage_NoSwitches(t *testing.T) {
	w := dash(t, func(o *Options) { o.Controls = nil }).open(360, 800)
	w.See(hasText("Nobody is throttled.") + `&& !document.querySelector(".switches, .switch-states")`)
}

func TestSwitchPage_FixesAreReadable(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Connections = func() []live.Connection {
			return []live.Connection{
				{Name: "Twitch", State: live.Connected},
				{Name: "Token", State: live.Refused, Detail: "Twitch refused the token: run `chatguard login`"},
				{Name: "#gardenhour", State: live.Observing, Detail: "type `/mod chatguard_bot` in the chat of gardenhour"},
				{Name: "#gardenhour", State: live.Paused, Detail: "by berta"},
				{Name: "#gardenhour", State: live.RaidMode, Detail: "for 9 min more"},
			}
		}
	})
	w := d.open(360, 800)
	for text, kind := range map[string]string{
		"Token refused Twitch refused the token: run chatguard login":             "bad",
		"#gardenhour observing type /mod chatguard_bot in the chat of gardenhour": "notice",
		"#gardenhour paused by berta":                                             "notice",
		"#gardenhour raid mode for 9 min more":                                    "notice",
	} {
		w.See(headerHasState(kind, text))
	}
	w.wantNoOverflow()
	w.Click(".status")
	hidden := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll(".states .detail, .states code")].filter((e) => {
		const { left, top, right, bottom } = e.getBoundingClientRect();
		const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
		return left < 0 || right > innerWidth || !(e.contains(seen) || seen?.contains(e));
	}).map((e) => e.innerText)`)
	if len(hidden) > 0 {
		t.Errorf("at 360 px nobody can read %q", hidden)
	}
	if typed := browsertest.Eval[string](w.Window, `[...document.querySelectorAll(".states code")].map((e) => e.innerText).join()`); typed != "chatguard login,/mod chatguard_bot" {
		t.Errorf("to be typed are %q", typed)
	}
	// reading needs no token
	w.See(hasText("Nobody is throttled.") + "&& !" + hasText("sees no messages"))
}

func TestSwitchPage_Disconnected(t *testing.T) {
	for state, cutOff := range map[live.ConnectionState]bool{live.Connecting: true, live.Disconnected: true, live.Connected: false} {
		w := dash(t, func(o *Options) {
			o.Connections = func() []live.Connection { return []live.Connection{{Name: "Twitch", State: state}} }
		}).open(360, 800)
		w.See(hasText("Nobody is throttled.") + fmt.Sprintf("&& %v === ", cutOff) + hasText("sees no messages"))
	}
}

func TestSwitchPage_ObserveIsNoPause(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	w.See(headerHasState("notice", "Observing nobody is throttled") + "&&" + hasButton("pause", "Pause", "stops throttling"))
}
