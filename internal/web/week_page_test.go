//go:build browser

package web

import (
	"errors"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// openRoom opens a page of a channel whose users share 20 messages a day, and 30 in all channels.
// Three days ago they wrote 5 of them, and yesterday 2.
func openRoom(t *testing.T, width, height int64) *window {
	room := chatguard.Limit{Name: "room", Algorithm: chatguard.DailyWindow, Per: chatguard.PerChannel, Messages: 20, ResetAt: "00:00", Timezone: "UTC"}
	server := room
	server.Name, server.Per, server.Messages = "server", chatguard.PerEverywhere, 30
	d := dash(t, addLimits(t, room, server))
	today := d.now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour)
	d.advance(today.Sub(d.now()))
	d.recordPast(gardenhour, today.Add(-72*time.Hour), today.Add(-71*time.Hour), today.Add(-70*time.Hour))
	d.recordPast(spammer, today.Add(-72*time.Hour), today.Add(-71*time.Hour), today.Add(-24*time.Hour), today.Add(-23*time.Hour))
	d.say(gardenhour, 1)
	d.flush()
	return d.open(width, height)
}

// drawnWeek is a script that is true if the page shows the chart of the room, with its table.
const drawnWeek = `document.querySelector(".chart canvas") && document.querySelector(".chart")?.getAttribute("aria-label") === "Messages left for everyone in room"
	&& document.querySelector(".chart figcaption")?.textContent.startsWith("room: 19 of 20 messages left now. Fewest this week: 15 at ")
	&& document.querySelector(".chart + .basis")?.textContent === "Computed from the messages per quarter hour, with the current numbers. A limit that refills faster looks emptier than it was."`

// weekTable returns what was left of the room at each row of the chart's table.
func (w *window) weekTable() string {
	w.Click(".chart summary")
	w.See(`document.querySelectorAll(".chart tbody tr").length > 0`)
	return browsertest.Eval[string](w.Window, `[...document.querySelectorAll(".chart tbody td")].map((cell) => cell.textContent).join()`)
}

// roomLeft is what was left at noon three days ago, and every six hours since.
const roomLeft = "18,15,20,20,20,20,20,20,19,18,20,20,19"

func TestLimits_SharedWeek(t *testing.T) {
	w := openRoom(t, 1400, 1000)
	w.openLimits()
	if n := browsertest.Eval[int](w.Window, `document.querySelectorAll(".limit details.week").length`); n != 2 {
		t.Errorf("%d limits have a chart, want two: the others count per user", n)
	}
	w.See(`!document.querySelector(".chart")`)
	w.Click(".week summary")
	w.See(drawnWeek)
	if got := w.weekTable(); got != roomLeft {
		t.Errorf("left every six hours:\ngot  %s\nwant %s", got, roomLeft)
	}
	w.Accessible()
	w.wantNoOverflow()
	w.Must(chromedp.EmulateViewport(360, 800))
	w.See(`[...document.querySelectorAll(".chart canvas")].every((e) => e.getBoundingClientRect().width <= 328)`)
	w.wantNoOverflow()
}

// A failing database is reported at the chart, and the chart stays.
func TestLimits_SharedWeekRefused(t *testing.T) {
	w := openRoom(t, 1400, 1000)
	w.openLimits()
	w.Click(".week summary")
	w.See(drawnWeek)
	w.Click(".week summary")
	w.See(`!document.querySelector(".chart")`)
	w.store.failReads(errors.New("damaged: /secret/path"))
	w.Click(".week summary")
	w.See(drawnWeek + `&& document.querySelector(".week [role=alert]")?.textContent === "The week can't be read now: the database is failing."`)
}

// The card of a user shows the week of a shared limit too, and says whose it is.
func TestCard_SharedWeek(t *testing.T) {
	w := openRoom(t, 1400, 1000)
	w.seePerson(spammer)
	w.See(hasText(" of 300 messages left now"))
	options := `[...document.querySelectorAll("#week ~ label option")].map((o) => o.textContent).join("; ")`
	if got := browsertest.Eval[string](w.Window, options); got != "burst; daily; room, shared by everyone; server, shared by everyone, across all channels" {
		t.Errorf("the limits offered for the week are %s", got)
	}
	w.pickOption("#week ~ label select", "room")
	w.See(drawnWeek)
	if got := w.weekTable(); got != roomLeft {
		t.Errorf("left every six hours:\ngot  %s\nwant %s", got, roomLeft)
	}
	w.Accessible()
	w.Must(chromedp.EmulateViewport(360, 800))
	w.See(`[...document.querySelectorAll(".chart canvas")].every((e) => e.getBoundingClientRect().width <= 328)`)
	w.wantNoOverflow()
}

// If all limits are shared, the card shows the first one's week.
func TestCard_OnlySharedLimits(t *testing.T) {
	d := dash(t, func(o *Options) {
		base := o.Guard.Policy()
		base.Limits = []chatguard.Limit{crowd}
		if err := o.Guard.At(time.Now()).SetPolicy(base); err != nil {
			t.Fatal(err)
		}
	})
	d.say(gardenhour, 1)
	w := d.openCard(gardenhour)
	w.See(`document.querySelector(".chart")?.getAttribute("aria-label") === "Messages left for everyone in crowd"`)
}
