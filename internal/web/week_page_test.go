//go:build browser

package web

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
)

// TestLimits_SharedWeek checks that the chart of a limit that everyone shares is drawn from what the
// server knows, and fits the page.
func TestLimits_SharedWeek(t *testing.T) {
	room := chatguard.Limit{Name: "room", Algorithm: chatguard.DailyWindow, Per: chatguard.PerChannel, Messages: 20, ResetAt: "00:00", Timezone: "UTC"}
	d := dash(t, addLimits(t, room))
	today := d.now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour)
	d.advance(today.Sub(d.now()))
	d.recordPast(gardenhour, today.Add(-72*time.Hour), today.Add(-71*time.Hour))
	d.say(gardenhour, 1)
	d.flush()
	w := d.open(1400, 1000)
	w.openLimits()
	w.Click(".week summary")
	w.See(`document.querySelector(".chart canvas")`)
	w.Click(".chart summary")
	w.See(`[...document.querySelectorAll(".chart tbody td")].map((cell) => cell.textContent).join() === "19,18,20,20,20,20,20,20,20,20,20,20,19"`)
	w.Accessible()
	w.wantNoOverflow()
	w.Must(chromedp.EmulateViewport(360, 800))
	w.See(`[...document.querySelectorAll(".chart canvas")].every((e) => e.getBoundingClientRect().width <= 328)`)
	w.wantNoOverflow()
}
