//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
)

func TestShell_ThemeIsKept(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.Prefer(map[string]string{"prefers-color-scheme": "light"})
	theme := func(name string) string { return fmt.Sprintf("document.documentElement.dataset.theme === %q", name) }
	w.See(theme("light"))
	w.Click("header .account")
	w.Click("#theme-dark")
	w.See(theme("dark") + `&& document.querySelector("#theme-dark").ariaPressed === "true"`)
	w.Click("#density-compact")
	w.See(`document.documentElement.dataset.density === "compact"`)
	w.Accessible()
	w.Click("#open-alerts")
	w.See(hasDialog("Alerts"))
	w.Accessible()
	w.Must(chromedp.EmulateViewport(390, 844))
	w.See("innerWidth === 390")
	w.wantNoOverflow()
	w.Type(kb.Escape)
	w.See(noDialog + `&& document.activeElement.matches("header .account")`)
	w.Must(chromedp.EmulateViewport(1400, 900))
	w.Must(chromedp.Reload())
	w.See(hasText("Nobody is throttled") + "&&" + theme("dark") + `&& document.documentElement.dataset.density === "compact"`)
	w.Click("header .account")
	w.See(`document.querySelector("#theme-dark").ariaPressed === "true"`)
	w.Click("#theme-system")
	w.See(theme("light"))
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	w.See(theme("dark"))
}

const peoplePageLoaded = `performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/people/page.js"))`

// The other pages are loaded before they are shown, unless the person wants to save data.
func TestShell_LoadsPagesWhenIdle(t *testing.T) {
	w := dash(t).openBlank(1400, 900)
	w.SaveData(false)
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
	w.See(hasText("Nobody is throttled") + "&&" + peoplePageLoaded)
}

// A browser loads the first texts as the document says, and not once more for the module that reads
// them.
func TestShell_TextsPreloaded(t *testing.T) {
	w := dash(t).openBlank(1400, 900) // it saves data, so it loads no other page
	w.Must(chromedp.Navigate("http://" + w.address + "/"))
	w.See(`document.querySelector("main.sign-in")`)
	const loads = `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".json")).map(({ initiatorType }) => initiatorType).join(" ")`
	if got := browsertest.Eval[string](w.Window, loads); got != "link link link link" {
		t.Error(got)
	}
}

func TestShell_PageNotLoaded(t *testing.T) {
	w := dash(t).openBlank(1400, 900) // it saves data
	w.Block("*://*:*/app/people/page.js")
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
	w.See(hasText("Nobody is throttled"))
	w.Must(chromedp.Evaluate[chromedp.Void](`requestIdleCallback(() => setTimeout(() => (window.wasIdle = true), 200))`))
	w.See(`window.wasIdle && !` + peoplePageLoaded)
	w.goTo("people")
	w.See(hasText("This page could not be loaded."))
	w.Accessible()
	w.Block("")
	w.Click("main .primary")
	w.See(`document.querySelector("#find")`)
}

// hasDialog returns a script that is true if the dialog with a label is open.
func hasDialog(label string) string {
	return fmt.Sprintf(`document.querySelector("dialog:modal")?.ariaLabel === %q`, label)
}

const noDialog = `!document.querySelector("dialog")`

func (w *window) openPalette() {
	w.Window.Helper()
	w.Must(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.See(hasDialog("Command palette") + `&& document.activeElement.matches("[role=combobox]")`)
}

func TestPalette_Keyboard(t *testing.T) {
	d := dash(t)
	d.throttleUsers(3)
	w := d.open(1400, 900)
	w.See(hasRows("user_2", 1))
	w.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector("header .account").focus()`))
	w.openPalette()
	w.Type(kb.Escape)
	w.See(noDialog + `&& document.activeElement.matches("header .account")`)

	w.openPalette()
	w.Write("[role=combobox]", "user_1")
	w.See(`document.querySelector("#palette-entries li[aria-selected=true]")?.innerText.includes("user_1")`)
	w.Accessible()
	w.Type(kb.Enter)
	w.See(noDialog + `&& location.hash.startsWith("#/people") && ` + hasText("user_1"))

	w.openPalette()
	w.Write("[role=combobox]", "raid")
	w.Type(kb.Enter)
	w.See(hasButton("raid", "End raid mode", ", by anna (link)"))
	w.openPalette()
	w.Type(kb.ArrowUp + kb.Enter) // from the first to the last
	w.See(hasText("chatguard signin"))
}

// TestKeys_FindUser checks that / finds a user from a page and from a dialog, and is a character in
// a field, as ? is.
func TestKeys_FindUser(t *testing.T) {
	w := dash(t).open(360, 800)
	const isFinding = `location.hash.startsWith("#/people") && document.activeElement.id === "find"`
	w.See(hasText("Nobody is throttled."))
	w.Type("/")
	w.See(isFinding + `&& document.getElementById("find").value === ""`)
	w.Type("/?")
	w.See(`document.getElementById("find").value === "/?" && ` + noDialog)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.TypeIn("#burst-0", "/")
	w.See(`location.hash.startsWith("#/limits")`)
	w.Must(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"))
	w.Type("?")
	w.See(hasDialog("Keyboard shortcuts"))
	w.Accessible()
	w.Type("gj") // a dialog is open
	w.See(hasDialog("Keyboard shortcuts") + `&& location.hash.startsWith("#/limits")`)
	w.Type("/")
	w.See(noDialog + "&&" + isFinding)
}
