// Package browsertest opens windows of a real browser for tests of the dashboard. It must not know
// the pages under test.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

const (
	// maxWait is the maximum duration of any wait. After that the test fails and says what it was
	// waiting for.
	maxWait = time.Minute
	// lifetime is the maximum time that a test may use a window.
	lifetime = 8 * time.Minute
	// aims is the number of attempts to click an element that moves away.
	aims = 3
)

// lastLook is the time to read what a page shows after a timeout.
const lastLook = 5 * time.Second

// chromium is the one browser of all tests. The windows are isolated from each other.
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
	if resolved != "" {
		options = append(options, chromedp.Flag("host-resolver-rules", resolved), chromedp.Flag("ignore-certificate-errors", true))
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	chromium.ctx, chromium.stop = ctx, func() { stop(); stopAllocator() }
	chromium.err = chromedp.Do(ctx)
}

// resolved are the browser's rules for host names.
var resolved string

// Resolve makes the browser connect to an IP address for all host names below a domain, and accept
// any certificate. Call it before any test.
func Resolve(domain, ip string) { resolved = "MAP *." + domain + " " + ip }

// findBrowser returns the path of a browser. It prefers the headless browser, which needs much less
// processor time.
func findBrowser() (path string, err error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("the browser tests need Chromium: install it (Debian: apt-get install chromium)")
}

// Stop ends the browser, if one was started. Call it after all tests of a package.
func Stop() {
	if chromium.stop != nil {
		chromium.stop()
	}
}

// Window is a window of the browser. Its methods end the test if the page does not do what they
// wait for.
type Window struct {
	testing.TB
	tab context.Context // lives as long as the window
	ctx context.Context // ends when the window's lifetime ends

	preferred map[string]string // see Prefer
}

// Open opens an empty window. The test fails if a page in it throws or violates its content policy.
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
	w := &Window{TB: tb, tab: tab, ctx: ctx}
	w.Must(chromedp.EmulateViewport(width, height))
	w.SaveData(true)
	w.keepFocus()
	w.watchConsole()
	return w
}

func (w *Window) watchConsole() {
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

// Must runs steps in order.
func (w *Window) Must(steps ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		w.Fatal(err)
	}
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](w *Window, expression string) T {
	w.Helper()
	value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		w.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Await returns the value of a JavaScript promise.
func Await[T any](w *Window, promise string) T {
	w.Helper()
	value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](promise, chromedp.EvalAwaitPromise))
	if err != nil {
		w.Fatalf("%s: %v", promise, err)
	}
	return value
}

// look is a promise that resolves to true when an expression is true. If the expression throws, for
// example because an element does not exist yet, it is evaluated again. An exception at the
// deadline rejects the promise.
const look = `new Promise((done, fail) => {
	const until = Date.now() + %d;
	const look = () => {
		try {
			if (%s) return done(true);
		} catch (problem) {
			if (Date.now() > until) return fail(problem);
		}
		Date.now() > until ? done(false) : setTimeout(look, 50);
	};
	look();
})`

// See waits until a JavaScript expression is true, on this page or on one to which the browser goes
// meanwhile.
func (w *Window) See(expression string) {
	w.Helper()
	until := time.Now().Add(maxWait)
	seen, err := false, error(nil)
	for gone := true; gone && time.Now().Before(until); gone = isGone(err) {
		seen, err = chromedp.Run(w.ctx, chromedp.Evaluate[bool](fmt.Sprintf(look, maxWait.Milliseconds(), expression), chromedp.EvalAwaitPromise))
	}
	if err == nil && !seen {
		err = fmt.Errorf("not within %s", maxWait)
	}
	if err != nil {
		w.fatal("never seen: %s: %v", expression, err)
	}
}

// shown returns the page's address, the focused element, the values of its fields and its text.
const shown = `(() => {
	const name = (e) => e?.localName + (e?.id && "#" + e.id);
	const field = (e) => name(e) + ": " + JSON.stringify(/checkbox|radio/.test(e.type) ? e.checked : e.value);
	const fields = [...document.querySelectorAll("input, select, textarea")].filter((e) => e.type !== "password");
	return [location.href, "focus: " + name(document.activeElement), ...fields.map(field), document.body.innerText].join("\n");
})()`

// fatal ends the test and prints what the page shows.
func (w *Window) fatal(format string, args ...any) {
	w.Helper()
	last, cancel := context.WithTimeout(w.tab, lastLook)
	defer cancel()
	text, err := chromedp.Run(last, chromedp.Evaluate[string](shown))
	if err != nil {
		text = err.Error()
	}
	w.Fatalf("%s\nthe page:\n%s", fmt.Sprintf(format, args...), text)
}

// Press clicks a button once it is enabled.
func (w *Window) Press(button string) {
	w.Helper()
	w.See(fmt.Sprintf(`document.querySelector(%q)?.matches(":enabled:not([aria-disabled=true])")`, button))
	w.Click(button)
}

// still polls the element of a selector until look returns the same value twice in a row and accept
// returns a value. It returns the value of accept. Between polls it waits until a frame is drawn
// and the page's work after that frame is done.
const still = `const still = async (selector, look, accept, problem) => {
	const until = Date.now() + %d;
	let before;
	while (Date.now() < until) {
		const element = document.querySelector(selector);
		const seen = element ? look(element) : undefined;
		const accepted = seen !== undefined && seen === before && accept(element);
		if (accepted) return accepted;
		before = seen;
		await new Promise((next) => {
			setTimeout(() => requestAnimationFrame(() => setTimeout(next)), 40);
			setTimeout(next, 1000); // a page that isn't shown draws no frames
		});
	}
	throw new Error(problem());
};`

// middle returns the point to click once the element is still and nothing covers it. An element out
// of sight or behind a sticky bar is scrolled into view. After the click, window.aimed says whether
// it hit the element.
const middle = `(async () => {
	%s
	let over = null;
	const place = (wanted) => JSON.stringify(wanted.getClientRects()[0]);
	const isOn = (wanted, hit) => wanted.contains(hit) || hit?.closest("label")?.control === wanted;
	const free = (wanted) => {
		const { x, y, width, height } = wanted.getClientRects()[0];
		const point = [x + width / 2, y + height / 2];
		over = document.elementFromPoint(...point);
		if (!isOn(wanted, over)) {
			wanted.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
			return null;
		}
		const aimed = (window.aimed = { hit: false });
		addEventListener("click", ({ target }) => (aimed.hit = isOn(wanted, target)), { capture: true, once: true });
		return point;
	};
	return still(%q, place, free, () => (over ? "behind " + over.outerHTML.slice(0, 200) : "not there, out of sight or never still"));
})()`

// Click clicks the first element that matches a CSS selector, once it is still and nothing covers
// it. Like a person, it tries again if the element moves away at that moment.
func (w *Window) Click(selector string) {
	w.Helper()
	for range aims {
		point, err := chromedp.Run(w.ctx, chromedp.Evaluate[[2]float64](fmt.Sprintf(middle, fmt.Sprintf(still, maxWait.Milliseconds()), selector), chromedp.EvalAwaitPromise))
		if err != nil {
			w.fatal("never clicked: %s: %v", selector, err)
		}
		w.Must(chromedp.MouseClickXY(point[0], point[1]))
		hit, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool]("!window.aimed || aimed.hit"))
		if hit || isGone(err) { // aimed is gone if the click left the page
			return
		}
		if err != nil {
			w.fatal("never known whether it was clicked: %s: %v", selector, err)
		}
		w.Logf("%s moved away from a click", selector)
	}
	w.fatal("never hit: %s", selector)
}

// isGone reports whether the error says that the browser has left the page in the meantime.
func isGone(err error) bool {
	var refused *cdproto.Error
	return errors.As(err, &refused) && strings.Contains(refused.Message, "navigated")
}

// Type presses keys one after another in the focused element. As with a real keyboard, a key that
// the page handles itself enters no character, even if the key moves the focus.
func (w *Window) Type(keys string) {
	w.Helper()
	w.Must(chromedp.KeyEvent(keys, func(key *input.DispatchKeyEventParams) {
		if key.Type == input.DispatchKeyEventTypeKeyDown {
			key.Type = input.DispatchKeyEventTypeRawKeyDown
		}
	}))
}

// TypeIn presses keys in the element of a CSS selector, once the element can have the focus.
func (w *Window) TypeIn(selector, keys string) {
	w.Helper()
	w.See(fmt.Sprintf(`(document.querySelector(%[1]q)?.focus(), document.activeElement === document.querySelector(%[1]q))`, selector))
	w.Type(keys)
}

// whole focuses a field and selects all its text, once the text no longer changes.
const whole = `(async () => {
	%s
	const text = (field) => (field.focus(), field === document.activeElement ? field.value : undefined);
	return still(%q, text, (field) => (field.select(), true), () => "not there, without the focus or never still");
})()`

// Write replaces the text of a field. If text is empty, it only selects the old text. Enter and
// other control characters at the end of text are pressed after the rest has been entered.
func (w *Window) Write(field, text string) {
	w.Helper()
	if err := chromedp.Do(w.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(whole, fmt.Sprintf(still, maxWait.Milliseconds()), field), chromedp.EvalAwaitPromise)); err != nil {
		w.fatal("never written in: %s: %v", field, err)
	}
	letters := strings.TrimRightFunc(text, unicode.IsControl)
	w.Type(letters)
	if written := Eval[string](w, fmt.Sprintf("document.querySelector(%q).value", field)); letters != "" && written != letters {
		w.fatal("in %s stands %q after %q was written", field, written, letters)
	}
	w.Type(text[len(letters):])
}

// Picture returns a screenshot of the window as a PNG.
func (w *Window) Picture() []byte {
	w.Helper()
	picture, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		w.Fatal(err)
	}
	return picture
}
