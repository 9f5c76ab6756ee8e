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

// hasStrikes returns a script that is true if the spammer's row shows n strikes.
func hasStrikes(n int) string {
	return fmt.Sprintf(`document.querySelector('.row[data-user="42"] .strikes')?.textContent.startsWith("%d strike")`, n)
}

// openTimedOut opens a window with a spammer who has two strikes and a timeout.
func openTimedOut(t *testing.T, width, height int64) (*dashboard, *window) {
	t.Helper()
	d := dash(t, addTimeouts(t))
	w := d.open(width, height)
	d.spam()
	w.See(spammersRow + "&&" + hasStrikes(2))
	return d, w
}

// A pardon from a row covers everything that the row stands for. The answer says what remains.
// Undoing the pardon restores the strikes.
func TestPardonPage_Row(t *testing.T) {
	d, w := openTimedOut(t, 1600, 900)
	w.act("pardon")
	w.See(hasStrikes(0) + "&&" + elementHasText(deedOf42, "pardoned, still throttled"))
	w.See(elementHasText(answerOf42, "Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted. Deleted messages stay deleted. The limit “burst” allows the next message at ") + "&&" +
		elementHasText(answerOf42, "To let them write now, use Grant or Reset."))
	w.See(`document.querySelector("[aria-live]").innerText.startsWith("Spammer: Pardoned: 4 messages, 2 strikes removed")`)
	d.wantAudit(journal.UserPardoned)
	if d.liftCount() != 1 {
		t.Errorf("lifted %d times", d.liftCount())
	}
	if focused := browsertest.Eval[string](w.Window, "document.activeElement.id"); focused != "first-of-42" {
		t.Errorf("after the button was pressed, the focus is on %q", focused)
	}
	w.wantNoOverflow()
	w.Accessible()

	w.choose("Undo")
	w.See(hasStrikes(2) + "&&" + elementHasText(answerOf42, "Pardon undone. 2 strikes restored. The timeout or ban is not repeated."))
	d.wantAudit(journal.UserUnpardoned)
	w.Accessible()
}

// If a limit still holds a pardoned user back, the page offers a grant that lets them write at
// once.
func TestPardonPage_LeadsToGrant(t *testing.T) {
	d, w := openTimedOut(t, 360, 800)
	w.act("menu")
	w.choose("Pardon")
	w.See(elementHasText(answerOf42, "The limit “burst” allows the next message at "))
	w.wantNoOverflow()
	w.Accessible()
	w.choose("Grant")
	w.See(elementHasText(question, "Give Spammer"))
	w.choose("Grant")
	w.See(elementHasText(deedOf42, "10 granted until ") + "&& document.activeElement === " + findControl("menu"))
	if v := d.say(spammer, 10); !v.Allowed {
		t.Errorf("granted, and throttled: %+v", v)
	}
}

// If a pardon removes the strikes but cannot lift the timeout, the page says both and reports no
// success.
func TestPardonPage_TimeoutNotLifted(t *testing.T) {
	d, w := openTimedOut(t, 360, 800)
	d.failLifting(errors.New("unban user: somebody else has timed out or banned this user since: lift that in the chat"))
	w.act("menu")
	w.choose("Pardon")
	w.See(elementHasText(deedOf42, "partly pardoned") + "&& !" + deedOf42 + `.classList.contains("good")`)
	w.See(elementHasText(answerOf42, "Pardoned: 4 messages, 2 strikes removed. The timeout or ban remains: unban user: somebody else has timed out or banned this user since: lift that in the chat."))
	w.wantNoOverflow()
	w.Accessible()
}

// A second moderator sees the pardon in the row at once, and also in the answer if they pardon
// again. After the next strike the pardon cannot be undone.
func TestPardonPage_SecondModerator(t *testing.T) {
	d, w := openTimedOut(t, 1600, 900)
	decode[pardonedUser](t, d.do("POST", spammerPath+"/pardon", nil, d.asModerator("berta")))
	w.See(hasStrikes(0))
	w.act("pardon")
	w.See(elementHasText(answerOf42, "Already pardoned by berta (token): 4 messages, 2 strikes removed, timeout or ban lifted."))
	d.say(spammer, 1)
	w.See(hasStrikes(1))
	w.choose("Undo")
	w.See(elementHasText(`document.querySelector(".held .question [role=alert]")`, "have changed since the pardon: it can't be undone any more"))
	w.Accessible()
}

// After a restart, a pardon covers everything that the row stood for before.
func TestPardonPage_AfterRestart(t *testing.T) {
	d, w := openTimedOut(t, 1600, 900)
	d.restart()
	w.See(`!document.querySelector(".lost") && ` + spammersRow)
	w.act("pardon")
	w.See(elementHasText(answerOf42, "Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted."))
	w.See(hasStrikes(0))
	w.Accessible()
}

// An undo is offered only for a while.
func TestPardonPage_UndoExpires(t *testing.T) {
	d, w := openTimedOut(t, 1600, 900)
	const undo = `[...document.querySelectorAll(".held .question button")].some((b) => b.innerText === "Undo")`
	w.act("pardon")
	w.See(elementHasText(answerOf42, "Pardoned: ") + "&&" + undo)
	d.advance(5 * time.Minute)
	d.say(chatguard.User{ID: "43", Login: "other"}, 4)
	w.See(hasRows("other", 1) + "&& !" + undo + "&&" + elementHasText(answerOf42, "Pardoned: "))
}

func TestPardonPage_Card(t *testing.T) {
	d := dash(t, addTimeouts(t))
	d.spam()
	w := d.open(1400, 900)
	w.seePerson(spammer)
	w.See(hasText("2 strikes"))
	w.Click("#amend-pardon")
	w.See(hasNote("Pardoned: 4 messages, 2 strikes removed, timeout or ban lifted.") + "&&" + hasText("No strikes."))
	w.See(`document.querySelectorAll(".person span.pardon.muted").length === 4`)
	w.Accessible()
	w.Press(".amends .note button") // undo
	w.See(hasNote("Pardon undone. 2 strikes restored. The timeout or ban is not repeated.") + "&&" + hasText("2 strikes"))
	w.See(`document.querySelectorAll(".person .pardon button").length === 4`)
	w.Accessible()

	w.goTo("audit")
	w.See(hasText("undid a pardon") + "&&" + hasText("4 messages, 2 strikes restored") + "&&" + hasText("4 messages, 2 strikes removed"))
}
