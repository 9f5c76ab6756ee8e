//go:build browser

package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// eightLanes has a lane of each algorithm.
const eightLanes = "#lanes=token-bucket,burst=3,refill=4s;leaky-bucket,every=4s,queue=2;fixed-window,messages=15,every=1m;user-window,messages=15,every=1m;" +
	"sliding-window,messages=15,every=1m;sliding-log,messages=15,every=1m;daily-window,messages=300;cascade,burst=3,refill=4s,extra_burst=2,extra_refill=20s"

// playing resolves to the number of frames per second in ten seconds, and the longest task in ms.
const playing = `(async () => {
	await new Promise((next) => setTimeout(next, 2000)); // the page has loaded everything
	let longest = 0;
	const tasks = new PerformanceObserver((list) => {
		for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
	});
	tasks.observe({ type: "longtask" });
	const start = performance.now();
	let frames = 0;
	for (let at = start; at < start + 10_000; frames++) at = await new Promise(requestAnimationFrame);
	const perSecond = (1000 * frames) / (performance.now() - start);
	await new Promise((next) => setTimeout(next, 100));
	tasks.disconnect();
	return { perSecond, longest };
})()`

// BenchmarkLabPlays measures frames and tasks of the browser while eight lanes play at ten times the
// speed. A task that takes less than 50 ms isn't long, and counts as 0.
func BenchmarkLabPlays(b *testing.B) {
	w := browsertest.Open(b, 1400, 1000)
	w.Must(chromedp.Navigate(serveLab(b, nil) + eightLanes + "&traffic=bursts,size=6,every=20s&speed=10"))
	w.See(tally(8, "● "))
	type played struct{ PerSecond, Longest float64 }
	slowest, longest := 1000.0, 0.0
	for b.Loop() {
		got := browsertest.Await[played](w, playing)
		slowest, longest = min(slowest, got.PerSecond), max(longest, got.Longest)
	}
	b.ReportMetric(slowest, "frames/s")
	b.ReportMetric(longest, "longest-task-ms")
	b.ReportMetric(0, "ns/op") // meaningless here
}

// watchHand notes how long after each key press the last of eight lanes shows its message.
const watchHand = `{
	window.took = [];
	addEventListener("keydown", ({ timeStamp }) => {
		const text = () => document.querySelector("#lane-8 .tally").textContent, before = text();
		const look = () => (text() === before ? requestAnimationFrame(look) : took.push(performance.now() - timeStamp));
		look();
	}, true);
}`

// BenchmarkLabHand measures the time from a key press until all eight lanes show the message.
func BenchmarkLabHand(b *testing.B) {
	w := browsertest.Open(b, 1400, 1000)
	w.Must(chromedp.Navigate(serveLab(b, nil) + eightLanes + "&traffic=hand"))
	w.See(tally(8, "● 0"))
	w.Must(chromedp.Evaluate[chromedp.Void](watchHand))
	const messages = 20
	for before := 0; b.Loop(); before += messages {
		for i := range messages {
			w.Type(" ")
			w.See(fmt.Sprintf("took.length === %d", before+i+1))
			time.Sleep(150 * time.Millisecond) // the next question may be asked
		}
	}
	took := browsertest.Eval[[]float64](w, "took")
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-ms")
	b.ReportMetric(took[len(took)-1], "most-ms")
	b.ReportMetric(0, "ns/op") // meaningless here
}
