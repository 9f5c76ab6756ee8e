//go:build browser

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/demo"
)

// rareStates are the states that only pictures of all pages show. As with pageStates, each comes
// after the one before.
var rareStates = []pageState{
	{"now-silenced", func(d *dashboard) {
		for i, name := range browsertest.Eval[[]string](d.Window, `[...document.querySelectorAll("main .row .who a bdi")].map((name) => name.textContent).slice(0, 6)`) {
			d.twitch.Silence(demo.First, strings.ToLower(name), time.Duration(i)*time.Hour) // 0 is a ban
		}
		d.showPage("now?tab=silenced", `main .row:nth-child(6)`)
	}},
	{"now-nobody", func(d *dashboard) { d.showPage("now?tab=silenced&show=failed", ".nobody") }},
	{"row-menu", func(d *dashboard) {
		d.showPage("now?tab=recent", "main .row")
		d.Click(`.row [id^="menu-of-"]`)
		d.See(`document.querySelector(".question.menu")`)
	}},
	{"row-answer", func(d *dashboard) {
		d.Click(`.question.menu .lengths button`)
		d.See(`document.querySelector(".of-answer .outcome")`)
	}},
	{"row-timeout", func(d *dashboard) { d.askInRow("other", "timeout") }},
	{"row-grant", func(d *dashboard) { d.askInRow("grant", "grant") }},
	{"row-exempt", func(d *dashboard) { d.askInRow("exempt", "exempt") }},
	{"row-around", func(d *dashboard) {
		d.Click(".row .text-button")
		d.See(`document.querySelector(".of-around li")`)
	}},
	{"palette", func(d *dashboard) {
		d.setState(`s.dialog = "palette"`)
		d.See(`document.querySelector("dialog[open] input")`)
	}},
	{"keys", func(d *dashboard) {
		d.setState(`s.dialog = "keys"`)
		d.See(`document.querySelector("dialog[open] kbd")`)
	}},
	{"alerts", func(d *dashboard) {
		d.setState(`s.dialog = "alerts"`)
		d.See(`document.querySelector("#alert-sound")`)
	}},
	{"limits-kinds", func(d *dashboard) {
		d.setState(`s.dialog = ""`)
		d.showPage("limits", "#burst-0")
		d.Click("#unfold-kind-0")
		d.Click("#unfold-name-0")
		d.See(`document.querySelector("#name-0") && document.querySelector("#kind-of-0 input")`)
	}},
	{"limits-mistake", func(d *dashboard) {
		d.Click("#add-limit")
		d.Write(`[id^="times-"]`, "2")
		d.Write("#burst-0", "x")
		d.See(`document.querySelector("[aria-invalid=true]")`)
	}},
	{"limits-presets", func(d *dashboard) {
		d.Press(".discard")
		d.See(`document.querySelector("#burst-0").value === "3"`)
		if browsertest.Eval[bool](d.Window, `!document.querySelector("#presets")`) {
			d.Click("#choose-preset")
		}
		d.Click(`[id^="preset-"]`)
		d.See(`document.querySelector("#undo-preset")`)
	}},
	{"person-timeout", func(d *dashboard) {
		d.Press(".discard")
		d.See(`document.querySelector("#burst-0").value === "3"`)
		d.showPage("people?user="+d.lastTimedOut(), ".person canvas")
		d.Click("#amend-timeout")
		d.See(`document.querySelector("#timeout-length")`)
	}},
	{"person-unknown", func(d *dashboard) { d.showPage("people?user=404", "main p") }},
	{"admin-token", func(d *dashboard) {
		d.showPage("admin", "#new-token")
		d.Click("#new-token")
		d.See(`document.querySelector("#access-make")`)
	}},
	{"admin-secret", func(d *dashboard) {
		d.Write("#access-name", "stream deck")
		d.Click("#access-make")
		d.See(`document.querySelector("#new-secret-title")`)
		d.Click(`[id^="end-/sessions"]`)
	}},
	{"admin-webhook", func(d *dashboard) {
		d.Click("#webhook-add")
		d.See(`document.querySelector("#webhook-save")`)
	}},
	{"waiting", func(d *dashboard) {
		d.showPage("now", "main .row")
		d.endFeed()
		d.setState(`Object.assign(s, { channels: [], channel: "", unidentified: [{ login: "gardenhourr", reason: "no channel" }, { login: "teahouse", reason: "no address", detail: "lookup irc.chat.twitch.tv: no such host" }] })`)
		d.See(`document.querySelector(".waiting .headline")`)
	}},
	{"lost", func(d *dashboard) {
		d.open("/")
		d.Must(chromedp.Reload())
		d.See(`document.querySelector("main .row")`)
		d.endFeed()
		d.setState(`s.feed = { ...s.feed, state: "lost" }`)
		d.See(`document.querySelector(".banner.lost")`)
	}},
	{"missing", func(d *dashboard) { d.open("/nowhere") }},
	{"sign-in", func(d *dashboard) {
		d.Window = browsertest.Open(d.TB, laptop.width, laptop.height)
		d.open("/")
		d.See(`document.querySelector("#token")`)
	}},
	{"viewer-out", func(d *dashboard) {
		d.Must(chromedp.Navigate(d.app.ViewerAddress(demo.First)))
		d.See(`document.querySelector("#sign-in")`)
	}},
	{"setup", func(d *dashboard) {
		d.Window = beginEvening(d.TB, laptop.width, laptop.height).Window
		d.See(`document.querySelector("#begin")`)
	}},
}

// labStates are the scenes of the Lab.
var labStates = func() (states []pageState) {
	for _, id := range []string{"chat", "copies", "clock", "own", "log", "estimate", "tokens", "queue", "cascade", "five", "midnight", "push", "accuracy", "edge"} {
		states = append(states, pageState{"lab-" + id, func(d *dashboard) { d.openScene(id) }})
	}
	return states
}()

// openScene opens a scene of the Lab, and waits until it is drawn or measured.
func (d *dashboard) openScene(id string) {
	d.Helper()
	d.open("/lab")
	d.See(`document.querySelector("main h1, main h2")`)
	link := browsertest.Await[string](d.Window, fmt.Sprintf(`import("/lab/scenes.js").then(({ linkOf, sceneOf }) => linkOf(sceneOf(%q)))`, id))
	d.open("/")
	d.open("/lab" + link)
	d.See(fmt.Sprintf(`document.querySelector(".lane canvas, .chat-window, .experiment canvas") && location.hash.includes(%q)`, id))
}

// askInRow opens a question of the first row from its menu.
func (d *dashboard) askInRow(control, question string) {
	d.Helper()
	d.showPage("now?tab=recent", "main .row")
	d.Type("\x1b") // closes what was asked before
	d.See(`!document.querySelector(".row .question")`)
	d.Click(`.row [id^="menu-of-"]`)
	d.Click(fmt.Sprintf(`.question.menu [id^="%s-of-"]`, control))
	d.See(fmt.Sprintf(`document.querySelector(".of-%s")`, question))
}

// endFeed ends the live feed, which would change the state again.
func (d *dashboard) endFeed() {
	d.Helper()
	browsertest.Await[bool](d.Window, `import("/app/shell/live.js").then(({ stop }) => { stop(); return true; })`)
}

// setState changes the state of the page by a statement about s.
func (d *dashboard) setState(statement string) {
	d.Helper()
	browsertest.Await[bool](d.Window, fmt.Sprintf(`import("/app/core/state.js").then(({ update }) => { update((s) => { %s; }); return true; })`, statement))
}
