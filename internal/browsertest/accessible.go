package browsertest

import (
	"cmp"
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

// inspect waits until the page has drawn its styles and short animations have finished, and returns
// what axe-core finds. It waits because nobody reads text while it fades.
const inspect = `(async () => {
	const frames = () => new Promise((next) => {
		requestAnimationFrame(() => requestAnimationFrame(next));
		setTimeout(next, 1000); // a page that isn't shown draws no frames
	});
	await frames(); // the page learns of other media features
	const missing = [...document.querySelectorAll("link[rel=stylesheet]")].filter((link) => !link.sheet && matchMedia(link.media || "all").matches);
	await Promise.all(missing.map((link) => new Promise((loaded) => ["load", "error"].forEach((type) => link.addEventListener(type, loaded)))));
	await frames();
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
// Meanwhile the page moves nothing, because a row that fades in has poor contrast. The debugger
// injects axe-core, because the page's content policy does not apply to it.
func (w *Window) Accessible() {
	w.Helper()
	if !Eval[bool](w, "'axe' in window") {
		w.Must(chromedp.Evaluate[chromedp.Void](axe + "\n;null"))
	}
	preferred := w.preferred
	defer func() { w.Prefer(preferred) }()
	w.preferStill(preferred)
	w.inspect(allRules)
	for _, look := range otherLooks {
		if look["prefers-color-scheme"] == cmp.Or(preferred["prefers-color-scheme"], "light") && look["forced-colors"] == preferred["forced-colors"] {
			continue // as shown
		}
		w.preferStill(look)
		w.inspect(colorRules)
	}
}

// preferStill emulates media features, and that the person prefers reduced motion.
func (w *Window) preferStill(features map[string]string) {
	w.Helper()
	still := map[string]string{"prefers-reduced-motion": "reduce"}
	maps.Copy(still, features)
	w.Prefer(still)
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
