//go:build browser

package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
)

// hasReason returns a script that is true if the card's sentence contains the text.
func hasReason(text string) string {
	return fmt.Sprintf(`document.querySelector(".why")?.textContent.includes(%q)`, text)
}

// hasLimitText returns a script that is true if the card's row of a limit contains the text.
func hasLimitText(limit, text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(".standing .line")].some((line) => line.querySelector("bdi").textContent === %q && line.textContent.includes(%q))`, limit, text)
}

func TestCard_SaysWhyOnPage(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	d.say(teahouse, 1)
	d.say(gatekeeper, 5)
	w := d.openCard(gardenhour)
	w.See(hasReason("gardenhour is throttled by the limit “burst”: the next message passes in 9 min "))
	w.See(hasLimitText("burst", "3 of 3") + "&&" + hasLimitText("burst", "in 9 min ") + "&&" + hasLimitText("burst", "resets in 29 min") + "&&" + hasLimitText("burst", "everyone"))
	w.See(hasLimitText("daily", "3 of 300") + "&&" + hasLimitText("daily", "297 left") + "&&" + hasLimitText("daily", "at 00:00"))
	w.See(hasText("1 strike, expiring in 29 min") + "&&" + hasText("Next penalty: delete the message.") + "&&" + hasText("Times in UTC"))
	w.See(`document.querySelectorAll(".person .entry").length === 1 && document.querySelector(".person .entry .limit").textContent === "burst"`)

	w.seePerson(teahouse)
	w.See(hasReason("teahouse may write now: 2 of 3 messages left in the limit “burst”.") + "&&" + hasText("No strikes.") + "&&" + hasText("No throttled messages from teahouse in the journal."))
	w.See(hasText("ID 72 · subscriber · last seen"))
	w.seePerson(gatekeeper)
	w.See(hasReason("gatekeeper may write without limits, exempt as moderator."))

	d.advance(10 * time.Minute)
	w.seePerson(gardenhour)
	w.See(hasReason("gardenhour may write now: 1 of 3 messages left in the limit “burst”."))
	d.say(gardenhour, 2)
	w.See(hasReason("throttled by the limit “burst”")) // the card updates by itself
	if _, err := d.control.Pause(t.Context(), channelID, "berta"); err != nil {
		t.Fatal(err)
	}
	w.See(hasReason("gardenhour may write: the channel is paused by berta. Otherwise the limit “burst” would throttle them: the next message passes in"))
}

func TestCard_Timeout(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	for range 3 {
		d.advance(11 * time.Second)
		d.say(gardenhour, 1)
	}
	w := d.openCard(gardenhour)
	w.See(hasReason("gardenhour is timed out until ") + "&&" + hasReason(", and throttled by the limit “burst” after that: the next message passes in ") + "&&" + hasText("4 strikes"))
}

// TestCard_NoTimeoutNotGiven checks that the card reports no timeout in a channel that observes,
// because chatguard gives no timeouts in such a channel.
func TestCard_NoTimeoutNotGiven(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) { p.Mode = chatguard.Observe }))
	d.say(gardenhour, 4)
	for range 3 {
		d.advance(11 * time.Second)
		d.say(gardenhour, 1)
	}
	w := d.openCard(gardenhour)
	w.See(hasReason("gardenhour may write now: chatguard only observes. Otherwise they would be timed out for another "))
}

// The chosen user is announced: the tab names them, and a screen reader hears why they may or may
// not write.
func TestCard_AnnouncesUser(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	w.See(`document.title.endsWith("gardenhour · People · #somechannel · chatguard")`)
	w.See(`document.querySelector("[aria-live]").textContent.startsWith("gardenhour is throttled by the limit “burst”: the next message passes in ")`)
	w.visit("#/people")
	w.See(`/^(\(\d+\) )?People · #somechannel · chatguard$/.test(document.title)`)
}

func TestCard_UsersTimeZone(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	own := chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"daily": {Messages: 50}}}
	if err := d.guard.At(d.now()).SetUserOverride(chatguard.Key{ChannelID: channelID, UserID: gardenhour.ID}, own); err != nil {
		t.Fatal(err)
	}
	w := d.openCard(gardenhour)
	w.See(hasText("the user’s day follows Asia/Tokyo") + "&&" + hasLimitText("daily", "GMT+9") + "&&" + hasLimitText("daily", "3 of 50") + "&&" + hasLimitText("daily", "custom numbers"))
	w.See(hasText("time zone Asia/Tokyo; daily: 50 messages"))
	w.See(`[".identity .muted", ".entry time"].every((place) => /\d\d:\d\d:\d\d$/.test(document.querySelector(".person " + place)?.textContent))`) // the channel's zone
	w.Click(".person .text-button")
	w.See(`/^\d\d:\d\d:\d\d$/.test(document.querySelector("dialog dd")?.textContent) &&` + hasText("Penalty") + `&& document.querySelector("dialog").textContent.includes("delete the message")`)
}

func TestCard_DrawsWeek(t *testing.T) {
	d := dash(t, addLimits(t, crowd))
	now := d.now()
	d.recordPast(gardenhour, now.Add(-73*time.Hour), now.Add(-49*time.Hour), now.Add(-48*time.Hour), now.Add(-30*time.Minute))
	d.flush()
	w := d.open(1400, 1000)
	w.seePerson(gardenhour)
	w.See(`document.querySelector(".chart canvas")` + "&&" + hasText(" of 300 messages left now") + "&&" + `document.body.innerText.toLowerCase().includes("fewest this week")`)
	if limits := browsertest.Eval[string](w.Window, `[...document.querySelectorAll("#week ~ label option")].map((o) => o.value).join()`); limits != "burst,daily,crowd" {
		t.Errorf("the limits offered for the week are %s", limits)
	}
	w.Click(".chart summary")
	// one row per quarter of the known days
	w.See(`[12, 13, 14].includes(document.querySelectorAll(".chart tbody tr").length)`)
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const limit = document.querySelector("#week ~ label select");
		limit.value = "burst";
		limit.dispatchEvent(new Event("change", { bubbles: true }));
	}`))
	w.See(`document.querySelector(".chart")?.getAttribute("aria-label") === "Messages left in burst"`)
}
