//go:build browser

package web

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// BenchmarkVerdictOnAScreen measures the time from a Check until a browser has drawn the user's
// row. Meanwhile the Guard gives 1,000 other verdicts per second, most of them throttled.
func BenchmarkVerdictOnAScreen(b *testing.B) {
	d := dash(b)
	w := d.open(1400, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		window.drawn = {};
		new MutationObserver(() => {
			for (const { dataset } of document.querySelectorAll(".row[data-user]")) window.drawn[dataset.user] ??= Date.now();
		}).observe(document.body, { childList: true, subtree: true });
	}`))
	var busy sync.WaitGroup
	busy.Go(func() { d.runChat() })
	// from here on, busyChat adds and removes no rows
	w.See(`document.querySelector(".figures dd").textContent === "500"`)
	var took []time.Duration
	for i := range 20 {
		user := chatguard.User{ID: fmt.Sprint(i + 1), Login: "anna"}
		d.say(user, 3)
		start := time.Now()
		d.say(user, 1)
		w.See(fmt.Sprintf("window.drawn[%q]", user.ID))
		drawn := time.UnixMilli(int64(browsertest.Eval[float64](w.Window, fmt.Sprintf("window.drawn[%q]", user.ID))))
		took = append(took, drawn.Sub(start))
	}
	busy.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "most-ms")
	b.ReportMetric(0, "ns/op") // meaningless here
}
