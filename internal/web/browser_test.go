package web

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

func TestMain(m *testing.M) {
	if feeds := os.Getenv(benchReaders); feeds != "" {
		readFeeds(feeds)
		return
	}
	code := m.Run()
	browsertest.Stop()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// window is a browser window that looks at a dashboard.
type window struct {
	*browsertest.Window
	*dashboard
}

// open opens a window with the sign-in link's code.
func (d *dashboard) open(width, height int64) *window {
	d.Helper()
	return d.openWith("good-code", width, height)
}

func (d *dashboard) openWith(code string, width, height int64) *window {
	d.Helper()
	w := d.openBlank(width, height)
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=" + code))
	w.See(`[...document.querySelectorAll(".figures dd, .nobody")].some((e) => e.textContent !== "–")`)
	return w
}

func (d *dashboard) openBlank(width, height int64) *window {
	d.Helper()
	return &window{browsertest.Open(d.TB, width, height), d}
}

// goTo follows a link of the page's navigation.
func (w *window) goTo(page string) {
	w.Window.Helper()
	w.Click(fmt.Sprintf(`nav a[href^="#/%s"]`, page))
}

// openAgain opens another window, signed in as somebody who has a code of their own.
func (d *dashboard) openAgain(width, height int64) *window {
	d.Helper()
	d.store.addCode("other-code", "ben")
	return d.openWith("other-code", width, height)
}

// openAs opens another window, signed in as somebody who may do as much.
func (d *dashboard) openAs(name string, access journal.Access, width, height int64) *window {
	d.Helper()
	d.store.addCodeFor("code-of-"+name, journal.Holder{Name: name, Access: access})
	return d.openWith("code-of-"+name, width, height)
}
