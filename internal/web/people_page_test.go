//go:build browser

package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
)

var (
	gardenhour = chatguard.User{ID: "71", Login: "gardenhour"}
	teahouse   = chatguard.User{ID: "72", Login: "teahouse", Roles: chatguard.RolesOf(chatguard.Subscriber)}
	gatekeeper = chatguard.User{ID: "73", Login: "gatekeeper", Roles: chatguard.RolesOf(chatguard.Moderator)}
)

// seePerson opens a user's card.
func (w *window) seePerson(user chatguard.User) {
	w.Window.Helper()
	w.visit("#/people?user=" + user.ID)
	w.See(fmt.Sprintf(`document.querySelector(".person h2 bdi")?.textContent === %q`, cmp.Or(user.DisplayName, user.Login)))
}

// openCard opens the card of a user in a new window, after everything pending is written.
func (d *dashboard) openCard(user chatguard.User) *window {
	d.Helper()
	d.flush()
	w := d.open(1400, 900)
	w.seePerson(user)
	return w
}

// visit writes a fragment into the address bar, and waits until that page is loaded.
func (w *window) visit(fragment string) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", fragment)))
	page, _, _ := strings.Cut(strings.TrimPrefix(fragment, "#/"), "?")
	w.waitForPage(page)
}

// hasPeople returns a script that is true if the search shows exactly these users.
func hasPeople(logins ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".found .name")].map((name) => name.textContent).join() === %q`, strings.Join(logins, ","))
}

func TestPeoplePage_MoreFound(t *testing.T) {
	d := dash(t)
	for i := range mostFound + 1 {
		d.say(chatguard.User{ID: fmt.Sprint(100 + i), Login: fmt.Sprint("owl_", i)}, 1)
	}
	w := d.open(1400, 900)
	w.goTo("people")
	w.Write("#find", "owl")
	w.See(hasText("The 20 best matches:"))
	w.Write("#find", "owl_2")
	w.See(hasText("2 users:"))
}

func TestPeoplePage_FindByKeyboard(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	d.say(gatekeeper, 1)
	d.say(teahouse, 1)
	d.flush()
	w := d.open(1400, 900)
	w.goTo("people")
	w.See(hasPeople("teahouse", "gatekeeper", "gardenhour") + "&&" + hasText("Recently active:"))
	w.TypeIn("#find", "ga")
	w.See(hasText("2 users:"))
	w.TypeIn("#find", "r")
	w.See(hasPeople("gardenhour"))
	w.Type(kb.Enter)
	w.See(`location.hash === "#/people?user=71" && document.querySelector(".person h2")?.textContent === "gardenhour"`)

	w.Write("#find", "ga")
	w.See(`document.querySelectorAll(".found a").length === 2`)
	w.Type(kb.ArrowDown + kb.ArrowDown)
	w.See(`document.activeElement === document.querySelectorAll(".found a")[1]`)
	second := browsertest.Eval[string](w.Window, `document.activeElement.querySelector(".name").textContent`)
	w.Type(kb.Enter)
	w.See(fmt.Sprintf(`document.querySelector(".person h2 bdi")?.textContent === %q`, second))
	w.Type(kb.ArrowUp + kb.ArrowUp)
	w.See(`document.activeElement.id === "find"`)

	w.Write("#find", "")
	w.Type("gatek" + kb.Enter) // typed before the search starts
	w.See(`document.querySelector(".person h2")?.textContent === "gatekeeper"`)
	w.Write("#find", "72")
	w.See(hasPeople("teahouse"))
	w.Write("#find", "<b>nobody</b>")
	w.See(hasPeople() + "&&" + hasText("No user matches “<b>nobody</b>” (name, login or ID)."))
}

func TestPeoplePage_SearchFails(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(gardenhour, 4)
	d.store.failReads(errors.New("disk I/O error"))
	w.goTo("people")
	w.See(`document.querySelector(".search .error")?.textContent.includes("the database is failing")`)
	d.store.failReads(nil)
	w.Write("#find", "garden")
	w.See(hasPeople("gardenhour") + `&& !document.querySelector(".search .error")`)
}

func TestPeoplePage_UnknownID(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.visit("#/people?user=<i>999</i>")
	w.See(hasText("ID <i>999</i> · no messages recorded here"))
	w.See(hasText("No messages recorded in this channel yet"))
}

func TestPeoplePage_ViewersCannotChange(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flush()
	w := d.openAs("clara", auth.View, 1400, 900)
	w.seePerson(gardenhour)
	w.See(hasReason("throttled by the limit “burst”") + `&& document.querySelectorAll(".person .entry").length === 1`)
	w.Accessible()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".amends, .pardon button, .person form").length`); n != 0 {
		t.Errorf("a viewer's page has %d controls that change a user", n)
	}
}

func TestPeoplePage_HostileNames(t *testing.T) {
	d := dash(t)
	for i, name := range hostileNames {
		d.say(chatguard.User{ID: fmt.Sprintf("<u>%d</u>", i), Login: name, DisplayName: name}, 4)
	}
	d.flush()
	for _, width := range []int64{360, 1600} {
		d.store.addCode("code", "anna")
		w := d.openWith("code", width, 900)
		w.goTo("people")
		w.See(fmt.Sprintf(`document.querySelectorAll(".found a").length === %d`, len(hostileNames)))
		w.wantNoOverflow()
		for i := range hostileNames {
			w.visit(fmt.Sprintf("#/people?user=%%3Cu%%3E%d%%3C%%2Fu%%3E", i))
			w.See(fmt.Sprintf(`document.querySelector(".person .muted")?.textContent.startsWith("ID <u>%d</u>")`, i) + "&&" + hasReason("is throttled by the limit “burst”"))
			w.wantNoOverflow()
		}
		w.wantUnharmed()
	}
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

func TestPeoplePage_Accessible(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 1)
	d.flush()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1600} {
			d.store.addCode("code", "anna")
			w := d.openWith("code", width, 900)
			w.Prefer(map[string]string{"prefers-color-scheme": scheme})
			w.goTo("people")
			w.See(hasPeople("teahouse", "gardenhour"))
			w.Accessible()
			w.wantNoOverflow()
			w.seePerson(gardenhour)
			w.See(`document.querySelector(".chart canvas")`)
			w.Accessible()
			w.wantNoOverflow()
		}
	}
}

// Notes are added, found and deleted without leaving the page.
func TestPeoplePage_Notes(t *testing.T) {
	d := dash(t)
	d.say(localised, 1)
	d.say(teahouse, 1)
	w := d.openCard(localised)
	w.See(`document.querySelector(".person h2 .login")?.textContent === "nagai"`)
	w.Write("#new-note", "Speaks <b>Japanese</b>.")
	w.Click(".new-note button")
	w.See(`document.querySelector(".note-text")?.textContent === "Speaks <b>Japanese</b>." && document.querySelector("#new-note").value === ""`)
	w.Click(".search .tabs button:last-child")
	w.See(`document.querySelectorAll(".found a").length === 1 && document.querySelector(".found .name bdi").textContent === "長い" && document.querySelector(".found .noted")`)
	if browsertest.Eval[int](w.Window, `document.querySelectorAll(".notes b").length`) != 0 {
		t.Error("the note created an element")
	}
	w.Click(".notes .icon-only")
	w.See(hasText("Delete this note?"))
	w.Click(".notes .buttons button")
	w.See(`!document.querySelector(".note-text")`)
	w.visit("#/audit?name=" + url.QueryEscape("長"))
	w.See(hasAudits(2, "deleted a note 長い"))
}
