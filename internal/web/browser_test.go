package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// chromium is the one browser of all tests. Each test has a window of its own that shares nothing with the others.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func openBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		chromium.err = fmt.Errorf("the browser tests need Chromium: install it (Debian: apt-get install chromium)")
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	chromium.ctx, chromium.stop = ctx, func() { stop(); stopAllocator() }
	chromium.err = chromedp.Do(ctx)
}

func closeBrowser() {
	if chromium.stop != nil {
		chromium.stop()
	}
}

// window is a browser window that looks at a dashboard.
type window struct {
	*dashboard
	tab context.Context // as long as it lives, the tab does
	ctx context.Context // bounds the test's patience
}

// patience is how long a browser test may hang before it says where.
const patience = time.Minute

// open opens a window with the sign-in link's code.
func (d *dashboard) open(width, height int64) *window {
	d.Helper()
	w := d.openBlank(width, height)
	w.must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
	w.see(`document.querySelector(".figures dd")?.textContent !== "–"`)
	return w
}

func (d *dashboard) openBlank(width, height int64) *window {
	d.Helper()
	chromium.once.Do(openBrowser)
	if chromium.err != nil {
		d.Fatal(chromium.err)
	}
	tab, closeTab := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	d.Cleanup(closeTab)
	if err := chromedp.Do(tab, chromedp.EmulateViewport(width, height)); err != nil {
		d.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, patience)
	d.Cleanup(cancel)
	w := &window{d, tab, ctx}
	w.heedConsole()
	return w
}

// heedConsole fails the test where the page throws or breaks its content policy.
func (w *window) heedConsole() {
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

func (w *window) must(steps ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		w.Fatal(err)
	}
}

// eval returns the value of an expression of JavaScript.
func eval[T any](w *window, expression string) T {
	w.Helper()
	value, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		w.Fatalf("%s: %v", expression, err)
	}
	return value
}

// see waits until an expression of JavaScript is true, however long that takes.
func (w *window) see(expression string) {
	w.Helper()
	look := fmt.Sprintf(`new Promise((done) => {
		const look = () => ((%s) ? done(true) : setTimeout(look, 20));
		look();
	})`, expression)
	if _, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise)); err != nil {
		text, _ := chromedp.Run(w.tab, chromedp.Evaluate[string]("document.body.innerText"))
		w.Fatalf("never seen: %s: %v\nthe page says:\n%s", expression, err, text)
	}
}

// press clicks a button once that is possible.
func (w *window) press(button string) {
	w.Helper()
	w.see(fmt.Sprintf(`document.querySelector(%q)?.disabled === false`, button))
	w.must(chromedp.Click(chromedp.CSS(button)))
}

// goTo follows a link of the page's navigation.
func (w *window) goTo(page string) {
	w.Helper()
	w.must(chromedp.Click(chromedp.CSS(fmt.Sprintf(`nav a[href^="#/%s"]`, page))))
}

// write replaces what stands in a field.
func (w *window) write(field, text string) {
	w.Helper()
	w.must(
		chromedp.Focus(chromedp.CSS(field)),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).select()`, field)),
		chromedp.SendKeys(chromedp.CSS(field), text),
	)
}
