//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/web/live"
)

// hasStatus returns a script that is true if the status line of the header says word, in the color
// of a kind.
func hasStatus(kind, word string) string {
	return fmt.Sprintf(`document.querySelector("header .status.%s .word")?.innerText === %q`, kind, word)
}

func TestShell_AtEachWidth(t *testing.T) {
	d := dash(t)
	for _, width := range []int64{320, 390, 820, 1099, 1100, 1400, 1920} {
		w := d.openBlank(width, 900)
		d.store.addCode(fmt.Sprint("code-", width), "anna")
		w.Must(chromedp.Navigate(fmt.Sprint("http://", w.address, "/#signin=code-", width)))
		for _, page := range []string{"limits", "people", "journal", "audit", "now"} {
			w.goTo(page)
			w.See(`document.querySelectorAll("main h1.title").length === 1`)
			w.wantNoOverflow()
		}
		w.See(hasStatus("good", "All good"))
		w.Click("header .status")
		w.See(`document.querySelector("#states").matches(":popover-open") && ` + hasText("Database ok"))
		w.wantNoOverflow()
		w.Accessible()
		w.Click("header .account") // closes the states
		w.See(`document.querySelector("#account").matches(":popover-open") && !document.querySelector("#states").matches(":popover-open")`)
		w.wantNoOverflow()
		w.Accessible()
		w.Type(kb.Escape)
		w.See(`!document.querySelector("#account").matches(":popover-open") && document.activeElement.matches(".account")`)
	}
}

func TestShell_TabsOfPhoneStayReachable(t *testing.T) {
	d := dash(t)
	d.throttleUsers(30)
	w := d.open(390, 844)
	w.See(hasRows("user_29", 1))
	covered := browsertest.Eval[[]string](w.Window, `[...document.querySelectorAll("nav a")].filter((link) => {
		const { left, right, top, bottom } = link.getBoundingClientRect();
		return !link.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2)) || bottom - top < 40;
	}).map((link) => link.innerText)`)
	if len(covered) > 0 {
		t.Errorf("nobody can press %q", covered)
	}
}

func TestShell_WorstStateWins(t *testing.T) {
	connections := []live.Connection{{Name: "Twitch", State: live.Connected}}
	d := dash(t, func(o *Options) { o.Connections = func() []live.Connection { return connections } })
	w := d.open(390, 844)
	w.See(hasStatus("good", "All good"))
	if _, _, err := d.control.StartRaid(t.Context(), channelID, "berta", 0); err != nil {
		t.Fatal(err)
	}
	w.See(hasStatus("raid", "Raid mode"))
	if _, err := d.control.Pause(t.Context(), channelID, "berta"); err != nil {
		t.Fatal(err)
	}
	w.See(hasStatus("paused", "Paused"))
	d.breakDatabase(0)
	w.See(hasStatus("bad", "Database failing"))
	d.stop()
	w.See(hasStatus("bad", "Disconnected"))
	w.Accessible()
}

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
	w.Must(chromedp.Reload())
	w.See(hasText("Nobody is throttled") + "&&" + theme("dark") + `&& document.documentElement.dataset.density === "compact"`)
	w.Click("header .account")
	w.See(`document.querySelector("#theme-dark").ariaPressed === "true"`)
	w.Click("#theme-system")
	w.See(theme("light"))
	w.Prefer(map[string]string{"prefers-color-scheme": "dark"})
	w.See(theme("dark"))
}

func TestShell_PageNotLoaded(t *testing.T) {
	d := dash(t)
	w := d.openBlank(1400, 900)
	w.Block("*://*:*/app/people/page.js")
	d.store.addCode("people", "anna")
	w.Must(chromedp.Navigate("http://" + w.address + "/#signin=people"))
	w.See(hasText("Nobody is throttled"))
	w.goTo("people")
	w.See(hasText("This page could not be loaded."))
	w.Accessible()
	w.Block("")
	w.Click("main .primary")
	w.See(`document.querySelector("#find")`)
}

// The other pages are loaded before they are shown, unless the person wants to save data.
func TestShell_LoadsPagesWhenIdle(t *testing.T) {
	const loaded = `performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/people/page.js"))`
	for _, saves := range []bool{true, false} {
		d := dash(t)
		w := d.openBlank(1400, 900)
		w.SaveData(saves)
		w.Must(chromedp.Navigate("http://" + w.address + "/#signin=good-code"))
		w.See(hasText("Nobody is throttled"))
		w.Must(chromedp.Evaluate[chromedp.Void](`requestIdleCallback(() => setTimeout(() => (window.wasIdle = true), 200))`))
		w.See(fmt.Sprintf("window.wasIdle && %s === %v", loaded, !saves))
		w.goTo("people")
		w.See(`document.querySelector("#find") && ` + loaded)
	}
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
	w.Accessible()
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
	w.See(hasButton("raid", "End raid mode", "Raid mode until"))
	w.openPalette()
	w.Type(kb.ArrowUp + kb.Enter) // from the first to the last
	w.See(hasText("chatguard signin"))
}

func TestKeys_OnEveryPage(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.See(hasText("Nobody is throttled."))
	for key, page := range map[string]string{"l": "limits", "p": "people", "j": "journal", "a": "audit", "n": "now"} {
		w.Must(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
		w.Type("g" + key)
		w.See(fmt.Sprintf(`location.hash.startsWith("#/%s")`, page))
	}
	w.Type("?")
	w.See(hasDialog("Keyboard shortcuts"))
	w.Accessible()
	w.Type("gl") // a dialog is open
	w.See(hasDialog("Keyboard shortcuts"))
	w.Type("/")
	w.See(noDialog + `&& document.activeElement.id === "find"`)
	w.Type("?")
	w.See(`document.getElementById("find").value === "?" && ` + noDialog)
}

func TestAlerts_OnlyWhatBegins(t *testing.T) {
	d := dash(t)
	d.breakDatabase(0)
	w := d.open(390, 844)
	w.See(hasStatus("bad", "Database failing") + `&& document.getElementById("favicon").getAttribute("href") === "favicon-alert.svg"`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		window.shown = [];
		window.Notification = class {
			static permission = "default";
			static async requestPermission() { return (this.permission = "granted"); }
			constructor(title, { body }) { shown.push(body); }
		};
	}`))
	w.Click("header .account")
	w.Click("#open-alerts")
	w.See(hasDialog("Alerts") + `&& document.querySelector("#alert-test").disabled`)
	w.Accessible()
	w.wantNoOverflow()
	w.Click("#alert-notify")
	w.Click("#alert-many")
	w.Press("#alert-test")
	w.See(`shown.join() === "This is a test."`)
	w.Write("#alert-count", "2"+kb.Tab)
	w.Type(kb.Escape)
	w.See(noDialog + `&& document.activeElement.matches("header .account")`)

	d.repairDatabase()
	w.See(`document.getElementById("favicon").getAttribute("href") === "favicon.svg"`)
	d.throttleUsers(2)
	w.See(`shown.at(-1) === "2 users are throttled."`)
	d.breakDatabase(0)
	w.See(`shown.at(-1) === "Database failing."`)
	if _, _, err := d.control.StartRaid(t.Context(), channelID, "berta", 0); err != nil {
		t.Fatal(err)
	}
	w.See(`shown.join("|") === "This is a test.|2 users are throttled.|Database failing.|Raid mode has started."`)
	w.Must(chromedp.Reload())
	w.See(hasText("user_1"))
	w.Click("header .account")
	w.Click("#open-alerts")
	w.See(`document.querySelector("#alert-notify").checked && document.querySelector("#alert-count").value === "2"`)
}

func TestAlerts_RefusedByBrowser(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.Must(chromedp.Evaluate[chromedp.Void](`window.Notification = class {
		static permission = "denied";
		static async requestPermission() { return "denied"; }
	}`))
	w.Click("header .account")
	w.Click("#open-alerts")
	w.Click("#alert-notify")
	w.See(hasText("Your browser blocks notifications") + `&& !document.querySelector("#alert-notify").checked`)
	w.Accessible()
}
