package web

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard/internal/browsertest"
)

// diskFull is how a database fails in these tests.
const diskFull = "the disk is full: free some space"

// breakDatabase lets the database fail for so long already.
func (d *dashboard) breakDatabase(ago time.Duration) {
	d.store.become(Database{State: DatabaseFailing, Detail: diskFull, Since: d.now().Add(-ago), Lag: ago, Queued: 1204, Dropped: 3})
}

// mendDatabase makes it well again, everything written.
func (d *dashboard) mendDatabase() {
	d.store.become(Database{State: DatabaseOK, Since: d.now(), LastFlush: d.now()})
}

const (
	unsavedNote = `document.querySelector("[role=status] .note.unsaved")`
	savedNote   = `document.querySelector("[role=status] .note.good")`
)

// has is true when what a script finds shows the text.
func has(found, text string) string {
	return found + `?.innerText.replace(/\s+/g, " ").includes(` + "`" + text + "`" + `)`
}

func TestLimitsChangeWhileTheDatabaseFails(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	w, other := d.open(360, 800), d.openAgain(1400, 900)
	other.goTo("limits")
	other.See(`document.querySelector("#burst-0")?.value === "3"`)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	const text = "In force, but not saved yet: the database is in trouble (" + diskFull + "). It will be saved when that is mended; until then a restart would undo it."
	w.See(has(unsavedNote, text) + "&& !" + savedNote)
	w.fits()
	other.See(has(unsavedNote, text) + `&& document.querySelector("#burst-0").value === "2"`) // whoever else looks is told, too
	if v := d.say(spammer, 3); v.Allowed {
		t.Error("a third message under a burst of 2, and allowed")
	}
	w.Type(kb.Escape)
	w.See(`!document.querySelector(".unsaved button") && ` + unsavedNote) // it says how things stand, so it can't be closed

	w.Write("#burst-0", "4")
	w.Press(".finish .primary")
	w.See(`document.querySelector("#burst-0").value === "4" && document.querySelector(".unsaved button")`)
	d.mendDatabase()
	w.See(has(savedNote, "Saved by anna") + "&& !" + unsavedNote)
	other.See("!" + unsavedNote + "&& !" + savedNote)
	if n := d.guard.Policy(channelID).Limits[0].Burst; n != 4 {
		t.Errorf("in force is a burst of %d", n)
	}
}

func TestAPageOpenedLaterTellsWhatIsUnsaved(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	d.put(burst(9))
	w := d.open(1400, 900)
	w.See(says("The limits were changed meanwhile. They are in force, and a restart now would undo that."))
	w.goTo("limits")
	w.See(unsavedNote + `&& !document.querySelector(".unsaved button")`) // another's change is no undo of theirs
}

func TestLimitsChangeWhileNothingCanBeRead(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.breakDatabase(time.Minute)
	d.store.hide(errors.New("damaged"))
	w.goTo("limits")
	w.See(says("Who changed them last can’t be read now."))
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(unsavedNote + "&&" + says("Changed by anna"))
	w.Press(".unsaved button") // undo
	w.See(`document.querySelector("#burst-0").value === "3" && ` + unsavedNote)
}

func TestAChangeThatCantBeKeptIsSaidSo(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	d.store.refuse(errors.New("too many changes wait"))
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(has(`document.querySelector("[role=status] .note.bad")`, "The database is in trouble, so nothing was changed.") + "&& !" + unsavedNote)
	if n := d.guard.Policy(channelID).Limits[0].Burst; n != 3 {
		t.Errorf("refused, and in force is a burst of %d", n)
	}
}

func TestTheFirstPageTellsOfTheDatabase(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	note := `document.querySelector(".database-note")`
	w.See(note + `?.innerText.trim() === "" && ` + says("Database ok"))
	d.breakDatabase(3 * time.Minute)
	w.See(has(note, "The database is failing: "+diskFull+". Chat goes on in memory."))
	w.See(has(note, "Failing for 3 min") + "&&" +
		has(note, "1,204 records wait to be written. 3 had to be dropped, because too many waited. A crash now would lose the last 3 min"))
	w.See(says("Database failing"))
	w.fits()
	if told := browsertest.Eval[string](w.Window, note+`.querySelector("[role=status]").innerText`); told != "The database is failing: "+diskFull+". Chat goes on in memory." {
		t.Errorf("a screen reader is told %q", told)
	}
	d.mendDatabase()
	w.See(note + `.innerText.trim() === "" && ` + says("Database ok"))
}

func TestTheWaitingPageTellsOfTheDatabase(t *testing.T) {
	d := dash(t, func(o *Options) { o.Channels = func() []Channel { return nil } })
	d.breakDatabase(time.Minute)
	w := d.open(360, 800)
	w.See(says("Waiting for Twitch") + "&&" + has(`document.querySelector(".database-note")`, diskFull))
	w.fits()
}

func TestNoDatabaseIsSaidPlainly(t *testing.T) {
	d := dash(t, func(o *Options) { o.Database = nil })
	d.store.become(Database{State: DatabaseOff})
	w := d.open(360, 800)
	w.See(says("Nothing is kept: started without a database.") + "&&" + says("No database"))
	w.fits()
	w.goTo("limits")
	w.See(`document.querySelector("#burst-0")`)
	w.Write("#burst-0", "2")
	w.Press(".finish .primary")
	w.See(has(unsavedNote, "In force until chatguard stops. Nothing is kept: it was started without a database."))
	if a := d.do("GET", "/readyz", nil); a.StatusCode != http.StatusOK {
		t.Errorf("readyz: %s %s", a.Status, a.body)
	}
}

func TestTheLinkSignsInWhileTheDatabaseFails(t *testing.T) {
	d := dash(t)
	d.breakDatabase(time.Minute)
	d.store.hide(errors.New("locked"))
	w := d.open(1400, 900)
	w.See(says("Nobody is throttled."))
	w.Must(chromedp.Reload())
	w.See(says("Nobody is throttled."))
}

func TestWhoCantBeLookedUpComesInOnceThatIsMended(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	d.stop()
	d.store.forgetHolders(errors.New("locked"))
	d.start(d.opts) // and knows nobody
	w.Must(chromedp.Reload())
	w.See(says("Sign-ins can't be looked up now: the database is in trouble."))
	d.store.forgetHolders(nil)
	w.See(says("Nobody is throttled."))
}
