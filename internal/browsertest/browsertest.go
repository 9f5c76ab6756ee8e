// Package browsertest opens windows of a real browser for tests of the dashboard. It knows no page.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	// patience is how long something may be waited for before the test says where it hangs.
	patience = 30 * time.Second
	// lifetime is how long a test may use a window at all.
	lifetime = 4 * time.Minute
)

// lastLook is how long a page that has run out of patience may take to say what it shows.
const lastLook = 5 * time.Second

// chromium is the one browser of all tests. Each window shares nothing with the others.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func start() {
	path, err := findBrowser()
	if err != nil {
		chromium.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	chromium.ctx, chromium.stop = ctx, func() { stop(); stopAllocator() }
	chromium.err = chromedp.Do(ctx)
}

func findBrowser() (path string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("the browser tests need Chromium: install it (Debian: apt-get install chromium)")
}

// Stop ends the browser, if one was started. Call it when all tests of a package have ended.
func Stop() {
	if chromium.stop != nil {
		chromium.stop()
	}
}

// Window is a window of the browser. Its methods end the test where the page doesn't do what they wait for.
type Window struct {
	testing.TB
	tab context.Context // lives as long as the window
	ctx context.Context // ends when its lifetime does
}

// Open opens an empty window. The test fails where a page in it throws or breaks its content policy.
func Open(tb testing.TB, width, height int64) *Window {
	tb.Helper()
	chromium.once.Do(start)
	if chromium.err != nil {
		tb.Fatal(chromium.err)
	}
	tab, close := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	tb.Cleanup(close)
	ctx, cancel := context.WithTimeout(tab, lifetime)
	tb.Cleanup(cancel)
	w := &Window{tb, tab, ctx}
	w.Must(chromedp.EmulateViewport(width, height))
	w.heedConsole()
	return w
}

func (w *Window) heedConsole() {
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(done)
		for m, err := range messages {
			if err == nil && (m.IsException() || m.Source == "security") {
				w.Errorf("the page's console: %s", m)
			}
		}
	}()
	w.Cleanup(func() { cancel(); <-done })
}

// Must takes steps one after another.
func (w *Window) Must(steps ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		w.Fatal(err)
	}
}

// Eval returns the value of an expression of JavaScript.
func Eval[T any](w *Window, expression string) T {
	w.Helper()
	value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		w.Fatalf("%s: %v", expression, err)
	}
	return value
}

// look is true once an expression is. An expression that throws, because what it asks for isn't there yet, is asked again; what it throws at the end
// is the promise's too.
const look = `new Promise((done, fail) => {
	const until = Date.now() + %d;
	const look = () => {
		try {
			if (%s) return done(true);
		} catch (problem) {
			if (Date.now() > until) return fail(problem);
		}
		Date.now() > until ? done(false) : setTimeout(look, 20);
	};
	look();
})`

// See waits until an expression of JavaScript is true.
func (w *Window) See(expression string) {
	w.Helper()
	seen, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](fmt.Sprintf(look, patience.Milliseconds(), expression), chromedp.EvalAwaitPromise))
	if err == nil && !seen {
		err = fmt.Errorf("not within %s", patience)
	}
	if err != nil {
		w.fatal("never seen: %s: %v", expression, err)
	}
}

// fatal ends the test, and says what the page shows.
func (w *Window) fatal(format string, args ...any) {
	w.Helper()
	last, cancel := context.WithTimeout(w.tab, lastLook)
	defer cancel()
	text, err := chromedp.Run(last, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		text = err.Error()
	}
	w.Fatalf("%s\nthe page says:\n%s", fmt.Sprintf(format, args...), text)
}

// Press clicks a button once that is possible.
func (w *Window) Press(button string) {
	w.Helper()
	w.See(fmt.Sprintf(`document.querySelector(%q)?.matches(":enabled:not([aria-disabled=true])")`, button))
	w.Click(button)
}

// middle is where the first of what a selector finds is clicked: once two looks find it in the same place, and nothing over it. Out of sight, or behind a
// bar that stays while the page scrolls, it is scrolled to.
const middle = `(async () => {
	const until = Date.now() + %d;
	let before = "", over = null;
	while (Date.now() < until) {
		const wanted = document.querySelector(%q);
		over = null;
		const [place] = wanted?.getClientRects() ?? [];
		if (place && JSON.stringify(place) === before) {
			const point = [place.x + place.width / 2, place.y + place.height / 2];
			over = document.elementFromPoint(...point);
			if (wanted.contains(over) || over?.closest("label")?.control === wanted) return point;
			wanted.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
		}
		before = JSON.stringify(place);
		await new Promise((next) => setTimeout(next, 40));
	}
	throw new Error(over ? "behind " + over.outerHTML.slice(0, 200) : "not there, out of sight or never still");
})()`

// Click clicks on what a CSS selector finds, once it lies still and nothing covers it.
func (w *Window) Click(selector string) {
	w.Helper()
	point, err := chromedp.Run(w.ctx, chromedp.Evaluate[[2]float64](fmt.Sprintf(middle, patience.Milliseconds(), selector), chromedp.EvalAwaitPromise))
	if err != nil {
		w.fatal("never clicked: %s: %v", selector, err)
	}
	w.Must(chromedp.MouseClickXY(point[0], point[1]))
}

// Write replaces what stands in a field.
func (w *Window) Write(field, text string) {
	w.Helper()
	w.Must(
		chromedp.Focus(chromedp.CSS(field)),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).select()`, field)),
		chromedp.SendKeys(chromedp.CSS(field), text),
	)
}

// Picture returns what the window shows, as PNG.
func (w *Window) Picture() []byte {
	w.Helper()
	picture, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		w.Fatal(err)
	}
	return picture
}
