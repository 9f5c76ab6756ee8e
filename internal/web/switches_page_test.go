//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/language"
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
		each.See(hasButton("raid", "End raid mode", ", by ben (link)"))
		each.wantNoOverflow()
	}
	w.Press("#raid")
	other.See(hasButton("raid", "Start raid mode", ""))
}

// places are the places of the switches in the window.
const places = `[...document.querySelectorAll(".switches :is(button, select)")].map((e) => {
	const { x, y, width, height } = e.getBoundingClientRect();
	return [e.id, x, y, width, height].join(" ");
})`

// TestSwitchPage_NothingMoves turns the switches on and off: each keeps its place, in each language
// and in windows of all sizes.
func TestSwitchPage_NothingMoves(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	widths := []int64{320, 390, 768, 980, 1280, 1920}
	for _, tag := range language.All {
		w.SetCookie("http://"+w.address, language.Cookie, tag)
		w.Must(chromedp.Reload())
		isOff := fmt.Sprintf(`document.documentElement.lang === %q && document.querySelector("#raid-length:enabled") && document.querySelectorAll(".switch-state").length === 0`, tag)
		var off [][]string
		w.See(isOff)
		for _, width := range widths {
			w.Must(chromedp.EmulateViewport(width, 800))
			w.See(fmt.Sprintf("innerWidth === %d", width))
			off = append(off, browsertest.Eval[[]string](w.Window, places))
		}
		w.Press("#pause")
		w.Press("#raid")
		w.See(`document.querySelectorAll(".switch-state").length === 2 && document.querySelector("#raid-length:disabled")`)
		for i, width := range widths {
			w.Must(chromedp.EmulateViewport(width, 800))
			w.See(fmt.Sprintf("innerWidth === %d", width))
			if on := browsertest.Eval[[]string](w.Window, places); fmt.Sprint(on) != fmt.Sprint(off[i]) || len(on) != 4 {
				t.Errorf("%s, %d px: on, the switches are at %q; off, at %q", tag, width, on, off[i])
			}
		}
		w.Press("#pause")
		w.Press("#raid")
		w.See(isOff)
	}
}
