//go:build browser

package web

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

const (
	unsavedNote = `document.querySelector("[role=status] .note.unsaved")`
	savedNote   = `document.querySelector("[role=status] .note.good")`
)

// elementHasText returns a script that is true if an element shows the text. found is the script
// that returns the element.
func elementHasText(found, text string) string {
	return found + `?.innerText.replace(/\s+/g, " ").includes(` + "`" + text + "`" + `)`
}

func TestDatabase_LimitsChangeWhileFailing(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	other.goTo("limits")
	other.See(`document.querySelector("#burst-0")?.value === "3"`)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	const text = "In force, but not saved yet: the database is failing (" + diskFull + "). The change will be saved once the database works again. A restart before then would undo it."
	w.See(elementHasText(unsavedNote, text) + "&& !" + savedNote)
	w.wantNoOverflow()
	// other viewers are notified too
	other.See(elementHasText(unsavedNote, text) + `&& document.querySelector("#burst-0").value === "2"`)
	if v := d.say(spammer, 3); v.Allowed {
		t.Error("with a burst of 2, the third message is allowed")
	}
	w.Type(kb.Escape)
	// the note shows a state, so it cannot be closed
	w.See(`!document.querySelector(".unsaved button") && ` + unsavedNote)

	w.Write("#burst-0", "4")
	w.Press(".finish .primary")
	w.See(`document.querySelector("#burst-0").value === "4" && document.querySelector(".unsaved button")`)
	d.repairDatabase()
	w.See(elementHasText(savedNote, "Saved by anna") + "&& !" + unsavedNote)
	other.See("!" + unsavedNote + "&& !" + savedNote)
	if n := d.guard.ChannelPolicy(channelID).Limits[0].Burst; n != 4 {
		t.Errorf("in force is a burst of %d", n)
	}
}

func TestDatabase_LaterPageShowsUnsaved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	d.put(burst(9))
	w := d.open(1400, 900)
	w.See(hasText("Changed limits are in force but not saved: a restart now would undo them."))
	w.goTo("limits")
	// undo is not offered for somebody else's change
	w.See(unsavedNote + `&& !document.querySelector(".unsaved button")`)
}

func TestDatabase_LimitsChangeWhileUnreadable(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.breakDatabase(time.Minute)
	d.store.failReads(errors.New("damaged"))
	w.goTo("limits")
	w.See(hasText("The last change could not be loaded."))
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(unsavedNote + "&&" + hasText("Changed by anna"))
	w.Press(".unsaved button") // undo
	w.See(`document.querySelector("#burst-0").value === "3" && ` + unsavedNote)
}

func TestDatabase_RefusedChangeShown(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	d.store.failChanges(errors.New("too many changes wait"))
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(elementHasText(`document.querySelector("[role=status] .note.bad")`, "Nothing was changed: the database is failing.") + "&& !" + unsavedNote)
	if n := d.guard.ChannelPolicy(channelID).Limits[0].Burst; n != 3 {
		t.Errorf("refused, and in force is a burst of %d", n)
	}
}

func TestDatabase_ShownOnFirstPage(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	note := `document.querySelector(".database-note")`
	w.See(note + `?.innerText.trim() === "" && ` + headerHasState("good", "Database ok"))
	d.breakDatabase(3 * time.Minute)
	w.See(elementHasText(note, "The database is failing: "+diskFull+". Moderation continues from memory."))
	w.See(elementHasText(note, "Failing for 3 min") + "&&" +
		elementHasText(note, "1,204 records pending. 3 dropped: too many were pending. A crash now would lose the last 3 min"))
	w.See(hasStatus("bad", "Database failing"))
	w.wantNoOverflow()
	if announced := browsertest.Eval[string](w.Window, note+`.querySelector("[role=status]").innerText`); announced != "The database is failing: "+diskFull+". Moderation continues from memory." {
		t.Errorf("a screen reader announces %q", announced)
	}
	d.repairDatabase()
	w.See(note + `.innerText.trim() === "" && ` + headerHasState("good", "Database ok"))
}

func TestDatabase_ShownOnWaitingPage(t *testing.T) {
	d := dash(t, func(o *Options) { o.Channels = func() []live.Channel { return nil } })
	d.breakDatabase(time.Minute)
	w := d.open(360, 800)
	w.See(hasText("Joining the channel on Twitch") + "&&" + elementHasText(`document.querySelector(".database-note")`, diskFull))
	w.wantNoOverflow()
}

func TestDatabase_OffShown(t *testing.T) {
	d := dash(t, func(o *Options) { o.Database = nil })
	d.store.setState(journal.Database{State: journal.DatabaseOff})
	w := d.open(360, 800)
	w.See(hasText("Nothing is saved: chatguard runs without a database.") + "&&" + headerHasState("off", "No database nothing is saved"))
	w.wantNoOverflow()
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(elementHasText(unsavedNote, "In force until the next restart. Nothing is saved: chatguard runs without a database."))
	if a := d.do("GET", "/readyz", nil); a.StatusCode != http.StatusOK {
		t.Errorf("readyz: %s %s", a.Status, a.body)
	}
}

func TestDatabase_SignInWhileFailing(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	d.store.failReads(errors.New("locked"))
	w := d.open(1400, 900)
	w.See(hasText("Nobody is throttled."))
	w.Must(chromedp.Reload())
	w.See(hasText("Nobody is throttled."))
}

func TestDatabase_SignInAfterRepair(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.stop()
	d.store.failLookups(errors.New("locked"))
	d.start(d.opts) // a new server that has looked up no sessions
	w.Must(chromedp.Reload())
	w.See(hasText("Sign-ins can't be checked now: the database is failing."))
	d.store.failLookups(nil)
	w.See(hasText("Nobody is throttled."))
}
