package browsertest

import (
	_ "embed"
	"strings"

	"github.com/chromedp/chromedp"
)

// axe is axe-core, which finds accessibility problems of a page: for people who use a screen reader
// or no mouse, or who see poorly.
//
//go:embed testdata/axe/axe.min.js
var axe string

// inspect waits until short animations have finished, and returns what axe-core finds. It waits
// because nobody reads text while it fades.
const inspect = `(async () => {
	const passing = document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 2000);
	await Promise.allSettled(passing.map((a) => a.finished));
	const { violations } = await axe.run(document, { resultTypes: ["violations"] });
	return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html, target, failureSummary }) =>
		id + ": " + help + "\n\t" + target.join(" ") + "\n\t" + html.slice(0, 300) + "\n\t" + failureSummary.replaceAll("\n", "\n\t")));
})()`

// Accessible fails the test for each fault that axe-core finds in the page as shown. It names the
// rule, the element and the fix. The debugger injects axe-core, because the page's content policy
// does not apply to it.
func (w *Window) Accessible() {
	w.Helper()
	if !Eval[bool](w, "'axe' in window") {
		w.Must(chromedp.Evaluate[chromedp.Void](axe + "\n;null"))
	}
	faults, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]string](inspect, chromedp.EvalAwaitPromise))
	if err != nil {
		w.Fatal(err)
	}
	if len(faults) > 0 {
		w.Errorf("axe-core finds %d faults:\n%s", len(faults), strings.Join(faults, "\n"))
	}
}
