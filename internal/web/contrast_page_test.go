//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// looksChosen returns a script: whether the one chosen element of a selector looks different from
// the others, by its background.
func looksChosen(all, chosen string) string {
	return fmt.Sprintf(`(() => {
		const look = (e) => getComputedStyle(e).backgroundColor;
		const [one, ...more] = document.querySelectorAll(%[2]q);
		const others = [...document.querySelectorAll(%[1]q)].filter((e) => e !== one);
		return one && more.length === 0 && others.length > 0 && others.every((e) => look(e) !== look(one));
	})()`, all, chosen)
}

// isDrawn returns a script: whether an element has another background than the page, with forced
// colors.
func isDrawn(selector string) string {
	return fmt.Sprintf(`(([a, b]) => a !== b && a !== "rgba(0, 0, 0, 0)")(["%s", "body"].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor))`, selector)
}

// With forced colors, the browser replaces all backgrounds. What is chosen, and how full something
// is, must still be seen.
func TestContrast_ForcedColors(t *testing.T) {
	d := dash(t)
	d.throttleUsers(2)
	w := d.open(1400, 900)
	for _, scheme := range []string{"light", "dark"} {
		w.Prefer(map[string]string{"forced-colors": "active", "prefers-color-scheme": scheme})
		w.goTo("now")
		w.See(hasRows("user_1", 1))
		for _, want := range []string{
			looksChosen("nav a", "nav a[aria-current]"), looksChosen(".list-bar .tabs > *", ".list-bar .tabs > [aria-current]"), looksChosen(".spans button", ".spans button[aria-pressed=true]"),
			isDrawn(".status .dot"), isDrawn(".filled"),
		} {
			w.See(want)
		}
		// Pictures have the theme that fits the forced colors, whatever the person has chosen.
		w.See(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, scheme))
	}
	w.Must(chromedp.Navigate("http://" + w.address + "/lab"))
	w.See(looksChosen("[id^=speed-]", "[id^=speed-][aria-pressed=true]") + "&&" + looksChosen("[id^=traffic-][aria-pressed]", "[id^=traffic-][aria-pressed=true]"))
}

// Who asks for more contrast gets it: texts, hairlines and what is chosen.
func TestContrast_More(t *testing.T) {
	d := dash(t)
	d.throttleUsers(2)
	w := d.open(1400, 900)
	w.See(hasRows("user_1", 1))
	const color = `((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim())`
	before := browsertest.Eval[string](w.Window, color+`("--muted")`)
	w.Prefer(map[string]string{"prefers-contrast": "more"})
	w.See(fmt.Sprintf(`%s("--muted") !== %q`, color, before))
	w.See(`getComputedStyle(document.querySelector("nav a[aria-current]")).boxShadow.includes("inset")`)
	w.Accessible()

	// Asking again loads nothing, which might be impossible by then.
	const sheet = `document.querySelector("link[href*='contrast.css']").sheet`
	w.Must(chromedp.Evaluate[chromedp.Void]("window.loaded = " + sheet + `; document.head.append(document.createElement("meta"))`)) // as a part of the page that is loaded later
	w.Prefer(nil)
	w.See(fmt.Sprintf(`%s("--muted") === %q`, color, before))
	w.Prefer(map[string]string{"prefers-contrast": "more"})
	w.See(fmt.Sprintf(`%s("--muted") !== %q`, color, before))
	if !browsertest.Eval[bool](w.Window, "window.loaded === "+sheet) {
		t.Error("contrast.css is loaded again")
	}
}
