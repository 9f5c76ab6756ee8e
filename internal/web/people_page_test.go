package web

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

var (
	gardenhour = chatguard.User{ID: "71", Login: "gardenhour"}
	teahouse   = chatguard.User{ID: "72", Login: "teahouse", Roles: chatguard.RolesOf(chatguard.Subscriber)}
	gatekeeper = chatguard.User{ID: "73", Login: "gatekeeper", Roles: chatguard.RolesOf(chatguard.Moderator)}
)

// seePerson opens the card of a user.
func (w *window) seePerson(user chatguard.User) {
	w.Window.Helper()
	w.visit("#/people?user=" + user.ID)
	w.See(fmt.Sprintf(`document.querySelector(".person h2")?.textContent === %q`, user.Login))
}

// visit writes a fragment into the address bar.
func (w *window) visit(fragment string) {
	w.Window.Helper()
	w.Must(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", fragment)))
}

// why is true when the card's sentence says the text.
func why(text string) string {
	return fmt.Sprintf(`document.querySelector(".why")?.textContent.includes(%q)`, text)
}

// standing is true when the row of a limit on the card says the text.
func standing(limit, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".standing .line")].some((line) => line.querySelector("bdi").textContent === %q && line.textContent.includes(%q))`, limit, text)
}

// answered is true when what was said last beside the card's buttons says the text.
func answered(text string) string {
	return fmt.Sprintf(`document.querySelector(".amends .note")?.textContent.includes(%q)`, text)
}

// foundPeople is true when the search has found just these.
func foundPeople(logins ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".found .name")].map((name) => name.textContent).join() === %q`, strings.Join(logins, ","))
}

func TestAUserIsFoundByKeyboard(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	d.say(gatekeeper, 1)
	d.say(teahouse, 1)
	d.flushed()
	w := d.open(1400, 900)
	w.goTo("people")
	w.See(foundPeople("teahouse", "gatekeeper", "gardenhour") + "&&" + says("Who wrote last:"))
	w.Must(chromedp.Focus(chromedp.CSS("#find")), chromedp.SendKeys(chromedp.CSS("#find"), "ga"))
	w.See(says("2 users:"))
	w.Must(chromedp.SendKeys(chromedp.CSS("#find"), "r"))
	w.See(foundPeople("gardenhour"))
	w.Must(chromedp.KeyEvent(kb.Enter))
	w.See(`location.hash === "#/people?user=71" && document.querySelector(".person h2")?.textContent === "gardenhour"`)

	w.Write("#find", "ga")
	w.See(`document.querySelectorAll(".found a").length === 2`)
	w.Must(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	w.See(`document.activeElement === document.querySelectorAll(".found a")[1]`)
	second := browsertest.Eval[string](w.Window, `document.activeElement.querySelector(".name").textContent`)
	w.Must(chromedp.KeyEvent(kb.Enter))
	w.See(fmt.Sprintf(`document.querySelector(".person h2")?.textContent === %q`, second))
	w.Must(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp))
	w.See(`document.activeElement.id === "find"`)

	w.Write("#find", "gatek"+kb.Enter) // before it is looked for
	w.See(`document.querySelector(".person h2")?.textContent === "gatekeeper"`)
	w.Write("#find", "72")
	w.See(foundPeople("teahouse"))
	w.Write("#find", "<b>nobody</b>")
	w.See(foundPeople() + "&&" + says("Nobody here has a login with “<b>nobody</b>” in it, or that ID."))
}

func TestASearchThatCantBeMadeIsTold(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.say(gardenhour, 4)
	d.store.hide(errors.New("disk I/O error"))
	w.goTo("people")
	w.See(`document.querySelector(".search .error")?.textContent.includes("the database is in trouble")`)
	d.store.hide(nil)
	w.Write("#find", "garden")
	w.See(foundPeople("gardenhour") + `&& !document.querySelector(".search .error")`)
}

func TestTheCardSaysWhy(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 1)
	d.say(gatekeeper, 5)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(why("gardenhour is held back by burst: the next message passes in 9 min 5"))
	w.See(standing("burst", "3 of 3") + "&&" + standing("burst", "in 9 min 5") + "&&" + standing("burst", "resets in 29 min") + "&&" + standing("burst", "as everyone"))
	w.See(standing("daily", "3 of 300") + "&&" + standing("daily", "297 left") + "&&" + standing("daily", "at 00:00"))
	w.See(says("1 strike, forgotten in 29 min") + "&&" + says("Next on the ladder: delete.") + "&&" + says("times are in UTC, the channel’s zone"))
	w.See(`document.querySelectorAll(".person .entry").length === 1 && document.querySelector(".person .entry .limit").textContent === "burst"`)

	w.seePerson(teahouse)
	w.See(why("teahouse may write now: 2 of 3 messages at once left in burst.") + "&&" + says("No strikes.") + "&&" + says("No message of teahouse was throttled"))
	w.See(says("ID 72 · subscriber · last seen"))
	w.seePerson(gatekeeper)
	w.See(why("gatekeeper may write without limits, exempt as moderator."))

	d.pass(10 * time.Minute)
	w.seePerson(gardenhour)
	w.See(why("gardenhour may write now: 1 of 3 messages at once left in burst."))
	d.say(gardenhour, 2)
	w.See(why("held back by burst")) // the card goes on by itself
	if _, err := d.control.Pause(t.Context(), channelID, "berta"); err != nil {
		t.Fatal(err)
	}
	w.See(why("gardenhour may write, because the channel is paused by berta. Else burst would hold them back: the next message passes in"))
}

func TestTheCardTellsOfATimeout(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	for range 3 {
		d.pass(11 * time.Second)
		d.say(gardenhour, 1)
	}
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(why("gardenhour is timed out: they may write again in ") + "&&" + says("4 strikes"))
}

func TestTheCardCountsInTheUsersZone(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	own := chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"daily": {Messages: 50}}}
	if err := d.guard.SetUserOverride(channelID, gardenhour.ID, own, d.now()); err != nil {
		t.Fatal(err)
	}
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(says("times are in Asia/Tokyo, their own zone") + "&&" + standing("daily", "GMT+9") + "&&" + standing("daily", "1 of 50") + "&&" + standing("daily", "their own numbers"))
	w.See(says("their day is that of Asia/Tokyo; daily: 50 messages"))
}

func TestNobodyByThatIDIsSaid(t *testing.T) {
	w := dash(t).open(1400, 900)
	w.visit("#/people?user=<i>999</i>")
	w.See(says("ID <i>999</i> · not seen here, as far as chatguard remembers"))
	w.See(says("Nobody has written here since chatguard watches"))
}

func TestMessagesAreGranted(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.Click("#amend-grant")
	w.See(`document.activeElement.id === "grant-messages"`)
	w.Write("#grant-messages", "none")
	w.See(`document.querySelector("#grant-messages-error").textContent === "Write a whole number, 1 or more."`)
	w.Write("#grant-messages", "2")
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const limit = document.querySelector("#grant-limit");
		limit.value = "burst";
		limit.dispatchEvent(new Event("change", { bubbles: true }));
	}`))
	w.Accessible()
	w.Must(chromedp.SendKeys(chromedp.CSS("#grant-messages"), kb.Enter))
	w.See(answered("2 extra messages in burst, until ") + "&&" + standing("burst", "with 2 extra") + "&&" + why("2 messages at once left in burst, 2 of them granted"))
	w.See(`!document.querySelector(".amend") && document.activeElement.id === "amend-grant"`)
	if v := d.say(gardenhour, 2); !v.Allowed {
		t.Error("2 messages are granted, and the second is throttled")
	}

	w.Click("#amend-grant")
	w.Write("#grant-messages", "99999999999")
	w.Click(".amend .primary")
	w.See(`document.querySelector(".amend .error[role=alert]").textContent !== "" && document.querySelector("#grant-messages").value === "99999999999"`)
	w.Must(chromedp.KeyEvent(kb.Escape))
	w.See(`!document.querySelector(".amend") && document.activeElement.id === "amend-grant"`)
}

func TestAUserIsExemptedAndThatIsUndone(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.Click("#amend-exempt")
	w.Click(".amend .primary")
	w.See(answered("Exempt until ") + "&&" + why("gardenhour may write without limits, exempt by name until "))
	if v := d.say(gardenhour, 1); !v.Exempt {
		t.Errorf("exempt, and judged: %+v", v)
	}
	w.Press(".amends .note button") // undo
	w.See(answered("Undone.") + "&&" + why("held back by burst"))
	if v := d.say(gardenhour, 1); v.Exempt {
		t.Error("no longer exempt, and not judged")
	}
}

func TestAResetAsksFirst(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.Click("#amend-reset")
	w.See(says("Reset gardenhour? Everything they have used is forgotten, and so are their strikes."))
	w.Click(".amend button[type=button]") // cancel
	w.See(`!document.querySelector(".amend")`)
	if v := d.say(gardenhour, 1); v.Allowed {
		t.Error("nothing was reset, and a message is allowed")
	}
	w.Click("#amend-reset")
	w.Click(".amend .primary")
	w.See(answered("Reset: everything they had used is forgotten.") + "&&" + why("3 of 3 messages at once left") + "&&" + says("No strikes."))
	if v := d.say(gardenhour, 3); !v.Allowed {
		t.Error("reset, and throttled")
	}
}

func TestAnOverrideIsSetAndUndone(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	before := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 50}}}
	if err := d.guard.SetUserOverride(channelID, gardenhour.ID, before, d.now()); err != nil {
		t.Fatal(err)
	}
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.Click("#amend-override")
	w.Write("#own-burst-burst", "0")
	w.See(`document.querySelector("#own-burst-burst-error").textContent.startsWith("Write a whole number, 1 or more")`)
	w.Write("#own-burst-burst", "5")
	w.Write("#own-zone", "Asia/Tokyo")
	w.Click("input[value=never]")
	w.Accessible()
	d.say(gardenhour, 1)
	w.See(standing("burst", "2 of 3")) // the card goes on, and what is typed stays
	w.See(`document.querySelector("#own-burst-burst").value === "5" && document.querySelector("input[value=never]").checked`)
	w.Click(".amend .primary")
	w.See(answered("Changed. The next message is judged by it.") + "&&" + standing("burst", "2 of 5") + "&&" + standing("burst", "their own numbers"))
	w.See(says("judged whatever their role; their day is that of Asia/Tokyo; burst: 5 at once; daily: 50 messages"))
	own, err := d.guard.UserOverride(channelID, gardenhour.ID)
	if err != nil || own.Exempt != chatguard.NeverExempt || own.Timezone != "Asia/Tokyo" || own.Limits["burst"].Burst != 5 || own.Limits["burst"].Refill != 0 {
		t.Errorf("in force is %+v, %v", own, err)
	}
	w.Press(".amends .note button") // undo
	w.See(answered("Undone.") + "&&" + standing("burst", "2 of 3") + "&&" + standing("daily", "2 of 50"))
	if own, err := d.guard.UserOverride(channelID, gardenhour.ID); err != nil || !reflect.DeepEqual(own, before) {
		t.Errorf("undone, and in force is %+v, %v", own, err)
	}
}

func TestTwoModeratorsDontOverwriteEachOthersOverride(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.Click("#amend-override")
	w.Write("#own-messages-daily", "5")
	other := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 70}}}
	if a := d.do("PUT", "/api/v1/channels/"+channelID+"/users/71/override", other, asOwner); a.StatusCode != 200 {
		t.Fatalf("%s: %s", a.Status, a.body)
	}
	w.See(says("Somebody has changed this meanwhile."))
	w.Click(".amend .primary")
	w.Press(".amend .note button") // load
	w.See(`document.querySelector("#own-messages-daily").value === "70" && !document.querySelector(".amend .note")`)
	if own, _ := d.guard.UserOverride(channelID, gardenhour.ID); own.Limits["daily"].Messages != 70 {
		t.Errorf("in force is %+v", own)
	}
}

func TestWhatIsntSavedIsSaidOnTheCard(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	d.store.become(Database{State: DatabaseFailing, Detail: "disk full"})
	w.See(says("Database failing"))
	w.Click("#amend-reset")
	w.Click(".amend .primary")
	w.See(answered("It holds, but isn’t saved yet: a restart now would undo it."))
	w.Press(".pardon button")
	w.See(`document.querySelector(".pardon").innerText.includes("not saved yet")`)
}

func TestAMessageIsPardonedOnTheCard(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(says("1 strike,"))
	w.Press(".pardon button")
	w.See(`document.querySelector(".pardon button").textContent.trim() === "Pardoned"` + "&&" + says("No strikes."))
}

func TestTheWeekIsDrawn(t *testing.T) {
	d := dash(t, withLimits(t, chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 600, Every: time.Minute}))
	now := d.now()
	d.past(gardenhour, now.Add(-73*time.Hour), now.Add(-49*time.Hour), now.Add(-48*time.Hour), now.Add(-30*time.Minute))
	d.flushed()
	w := d.open(1400, 1000)
	w.seePerson(gardenhour)
	w.See(`document.querySelector(".chart canvas")` + "&&" + says("Of 300 messages in daily, ") + "&&" + says("the fewest"))
	if limits := browsertest.Eval[string](w.Window, `[...document.querySelectorAll("#week ~ label option")].map((o) => o.value).join()`); limits != "burst,daily" {
		t.Errorf("a week is to be had of %s", limits)
	}
	w.Click(".chart summary")
	w.See(`document.querySelectorAll(".chart tbody tr").length === 28`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const limit = document.querySelector("#week ~ label select");
		limit.value = "burst";
		limit.dispatchEvent(new Event("change", { bubbles: true }));
	}`))
	w.See(`document.querySelector(".chart")?.getAttribute("aria-label") === "Messages left in burst"`)
}

func TestWhoMayOnlyLookChangesNobody(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.openAs("clara", journal.AccessView, 1400, 900)
	w.seePerson(gardenhour)
	w.See(why("held back by burst") + `&& document.querySelectorAll(".person .entry").length === 1`)
	w.Accessible()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".amends, .pardon button, .person form").length`); n != 0 {
		t.Errorf("%d ways to change somebody", n)
	}
}

func TestPeopleWithHostileNamesStayText(t *testing.T) {
	d := dash(t)
	for i, name := range hostileNames {
		d.say(chatguard.User{ID: fmt.Sprintf("<u>%d</u>", i), Login: name, DisplayName: name}, 4)
	}
	d.flushed()
	for _, width := range []int64{360, 1600} {
		d.store.addCode("code", "anna")
		w := d.openWith("code", width, 900)
		w.goTo("people")
		w.See(fmt.Sprintf(`document.querySelectorAll(".found a").length === %d`, len(hostileNames)))
		w.fits()
		for i := range hostileNames {
			w.visit(fmt.Sprintf("#/people?user=%%3Cu%%3E%d%%3C%%2Fu%%3E", i))
			w.See(fmt.Sprintf(`document.querySelector(".person .muted")?.textContent.startsWith("ID <u>%d</u>")`, i) + "&&" + why("is held back by burst"))
			w.fits()
		}
		w.unharmed()
	}
}

// hostileNames are names, and texts, that would be more than that in a page that isn't careful.
var hostileNames = []string{
	`<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>`,
	"\u202Egnp.exe\u202D مرحبا",
	strings.Repeat("W", 10_000),
	"{{constructor}} ${document.title='broken'} &amp; '\"",
}

// unharmed fails the test where a text has become more than that.
func (w *window) unharmed() {
	w.Helper()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll("main :is(img, script, u, b)").length`); n != 0 {
		w.Errorf("%d elements came out of texts", n)
	}
	if title := browsertest.Eval[string](w.Window, "document.title"); strings.Contains(title, "broken") {
		w.Errorf("the title is %q", title)
	}
}

func TestPeopleIsAccessible(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 1)
	d.flushed()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1600} {
			d.store.addCode("code", "anna")
			w := d.openWith("code", width, 900)
			w.Prefer(map[string]string{"prefers-color-scheme": scheme})
			w.goTo("people")
			w.See(foundPeople("teahouse", "gardenhour"))
			w.Accessible()
			w.fits()
			w.seePerson(gardenhour)
			w.See(`document.querySelector(".chart canvas")`)
			w.Accessible()
			w.fits()
		}
	}
}
