//go:build browser

package web

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
)

// TestSummaryCard_Dismissed checks the card of the last stream: its words, and that it stays away
// once it is dismissed, and comes back by its button.
func TestSummaryCard_Dismissed(t *testing.T) {
	d := dash(t)
	d.noteStream(3*time.Hour, 2*time.Hour)
	hostile := floodAnna
	hostile.DisplayName = "<img src=x onerror=document.title='hacked'>"
	d.recordFlood(hostile, d.now().Add(-150*time.Minute))
	d.flush()
	w := d.open(390, 844)
	w.openActivity()
	w.See(hasText("Last stream, ") + "&&" + hasText("1 person held back. At the limits in force, it would be 1.") + "&&" + hasText("<img src=x"))
	w.wantNoOverflow()
	w.Accessible()
	w.Click(".summary .icon-only")
	w.See(`!document.querySelector(".card.summary") && document.querySelector(".summary button")`)
	w.Click(".summary button")
	w.See(`document.querySelector(".card.summary")`)
}

// TestTopCard_LinksToUser checks who is listed, and that the name leads to the user's card.
func TestTopCard_LinksToUser(t *testing.T) {
	d := dash(t)
	d.say(spammer, 6)
	d.say(chatguard.User{ID: "77", Login: "quiet"}, 1)
	d.flush()
	w := d.open(1400, 900)
	w.See(`document.querySelectorAll(".top li").length === 1 && document.querySelector(".top .sum strong").innerText === "3"`)
	w.Accessible()
	w.Click(".top li a")
	w.See(`location.hash.includes("user=` + spammer.ID + `")`)
}

// TestTopCard_CountsObserved checks that the sum counts the same messages as the list, after a
// channel that only observed has begun to enforce.
func TestTopCard_CountsObserved(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	d.say(spammer, 5)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Enforce }))
	d.say(spammer, 3)
	d.flush()
	w := d.open(1400, 900)
	w.See(elementHasText(`document.querySelector(".top .sum")`, "5 messages throttled today (UTC), 2 of them only observed"))
	w.See(elementHasText(`document.querySelector(".top li")`, "5"))
}
