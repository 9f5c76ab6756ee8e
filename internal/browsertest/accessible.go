package browsertest

import (
	_ "embed"
	"fmt"
	"maps"
	"strings"

	"github.com/chromedp/chromedp"
)

// axe is axe-core, which finds accessibility problems of a page: for people who use a screen reader
// or no mouse, or who see poorly.
//
//go:embed testdata/axe/axe.min.js
var axe string

// inspect waits until the page has its styles and short animations have finished, and returns what
// axe-core finds. It waits because nobody reads text while it fades.
const inspect = `(async () => {
	const frame = () => new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 1000); });
	await frame(); // the page learns of other colors
	await frame();
	const missing = [...document.querySelectorAll("link[rel=stylesheet]")].filter((link) => !link.sheet && matchMedia(link.media || "all").matches);
	await Promise.all(missing.map((link) => new Promise((loaded) => link.addEventListener("load", loaded))));
	await frame();
	await new Promise((next) => { // once the page has drawn what depends on media features
		requestAnimationFrame(() => requestAnimationFrame(next));
		setTimeout(next, 1000); // a page that isn't shown draws no frames
	});
	const passing = document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 2000);
	await Promise.allSettled(passing.map((a) => a.finished));
	const { violations } = await axe.run(document, { resultTypes: ["violations"], %s });
	return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, target, failureSummary }) =>
		id + ": " + help + "\n\t" + target.join(" ") + "\n\t" + html.slice(0, 300) + "\n\t" + failureSummary.replaceAll("\n", "\n\t")));
})()`

// The rules that a page is inspected by: as it is shown, and with other colors.
const (
	allRules   = `rules: { "label-content-name-mismatch": { enabled: true } }`
	colorRules = `runOnly: ["color-contrast"]`
)

// otherLooks are the light theme, the dark one, and forced colors.
var otherLooks = []map[string]string{
	{"prefers-color-scheme": "light"}, {"prefers-color-scheme": "dark"}, {"prefers-color-scheme": "dark", "forced-colors": "active"},
}

// Accessible fails the test for each fault that axe-core finds in the page as shown, and for poor
// contrast in the other theme and with forced colors. It names the rule, the element and the fix.
// The debugger injects axe-core, because the page's content policy does not apply to it.
func (w *Window) Accessible() {
	w.Helper()
	if !Eval[bool](w, "'axe' in window") {
		w.Must(chromedp.Evaluate[chromedp.Void](axe + "\n;null"))
	}
	w.inspect(allRules)
	preferred := w.preferred
	defer func() { w.Prefer(preferred) }()
	for _, look := range otherLooks {
		if w.Prefer(look); !maps.Equal(look, preferred) {
			w.inspect(colorRules)
		}
	}
}

func (w *Window) inspect(rules string) {
	w.Helper()
	faults, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string](fmt.Sprintf(inspect, rules), chromedp.EvalAwaitPromise))
	if err != nil {
		w.Fatal(err)
	}
	if len(faults) > 0 {
		w.Errorf("axe-core finds %d faults with %v:\n%s", len(faults), w.preferred, strings.Join(faults, "\n"))
	}
}
