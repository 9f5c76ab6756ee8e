//go:build browser

package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
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
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/demo"
	"github.com/chatguard/chatguard/internal/journal"
)

// The folders for pictures: of the documentation, and of every page and state in every size and
// look.
var (
	screenshots = flag.String("screenshots", "", "folder to write the documentation's pictures to")
	pages       = flag.String("pages", "", "folder to write pictures of every page and state to")
)

// size is the size of a window, with the name that pictures of it have.
type size struct {
	name          string
	width, height int64
}

// The sizes are two phones, two laptops and a large screen.
var (
	phone  = size{"phone", 390, 844}
	laptop = size{"", 1400, 900}
	sizes  = []size{{"small", 360, 740}, phone, {"short", 1280, 800}, laptop, {"large", 1920, 1080}}
)

// looks are the themes, and forced colors.
var looks = []string{"light", "dark", "forced"}

// pageState is a page of the dashboard in one of its states. The states come in the order of the
// list, each after the one before.
type pageState struct {
	name string
	show func(d *dashboard)
}

var pageStates = []pageState{
	{"lab", func(d *dashboard) { // a document of its own; later, an unsaved draft would hold the page
		d.open("/lab#at=83s")
		d.See(`document.querySelectorAll(".lane .tally").length === 5 && document.querySelector("#use")`)
	}},
	{"viewer", func(d *dashboard) {
		d.signInViewer("stargazer")
		d.twitch.Silence(demo.First, "stargazer", 10*time.Minute)
		d.See(`document.querySelector(".countdown") && document.querySelectorAll(".limits li").length === 2`)
	}},
	{"overlay", func(d *dashboard) { // over a picture, as in a stream
		d.startRaid()
		d.open("/overlay?size=36&names=8&linger=600")
		d.See(`document.querySelectorAll(".overlay-names li").length === 8 && document.querySelector(".overlay-raid")`)
		d.Must(chromedp.Evaluate[chromedp.Void](`Object.assign(document.documentElement.style, { minHeight: "100vh", background: "repeating-linear-gradient(115deg, #0b1d3a 0 150px, #3c6e71 0 300px, #f2c14e 0 450px, #fff 0 600px)" })`))
	}},
	{"now", func(d *dashboard) {
		if _, err := d.app.Host.Controls.Raids.End(d.Context(), d.twitch.UserID(demo.First), "anna"); err != nil {
			d.Fatal(err)
		}
		d.open("/")
		for range 3 { // so that the list is still full after some pictures
			d.crowd.Raid()
		}
		d.See(`document.querySelectorAll("main .row").length >= 12`)
	}},
	{"now-states", func(d *dashboard) { d.openMenu("states") }},
	{"now-account", func(d *dashboard) { d.openMenu("account") }},
	{"limits", func(d *dashboard) {
		d.closeMenus()
		d.showPage("limits", "#burst-0")
	}},
	{"limits-draft", func(d *dashboard) {
		d.Write("#burst-0", "2")
		d.See(`document.querySelectorAll('.preview[aria-busy="false"] th[scope="col"]').length >= 4`)
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
	{"admin", func(d *dashboard) { d.showPage("admin", "#access-sessions") }},
	{"teahouse", func(d *dashboard) {
		d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#/now?channel=%s"`, d.twitch.UserID(demo.Second))))
		d.See(`document.title.includes("teahouse")`)
	}},
	{"raid-mode", func(d *dashboard) {
		d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = "#/now?channel=%s"`, d.twitch.UserID(demo.First))))
		d.startRaid()
		d.crowd.Raid()
		d.See(`document.querySelectorAll("main .row").length >= 8`)
	}},
}

// noticedRaid is a raid that the page Now has noticed. Only pictures show it, because it takes a
// while. It comes first: raid mode answers the raid for which it starts.
var noticedRaid = pageState{"raid", func(d *dashboard) {
	for range 4 { // as Enter does
		d.crowd.Raid()
	}
	d.See(`document.querySelector(".raid-signs") && document.querySelectorAll("main .row").length >= 12`)
}}

// open opens a document of the dashboard.
func (d *dashboard) open(address string) {
	d.Helper()
	d.Must(chromedp.Navigate(strings.TrimSuffix(d.app.Address(), "/") + address))
}

// startRaid starts raid mode in the demo's first channel.
func (d *dashboard) startRaid() {
	d.Helper()
	if _, _, err := d.app.Host.Controls.Raids.Start(d.Context(), d.twitch.UserID(demo.First), "anna", 0); err != nil {
		d.Fatal(err)
	}
}

// signInViewer opens the page for viewers of the demo's first channel, and signs in with an account
// of the simulated Twitch, unless somebody is signed in.
func (d *dashboard) signInViewer(login string) {
	d.Helper()
	d.Must(chromedp.Navigate(d.app.ViewerAddress(demo.First)))
	d.See(`document.querySelector("#sign-in, #sign-out")`)
	if browsertest.Eval[bool](d.Window, `document.querySelector("#sign-out") !== null`) {
		return
	}
	d.Click("#sign-in")
	d.See(`document.querySelector("#Authorize")`)
	d.Write("#field", login)
	d.Click("#Authorize")
	d.See(`document.querySelector("#sign-out")`)
}

// openDemo opens the demo with its crowds, as it is after the first raid.
func openDemo(t *testing.T) *dashboard {
	t.Helper()
	server := twitchtest.StartWith(t, faketwitch.Options{Channels: demo.Channels, ClientSecret: demoSecret})
	c := simulatedConfig(server, t.TempDir(), "127.0.0.1:0")
	demo.SetChannels(&c)
	c.Web.ViewerPage, c.Twitch.ClientSecret = true, demoSecret
	crowds, err := demo.MakePast(t.Context(), server, c, 1, time.Now())
	must(t, err)
	d := startDashboard(t, server, c, 1400, 900)
	server.RegisterRedirect(d.app.SignInRedirect())
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

// TestDemo_Pages shows every page of the demo in every state, and checks that it is accessible. With
// the flag -pages it also shows rare states, checks all sizes and makes pictures of every look. The
// flag -screenshots makes the pictures of the documentation.
func TestDemo_Pages(t *testing.T) {
	if *pages == "" {
		states := pageStates
		if *screenshots != "" {
			states = slices.Concat([]pageState{noticedRaid}, states)
		}
		openDemo(t).walk(states, laptop, sizes)
		return
	}
	for _, s := range sizes {
		for name, states := range map[string][]pageState{"pages": slices.Concat([]pageState{noticedRaid}, pageStates), "rare": rareStates, "lab": labStates} {
			t.Run(fmt.Sprint(name, s.width), func(t *testing.T) { openDemo(t).walk(states, s, []size{s}) })
		}
	}
}

// walk shows states in a size, photographs each in some sizes, and checks that it is accessible.
func (d *dashboard) walk(states []pageState, at size, photographed []size) {
	d.Helper()
	for _, s := range states {
		d.resize(at)
		s.show(d)
		d.Must(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
		d.photograph(s.name, photographed)
		if s.name == "teahouse" {
			continue // the page Now of another channel
		}
		d.resize(at)
		d.prefer("light")
		d.Accessible()
	}
}

// documented are the pictures of the documentation.
var documented = []string{
	"now", "now-phone", "limits", "people", "journal", "audit", "raid", "raid-dark", "lab", "overlay", "viewer-phone", "same-text-limits", "same-text-card-phone",
}

// photograph makes the pictures of a state that the flags request.
func (d *dashboard) photograph(state string, sizes []size) {
	d.Helper()
	for _, s := range sizes {
		for _, scheme := range looks {
			name := documentName(state, s, scheme)
			isDocumented := *screenshots != "" && slices.Contains(documented, name)
			if *pages == "" && !isDocumented {
				continue
			}
			d.resize(s)
			d.prefer(scheme)
			picture := d.Picture()
			if *pages != "" {
				d.saveWhole(filepath.Join(*pages, fmt.Sprintf("%s-%d-%s-whole.png", state, s.width, scheme)), s)
				d.save(filepath.Join(*pages, fmt.Sprintf("%s-%d-%s.png", state, s.width, scheme)), picture)
			}
			if isDocumented {
				d.save(filepath.Join(*screenshots, name+".png"), addText(picture, "Navigation", d.navigation()))
			}
		}
	}
}

// navigation returns the words of the page's navigation, separated by commas. It is empty for a page
// without one.
func (d *dashboard) navigation() string {
	d.Helper()
	return browsertest.Eval[string](d.Window, `[...document.querySelectorAll("header nav a")].map((a) => a.textContent.trim()).join(",")`)
}

// pngHeader is the length of a PNG file's signature and first chunk.
const pngHeader = 8 + 25

// addText adds a text to a PNG file, for the test that compares it with the present version.
func addText(picture []byte, keyword, text string) []byte {
	chunk := []byte("tEXt" + keyword + "\x00" + text)
	added := binary.BigEndian.AppendUint32(slices.Clone(picture[:pngHeader]), uint32(len(chunk)-len("tEXt")))
	added = binary.BigEndian.AppendUint32(append(added, chunk...), crc32.ChecksumIEEE(chunk))
	return append(added, picture[pngHeader:]...)
}

// documentName returns the name that a picture has in the documentation.
func documentName(state string, s size, scheme string) string {
	name := map[string]string{"person": "people", "people": "people-list", "limits": "limits-saved", "limits-draft": "limits"}[state]
	if name == "" {
		name = state
	}
	if s.name != "" {
		name += "-" + s.name
	}
	if scheme != "light" {
		name += "-" + scheme
	}
	return name
}

func (d *dashboard) save(path string, picture []byte) {
	d.Helper()
	must(d, os.WriteFile(path, picture, 0o644))
}

// saveWhole saves a picture of the whole page, if the page is longer than the window.
func (d *dashboard) saveWhole(path string, window size) {
	d.Helper()
	height := browsertest.Eval[int64](d.Window, "document.documentElement.scrollHeight")
	if height <= window.height || browsertest.Eval[bool](d.Window, `matchMedia("(prefers-color-scheme: dark)").matches`) {
		return
	}
	d.resize(size{window.name, window.width, height})
	d.save(path, d.Picture())
	d.resize(window)
}

// resize changes the window, and waits until the page has drawn itself in its new size.
func (d *dashboard) resize(s size) {
	d.Helper()
	d.Must(chromedp.EmulateViewport(s.width, s.height))
	d.See(fmt.Sprintf("innerWidth === %d", s.width))
	d.drawn()
}

func (d *dashboard) prefer(look string) {
	d.Helper()
	features := map[string]string{"prefers-color-scheme": look, "prefers-reduced-motion": "reduce"}
	if look == "forced" {
		features["prefers-color-scheme"], features["forced-colors"] = "dark", "active"
	}
	d.Prefer(features)
	d.drawn()
}

// drawn waits until styles are loaded, two frames have been drawn and short animations are over.
func (d *dashboard) drawn() {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](`(async () => {
		const frames = async () => { for (let i = 0; i < 2; i++) await new Promise((next) => { requestAnimationFrame(next); setTimeout(next, 1000); }); };
		await frames();
		const missing = [...document.querySelectorAll("link[rel=stylesheet]")].filter((link) => !link.sheet && matchMedia(link.media || "all").matches);
		await Promise.all(missing.map((link) => new Promise((loaded) => link.addEventListener("load", loaded))));
		if (missing.length > 0) await frames();
		const passing = document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < 2000);
		await Promise.allSettled(passing.map((a) => a.finished));
	})()`, chromedp.EvalAwaitPromise))
}

// showPage opens a page and waits until it is loaded and has an element.
func (d *dashboard) showPage(address, element string) {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", "#/"+address)))
	page, _, _ := strings.Cut(address, "?")
	d.See(fmt.Sprintf(`document.querySelector('nav a[aria-current="page"]')?.hash.startsWith(%q) && document.querySelector("main h1") && document.querySelector(%q)`, "#/"+page, element))
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

func (d *dashboard) closeDialog() {
	d.Helper()
	d.Must(chromedp.Evaluate[chromedp.Void](`document.querySelector("dialog[open]").close()`))
}

// lastTimedOut returns the ID of the last user whom the past has timed out.
func (d *dashboard) lastTimedOut() string {
	d.Helper()
	entries, err := d.app.Host.Store.Entries(d.Context(), journal.EntryFilter{ChannelID: d.twitch.UserID(demo.First), N: 5000})
	must(d, err)
	i := slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Penalty.Duration == 10*time.Minute })
	if i < 0 {
		d.Fatal("nobody was timed out")
	}
	return entries[i].UserID
}
