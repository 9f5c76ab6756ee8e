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

// scroll scrolls to the end of the page and back in 8 seconds, a bit in each frame. It resolves to
// the number of frames per second, and the longest task in ms.
const scroll = `(async () => {
	await new Promise((next) => setTimeout(next, 2000)); // the page has loaded everything, and rows have arrived
	let longest = 0;
	const tasks = new PerformanceObserver((list) => {
		for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
	});
	tasks.observe({ type: "longtask" });
	const start = performance.now(), end = document.documentElement.scrollHeight - innerHeight;
	let frames = 0;
	for (let at = start; at < start + 8000; frames++) {
		const turn = ((at - start) % 8000) / 4000;
		scrollTo(0, end * (turn < 1 ? turn : 2 - turn));
		at = await new Promise(requestAnimationFrame);
	}
	const perSecond = (1000 * frames) / (performance.now() - start);
	await new Promise((next) => setTimeout(next, 100));
	tasks.disconnect();
	return { perSecond, longest };
})()`

// BenchmarkScroll measures how fast a list of 300 users scrolls. A task that takes less than 50 ms
// isn't long, and counts as 0.
func BenchmarkScroll(b *testing.B) {
	d := dash(b)
	w := d.open(1400, 900)
	d.throttleUsers(300)
	w.See(`document.querySelector(".figures dd").textContent === "300"`)
	type scrolled struct{ PerSecond, Longest float64 }
	var slowest, longest float64
	for i := range b.N {
		got := browsertest.Await[scrolled](w.Window, scroll)
		if i == 0 || got.PerSecond < slowest {
			slowest = got.PerSecond
		}
		longest = max(longest, got.Longest)
	}
	b.ReportMetric(slowest, "frames/s")
	b.ReportMetric(longest, "longest-task-ms")
	b.ReportMetric(0, "ns/op") // meaningless here
}

// BenchmarkOpenPage measures the processor time that a browser needs for a page on which 300 users
// wait for 10 minutes and nobody does anything.
func BenchmarkOpenPage(b *testing.B) {
	d := dash(b)
	w := d.open(1400, 900)
	d.throttleUsers(300)
	w.See(`document.querySelector(".figures dd").textContent === "300"`)
	time.Sleep(2 * time.Second) // the page has loaded everything, and rows have arrived
	const watched = 10 * time.Second
	before := w.ProcessorTime()
	for range b.N {
		time.Sleep(watched)
	}
	b.ReportMetric(100*(w.ProcessorTime()-before).Seconds()/watched.Seconds()/float64(b.N), "%core")
	b.ReportMetric(0, "ns/op") // meaningless here
}

// painted is the time from the last byte of the files that the page needs until its first paint.
const painted = `(() => {
	const [{ startTime: paint }] = performance.getEntriesByName("first-contentful-paint");
	const files = performance.getEntriesByType("resource").filter(({ responseEnd }) => responseEnd <= paint);
	return paint - Math.max(...files.map(({ responseEnd }) => responseEnd));
})()`

// BenchmarkFirstPaint measures the time from the last byte that a signed-in browser receives before
// its first paint to that paint. The browser's cache is empty.
func BenchmarkFirstPaint(b *testing.B) {
	var took []float64
	for range b.N {
		w := dash(b).open(1400, 900) // a sign-in link works once
		w.See(`performance.getEntriesByName("first-contentful-paint").length === 1`)
		took = append(took, browsertest.Eval[float64](w.Window, painted))
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-ms")
	b.ReportMetric(took[len(took)-1], "most-ms")
	b.ReportMetric(0, "ns/op") // meaningless here
}
