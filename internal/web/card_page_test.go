package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// why is true when the card's sentence says the text.
func why(text string) string {
	return fmt.Sprintf(`document.querySelector(".why")?.textContent.includes(%q)`, text)
}

// standing is true when the row of a limit on the card says the text.
func standing(limit, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".standing .line")].some((line) => line.querySelector("bdi").textContent === %q && line.textContent.includes(%q))`, limit, text)
}

func TestTheCardSaysWhy(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 1)
	d.say(gatekeeper, 5)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(why("gardenhour is held back by burst: the next message passes in 9 min "))
	w.See(standing("burst", "3 of 3") + "&&" + standing("burst", "in 9 min ") + "&&" + standing("burst", "resets in 29 min") + "&&" + standing("burst", "as everyone"))
	w.See(standing("daily", "3 of 300") + "&&" + standing("daily", "297 left") + "&&" + standing("daily", "at 00:00"))
	w.See(says("1 strike, forgotten in 29 min") + "&&" + says("Next on the ladder: delete the message.") + "&&" + says("times are in UTC, the channel’s zone"))
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

// TestTheCardTellsOfNoTimeoutThatIsntGiven: a channel that observes times nobody out, and one that is paused lets timeouts end that were given before.
func TestTheCardTellsOfNoTimeoutThatIsntGiven(t *testing.T) {
	for mode, want := range map[chatguard.Mode]string{
		chatguard.Observe: "gardenhour may write now, because chatguard only observes. Else they would be timed out, and write again in ",
		chatguard.Enforce: "gardenhour is timed out: they may write again in ",
	} {
		d := dash(t)
		into[change](t, d.put(func(p *chatguard.Policy) { p.Mode = mode }))
		d.say(gardenhour, 4)
		for range 3 {
			d.pass(11 * time.Second)
			d.say(gardenhour, 1)
		}
		if _, err := d.control.Pause(t.Context(), channelID, "berta"); err != nil {
			t.Fatal(err)
		}
		d.flushed()
		w := d.open(1400, 900)
		w.seePerson(gardenhour)
		w.See(why(want))
	}
}

// TestTheChosenUserIsSaid: the tab names them, and a screen reader hears why they may write or not.
func TestTheChosenUserIsSaid(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(`document.title === "gardenhour · People · chatguard"`)
	w.See(`document.querySelector("[aria-live]").textContent.startsWith("gardenhour is held back by burst: the next message passes in ")`)
	w.visit("#/people")
	w.See(`document.title === "People · chatguard"`)
}

func TestTheCardCountsInTheUsersZone(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	own := chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"daily": {Messages: 50}}}
	if err := d.guard.SetUserOverride(channelID, gardenhour.ID, own, d.now()); err != nil {
		t.Fatal(err)
	}
	d.flushed()
	w := d.open(1400, 900)
	w.seePerson(gardenhour)
	w.See(says("times are in Asia/Tokyo, their own zone") + "&&" + standing("daily", "GMT+9") + "&&" + standing("daily", "3 of 50") + "&&" + standing("daily", "their own numbers"))
	w.See(says("their day is that of Asia/Tokyo; daily: 50 messages"))
	w.See(`[".identity .muted", ".entry time"].every((place) => document.querySelector(".person " + place)?.textContent.endsWith("GMT+9"))`)
	w.Click(".person .text-button")
	w.See(`document.querySelector("dialog dd")?.textContent.endsWith("GMT+9") &&` + says("Penalty due") + `&& document.querySelector("dialog").textContent.includes("delete the message")`)
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
	w.See(`[12, 13, 14].includes(document.querySelectorAll(".chart tbody tr").length)`) // a row for each quarter of the days that are known
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const limit = document.querySelector("#week ~ label select");
		limit.value = "burst";
		limit.dispatchEvent(new Event("change", { bubbles: true }));
	}`))
	w.See(`document.querySelector(".chart")?.getAttribute("aria-label") === "Messages left in burst"`)
}
