//go:build browser

package web

import (
	"fmt"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
)

func init() { stopBrowser, clockStart = browsertest.Stop, time.Time{} }

// window is a browser window that shows a dashboard.
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
	w.See(`document.querySelector(".list-bar, .nobody")`)
	return w
}

func (d *dashboard) openBlank(width, height int64) *window {
	d.Helper()
	return &window{browsertest.Open(d.TB, width, height), d}
}

// goTo follows a link of the page's navigation, and waits until that page is loaded.
func (w *window) goTo(page string) {
	w.Window.Helper()
	w.Click(fmt.Sprintf(`nav a[href^="#/%s"]`, page))
	w.waitForPage(page)
}

// waitForPage waits until a page is loaded.
func (w *window) waitForPage(page string) {
	w.Window.Helper()
	w.See(fmt.Sprintf(`document.querySelector("main h1")?.innerText.toLowerCase() === %q`, page))
}

// openAgain opens another window and signs in as another user.
func (d *dashboard) openAgain(width, height int64) *window {
	d.Helper()
	d.store.addCode("other-code", "ben")
	return d.openWith("other-code", width, height)
}

// openAs opens another window, signed in under a name with the given access.
func (d *dashboard) openAs(name string, access auth.Access, width, height int64) *window {
	d.Helper()
	d.store.addCodeFor("code-of-"+name, auth.Identity{Name: name, Access: access})
	return d.openWith("code-of-"+name, width, height)
}
