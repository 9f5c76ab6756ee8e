//go:build browser

package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/roles"
)

var (
	gardenhour = chatguard.User{ID: "71", Login: "gardenhour"}
	teahouse   = chatguard.User{ID: "72", Login: "teahouse", Roles: chatguard.Roles{roles.Subscriber}}
)

// visit writes a fragment into the address bar, and waits until that page is loaded.
func (w *window) visit(fragment string) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", fragment)))
	page, _, _ := strings.Cut(strings.TrimPrefix(fragment, "#/"), "?")
	w.waitForPage(page)
}

// inBothSchemes checks a page on a phone in light colours, then in a wide window in dark ones.
func (w *window) inBothSchemes(check func()) {
	w.Window.Helper()
	w.Must(chromedp.EmulateViewport(360, 900))
	w.Prefer(map[string]string{"prefers-color-scheme": "light"})
	check()
	w.Must(chromedp.EmulateViewport(1600, 900))
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	check()
}

func TestPeoplePage_HostileNames(t *testing.T) {
	d := dash(t)
	for i, name := range hostileNames {
		d.say(chatguard.User{ID: fmt.Sprintf("<u>%d</u>", i), Login: name, DisplayName: name}, 4)
	}
	d.flush()
	w := d.open(360, 900)
	w.goTo("people")
	w.See(fmt.Sprintf(`document.querySelectorAll(".found a").length === %d`, len(hostileNames)))
	w.wantNoOverflow()
	for i := range hostileNames {
		w.visit(fmt.Sprintf("#/people?user=%%3Cu%%3E%d%%3C%%2Fu%%3E", i))
		w.See(fmt.Sprintf(`document.querySelector(".person .muted")?.textContent.startsWith("ID <u>%d</u>") && document.querySelector(".person .entry")`, i))
		w.wantNoOverflow()
		w.Must(chromedp.EmulateViewport(1600, 900))
		w.wantNoOverflow()
		w.Must(chromedp.EmulateViewport(360, 900))
	}
	w.wantUnharmed()
}

// hostileNames are names and texts that would have an effect in a careless page.
var hostileNames = []string{
	`<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`,
	"\u202Egnp.exe\u202D مرحبا",
	strings.Repeat("W", 10_000),
	"{{constructor}} ${document.title='broken'} &amp; '\"",
}

// wantUnharmed fails the test if the page interpreted a text as HTML.
func (w *window) wantUnharmed() {
	w.Helper()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll("main :is(img, script, u, b)").length`); n != 0 {
		w.Errorf("texts created %d elements", n)
	}
	if title := browsertest.Eval[string](w.Window, "document.title"); title == "broken" {
		w.Errorf("the title is %q", title)
	}
}

// The list ends at the bottom of the window, so that only the list scrolls.
func TestPeoplePage_OnlyListScrolls(t *testing.T) {
	d := dash(t)
	for i := range 20 {
		d.say(chatguard.User{ID: fmt.Sprint(100 + i), Login: fmt.Sprint("teatime_", i)}, 1)
	}
	d.flush()
	w := d.open(1600, 1000)
	w.goTo("people")
	w.See(`document.querySelectorAll(".found a").length === 20`)
	w.See(`document.documentElement.scrollHeight <= innerHeight && document.querySelector(".found").scrollHeight > document.querySelector(".found").clientHeight`)
}

// The page, the card and its forms are accessible and fit a phone. What the forms ask for happens.
func TestPeoplePage_Accessible(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 1)
	d.flush()
	w := d.open(1400, 900)
	w.visit("#/people?user=" + gardenhour.ID)
	w.See(fmt.Sprintf(`document.querySelector(".person h2 bdi")?.textContent === %q`, gardenhour.Login))
	w.See(`document.querySelector(".chart canvas")`)
	w.inBothSchemes(func() {
		w.Accessible()
		w.wantNoOverflow()
	})
	w.Must(chromedp.EmulateViewport(360, 900))
	for _, form := range []string{"timeout", "ban", "exempt", "reset", "override"} {
		w.Click("#amend-" + form)
		w.See(`document.querySelector("form.amend").contains(document.activeElement)`)
		w.wantNoOverflow()
	}
	w.Write("#own-burst-burst", "0")
	w.See(`document.querySelector("#own-burst-burst-error").textContent !== ""`)
	w.Accessible()
	w.Click("#amend-grant")
	w.pickOption("#grant-limit", "burst")
	w.Write("#grant-messages", "2"+kb.Enter)
	w.See(`!document.querySelector(".amend") && document.querySelector(".amends .note") && document.activeElement.id === "amend-grant"`)
	w.wantNoOverflow()
	if v := d.say(gardenhour, 2); !v.Allowed {
		t.Error("2 messages are granted, and the second is throttled")
	}
}
