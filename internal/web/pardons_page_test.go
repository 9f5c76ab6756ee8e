//go:build browser

package web

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/journal"
)

const answerOf42 = `document.querySelector(".held .question [role=status]")`

// struck is a script that is true if the spammer's row shows n strikes.
func struck(n int) string {
	return fmt.Sprintf(`document.querySelector('.row[data-user="42"] .strikes')?.textContent.startsWith("%d strike")`, n)
}

// spammed opens a window with a spammer who has two strikes and a timeout.
func spammed(t *testing.T, width, height int64) (*dashboard, *window) {
	t.Helper()
	d := dash(t, timingOut(t))
	w := d.open(width, height)
	d.spam()
	w.See(spammersRow + "&&" + struck(2))
	return d, w
}

// A pardon from a row covers everything that the row stands for. The answer says what remains.
// Undoing the pardon restores the strikes.
func TestPardonPage_Row(t *testing.T) {
	d, w := spammed(t, 1600, 900)
	w.act("pardon")
	w.See(struck(0) + "&&" + has(deedOf42, "pardoned, still throttled"))
	w.See(has(answerOf42, "Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted. Deleted messages stay deleted. The limit “burst” allows the next message at ") + "&&" +
		has(answerOf42, "To let them write now, use Grant or Reset."))
	w.See(`document.querySelector("[aria-live]").innerText.startsWith("Spammer: Pardoned: 4 messages, 2 strikes removed")`)
	d.audited(journal.UserPardoned)
	if d.lifted() != 1 {
		t.Errorf("lifted %d times", d.lifted())
	}
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "first-of-42" {
		t.Errorf("pressed, and the focus is on %q", focused)
	}
	w.fits()
	w.Accessible()

	w.choose("Undo")
	w.See(struck(2) + "&&" + has(answerOf42, "Pardon undone. 2 strikes restored. The timeout or ban is not repeated."))
	d.audited(journal.UserUnpardoned)
	w.Accessible()
}

// If a limit still holds a pardoned user back, the page offers a grant that lets them write at
// once.
func TestPardonPage_LeadsToGrant(t *testing.T) {
	d, w := spammed(t, 360, 800)
	w.act("menu")
	w.choose("Pardon")
	w.See(has(answerOf42, "The limit “burst” allows the next message at "))
	w.fits()
	w.Accessible()
	w.choose("Grant")
	w.See(has(question, "Give Spammer"))
	w.choose("Grant")
	w.See(has(deedOf42, "10 granted until ") + "&& document.activeElement === " + controlOf("menu"))
	if v := d.say(spammer, 10); !v.Allowed {
		t.Errorf("granted, and throttled: %+v", v)
	}
}

// If a pardon removes the strikes but cannot lift the timeout, the page says both and reports no
// success.
func TestPardonPage_TimeoutNotLifted(t *testing.T) {
	d, w := spammed(t, 360, 800)
	d.liftsNothing(errors.New("unban user: somebody else has timed out or banned this user since: lift that in the chat"))
	w.act("menu")
	w.choose("Pardon")
	w.See(has(deedOf42, "partly pardoned") + "&& !" + deedOf42 + `.classList.contains("good")`)
	w.See(has(answerOf42, "Pardoned: 4 messages, 2 strikes removed. The timeout or ban remains: unban user: somebody else has timed out or banned this user since: lift that in the chat."))
	w.fits()
	w.Accessible()
}

// A second moderator sees the pardon in the row at once, and also in the answer if they pardon
// again. After the next strike the pardon cannot be undone.
func TestPardonPage_SecondModerator(t *testing.T) {
	d, w := spammed(t, 1600, 900)
	into[pardonedUser](t, d.do("POST", spammerPath+"/pardon", nil, d.asModerator("berta")))
	w.See(struck(0))
	w.act("pardon")
	w.See(has(answerOf42, "Already pardoned by berta: 4 messages, 2 strikes removed, timeout or ban lifted."))
	d.say(spammer, 1)
	w.See(struck(1))
	w.choose("Undo")
	w.See(has(`document.querySelector(".held .question [role=alert]")`, "have changed since the pardon: it can't be undone any more"))
	w.Accessible()
}

// After a restart, a pardon covers everything that the row stood for before.
func TestPardonPage_AfterRestart(t *testing.T) {
	d, w := spammed(t, 1600, 900)
	d.restart()
	w.See(`!document.querySelector(".lost") && ` + spammersRow)
	w.act("pardon")
	w.See(has(answerOf42, "Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted."))
	w.See(struck(0))
	w.Accessible()
}

// An undo is offered only for a while.
func TestPardonPage_UndoExpires(t *testing.T) {
	d, w := spammed(t, 1600, 900)
	const undo = `[...document.querySelectorAll(".held .question button")].some((b) => b.innerText === "Undo")`
	w.act("pardon")
	w.See(has(answerOf42, "Pardoned: ") + "&&" + undo)
	d.pass(5 * time.Minute)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.See(rows("other", 1) + "&& !" + undo + "&&" + has(answerOf42, "Pardoned: "))
}

func TestPardonPage_Card(t *testing.T) {
	d := dash(t, timingOut(t))
	d.spam()
	w := d.open(1400, 900)
	w.seePerson(spammer)
	w.See(says("2 strikes"))
	w.Click("#amend-pardon")
	w.See(answered("Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted.") + "&&" + says("No strikes."))
	w.See(`document.querySelectorAll(".person span.pardon.muted").length === 4`)
	w.Accessible()
	w.Press(".amends .note button") // undo
	w.See(answered("Pardon undone. 2 strikes restored. The timeout or ban is not repeated.") + "&&" + says("2 strikes"))
	w.See(`document.querySelectorAll(".person .pardon button").length === 4`)
	w.Accessible()

	w.goTo("audit")
	w.See(says("undid a pardon") + "&&" + says("4 messages, 2 strikes restored") + "&&" + says("4 messages, 2 strikes removed"))
}
