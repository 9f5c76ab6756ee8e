//go:build browser

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/demo"
	"github.com/chatguard/chatguard/internal/journal"
)

// The folders for pictures: of the documentation, and of every page and state in every size.
var (
	screenshots = flag.String("screenshots", "", "folder to write the documentation's pictures to")
	pages       = flag.String("pages", "", "folder to write pictures of every page and state to")
)

// size is the size of a window, with the name that the documentation's pictures of it have.
type size struct {
	name          string
	width, height int64
}

var (
	laptop = size{"", 1400, 900}
	sizes  = []size{{"phone", 390, 844}, laptop, {"large", 1920, 1080}}
)

// pageState is a page of the dashboard in one of its states. The states come in the order of the
// list, each after the one before.
type pageState struct {
	name string
	show func(d *dashboard)
}

var (
	// nowStates are those of the page Now and of the shell around it.
	nowStates = []pageState{
		{"now", func(d *dashboard) { d.showPage("now", "") }},
		{"now-states", func(d *dashboard) { d.openMenu("states") }},
		{"now-account", func(d *dashboard) { d.openMenu("account") }},
		{"keys", func(d *dashboard) {
			d.closeMenus()
			d.pressKeys("?", false)
		}},
		{"palette", func(d *dashboard) {
			d.closeDialog()
			d.pressKeys("k", true)
		}},
		{"teahouse", func(d *dashboard) {
			d.closeDialog()
			d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#/now?channel=%s"`, d.twitch.UserID(demo.Second))))
			d.See(`document.title.includes("teahouse") || document.body.innerText.includes("bserving")`)
		}},
		{"raid", func(d *dashboard) {
			d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#/now?channel=%s"`, d.twitch.UserID(demo.First))))
			if _, _, err := d.app.Host.Controls.StartRaid(d.Context(), d.twitch.UserID(demo.First), "anna", 0); err != nil {
				d.Fatal(err)
			}
			d.crowd.Raid()
			d.See(`document.querySelectorAll("main .row").length >= 8`)
		}},
		{"sign-in", func(d *dashboard) {
			d.Must(chromedp.Evaluate[chromedp.Void](`fetch("api/v1/session", { method: "DELETE" }).then(() => null)`, chromedp.EvalAwaitPromise))
			d.Must(chromedp.Navigate("about:blank"), chromedp.Navigate(d.app.Address()))
			d.See(`document.querySelector("#token")`)
		}},
	}
	otherStates = []pageState{
		{"limits", func(d *dashboard) { d.showPage("limits", "#burst-0") }},
		{"limits-draft", func(d *dashboard) {
			d.Write("#burst-0", "2")
			d.See(`document.querySelector(".preview .verdict")?.innerText.includes("more messages")`)
		}},
		{"people", func(d *dashboard) { d.showPage("people", "main a") }},
		{"person", func(d *dashboard) { d.showPage("people?user="+d.lastTimedOut(), ".person canvas") }},
		{"journal", func(d *dashboard) { d.showPage("journal", "#first-entry") }},
		{"journal-entry", func(d *dashboard) {
			d.Click("#first-entry")
			d.See(`document.querySelector("dialog[open]")`)
		}},
		{"audit", func(d *dashboard) {
			d.closeDialog()
			d.showPage("audit", `main a[href*="user="]`)
		}},
	}
)

// openDemo opens the demo with its crowds, as it is after the first raid.
func openDemo(t *testing.T) *dashboard {
	t.Helper()
	server, err := faketwitch.Start(faketwitch.Options{Channels: demo.Channels})
	if err != nil {
		t.Fatal(err)
	}
	c := simulatedConfig(server, t.TempDir(), "127.0.0.1:0")
	demo.SetChannels(&c)
	crowds, err := demo.MakePast(t.Context(), server, c, 1, time.Now())
	if err != nil {
		t.Fatal(errors.Join(err, server.Close()))
	}
	d := startDashboard(t, server, c, 1400, 900)
	talking, hush := context.WithCancel(context.Background())
	all, _ := errgroup.WithContext(talking)
	for _, crowd := range crowds {
		all.Go(func() error { return crowd.Run(talking, server) })
	}
	t.Cleanup(func() {
		hush()
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	})
	d.crowd = crowds[0]
	d.crowd.Raid()
	d.See(`document.querySelectorAll("main .row").length >= 8`)
	return d
}

// TestDemo_Pages shows every page of the demo in every state, and checks that it is accessible. The
// flag -pages makes pictures of all of them, and -screenshots those of the documentation.
func TestDemo_Pages(t *testing.T) {
	for name, states := range map[string][]pageState{"now": nowStates, "others": otherStates} {
		t.Run(name, func(t *testing.T) {
			d := openDemo(t)
			for _, s := range states {
				s.show(d)
				d.Must(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
				photograph(d.Window, s.name)
				d.Accessible()
			}
		})
	}
}

// documented are the states in the documentation, with their names there, and with the sizes and
// schemes of their pictures.
var documented = map[string]struct {
	name     string
	variants []string
}{
	"now":        {"now", []string{"", "-dark", "-phone"}},
	"limits":     {"limits", []string{"", "-dark", "-phone"}},
	"person":     {"people", []string{"", "-phone"}},
	"journal":    {"journal", []string{""}},
	"audit":      {"audit", []string{""}},
	"raid":       {"raid", []string{""}},
	"start-code": {"first-evening", []string{""}},
}

// photograph makes the pictures of a state that the flags request. The window then has its former
// size and the light scheme.
func photograph(w *browsertest.Window, state string) {
	w.Helper()
	for _, s := range sizes {
		for _, scheme := range []string{"light", "dark"} {
			variant := strings.TrimSuffix("-"+s.name, "-")
			if scheme == "dark" {
				variant += "-dark"
			}
			isDocumented := *screenshots != "" && slices.Contains(documented[state].variants, variant)
			if *pages == "" && !isDocumented {
				continue
			}
			resize(w, s)
			prefer(w, scheme)
			picture := w.Picture()
			if *pages != "" {
				save(w, filepath.Join(*pages, fmt.Sprintf("%s-%d-%s.png", state, s.width, scheme)), picture)
			}
			if isDocumented {
				save(w, filepath.Join(*screenshots, documented[state].name+variant+".png"), picture)
			}
		}
	}
	resize(w, laptop)
	prefer(w, "light")
}

func save(tb testing.TB, path string, picture []byte) {
	tb.Helper()
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		tb.Fatal(err)
	}
}

// resize changes the window, and waits until the page has drawn itself in its new size.
func resize(w *browsertest.Window, s size) {
	w.Helper()
	w.Must(chromedp.EmulateViewport(s.width, s.height))
	w.See(fmt.Sprintf("innerWidth === %d", s.width))
	waitDrawn(w)
}

func prefer(w *browsertest.Window, scheme string) {
	w.Helper()
	w.Prefer(map[string]string{"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"})
	waitDrawn(w)
}

// waitDrawn waits until two frames have been drawn and short animations are over.
func waitDrawn(w *browsertest.Window) {
	w.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](`(async () => {
		for (let i = 0; i < 2; i++) await new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 1000); });
		const passing = document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 2000);
		await Promise.allSettled(passing.map((a) => a.finished));
	})()`, chromedp.EvalAwaitPromise))
}

// showPage opens a page and waits until it has an element.
func (d *dashboard) showPage(page, element string) {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", "#/"+page)))
	if element != "" {
		d.See(fmt.Sprintf("document.querySelector(%q)", element))
	}
}

// openMenu opens one of the shell's menus, and closes the others.
func (d *dashboard) openMenu(id string) {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.getElementById(%q).showPopover()", id)))
}

func (d *dashboard) closeMenus() {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(":popover-open").forEach((menu) => menu.hidePopover())`))
}

// pressKeys presses a key outside fields, with or without Ctrl, and waits for a dialog.
func (d *dashboard) pressKeys(key string, ctrl bool) {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: %q, ctrlKey: %t, bubbles: true, cancelable: true }))`, key, ctrl)))
	d.See(`document.querySelector("dialog[open]")`)
}

func (d *dashboard) closeDialog() {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog[open]").close()`))
	d.See(`!document.querySelector("dialog[open]")`)
}

// lastTimedOut returns the ID of the last user whom the past has timed out.
func (d *dashboard) lastTimedOut() string {
	d.Helper()
	entries, err := d.app.Host.Store.Entries(d.Context(), journal.EntryFilter{ChannelID: d.twitch.UserID(demo.First), N: 5000})
	if err != nil {
		d.Fatal(err)
	}
	i := slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Penalty.Duration == 10*time.Minute })
	if i < 0 {
		d.Fatal("nobody was timed out")
	}
	return entries[i].UserID
}
