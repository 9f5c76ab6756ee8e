//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
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

// TestSwitchPage_TwoWindows presses the switches in two windows, one of them by keyboard. Both show
// what is in force.
func TestSwitchPage_TwoWindows(t *testing.T) {
	d := dash(t)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	w.See(hasButton("pause", "Pause", ""))
	w.TypeIn("#pause", kb.Enter)
	for _, each := range []*window{w, other} {
		each.See(hasButton("pause", "Resume", "Paused by anna (link)"))
		each.wantNoOverflow()
	}
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "pause" {
		t.Errorf("pressed, and the focus is on %q", focused)
	}
	other.Press("#pause")
	w.See(hasButton("pause", "Pause", ""))
	other.Press("#raid")
	for _, each := range []*window{w, other} {
		each.See(hasButton("raid", "End raid mode", "Raid mode until "))
		each.wantNoOverflow()
	}
	w.Press("#raid")
	other.See(hasButton("raid", "Start raid mode", ""))
}
