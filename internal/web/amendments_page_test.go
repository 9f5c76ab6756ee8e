//go:build browser

package web

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// hasNote returns a script that is true if the latest note beside the card's buttons contains text.
func hasNote(text string) string {
	return fmt.Sprintf(`document.querySelector(".amends .note")?.textContent.includes(%q)`, text)
}

func TestCardActions_Grant(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	w.Click("#amend-grant")
	w.See(`document.activeElement.id === "grant-messages"`)
	w.Write("#grant-messages", "none")
	w.See(`document.querySelector("#grant-messages-error").textContent === "Enter a whole number, 1 or more."`)
	w.Write("#grant-messages", "2")
	w.Must(chromedp.Evaluate[chromedp.Void](`{
		const limit = document.querySelector("#grant-limit");
		limit.value = "burst";
		limit.dispatchEvent(new Event("change", { bubbles: true }));
	}`))
	w.Accessible()
	w.TypeIn("#grant-messages", kb.Enter)
	w.See(hasNote("2 extra messages in the limit “burst”, until ") + "&&" + hasLimitText("burst", "with 2 extra") + "&&" + hasReason("2 messages left in the limit “burst”, 2 of them granted"))
	w.See(`!document.querySelector(".amend") && document.activeElement.id === "amend-grant"`)
	if v := d.say(gardenhour, 2); !v.Allowed {
		t.Error("2 messages are granted, and the second is throttled")
	}

	w.Click("#amend-grant")
	w.Write("#grant-messages", "99999999999")
	w.Click(".amend .primary")
	w.See(`document.querySelector(".amend .error[role=alert]").textContent !== "" && document.querySelector("#grant-messages").value === "99999999999"`)
	w.Type(kb.Escape)
	w.See(`!document.querySelector(".amend") && document.activeElement.id === "amend-grant"`)
}

func TestCardActions_ExemptAndUndo(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	w.Click("#amend-exempt")
	w.Click(".amend .primary")
	w.See(hasNote("Exempt until ") + "&&" + hasReason("gardenhour may write without limits, exempted until "))
	if v := d.say(gardenhour, 1); !v.Exempt {
		t.Errorf("exempt, and judged: %+v", v)
	}
	w.Press(".amends .note button") // undo
	w.See(hasNote("Undone.") + "&&" + hasReason("throttled by the limit “burst”"))
	if v := d.say(gardenhour, 1); v.Exempt {
		t.Error("no longer exempt, and not judged")
	}
}

func TestCardActions_ResetAsksFirst(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	w.Click("#amend-reset")
	w.See(hasText("Reset gardenhour? This clears their usage and strikes."))
	w.Click(".amend button[type=button]") // cancel
	w.See(`!document.querySelector(".amend")`)
	if v := d.say(gardenhour, 1); v.Allowed {
		t.Error("nothing was reset, and a message is allowed")
	}
	w.Click("#amend-reset")
	w.Click(".amend .primary")
	w.See(hasNote("Reset: usage and strikes are cleared.") + "&&" + hasReason("3 of 3 messages left") + "&&" + hasText("No strikes."))
	if v := d.say(gardenhour, 3); !v.Allowed {
		t.Error("reset, and throttled")
	}
}

func TestCardActions_OverrideAndUndo(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	before := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 50}}}
	if err := d.guard.At(d.now()).SetUserOverride(chatguard.Key{ChannelID: channelID, UserID: gardenhour.ID}, before); err != nil {
		t.Fatal(err)
	}
	w := d.openCard(gardenhour)
	w.Click("#amend-override")
	w.Write("#own-burst-burst", "0")
	w.See(`document.querySelector("#own-burst-burst-error").textContent.startsWith("Enter a whole number, 1 or more")`)
	w.Write("#own-burst-burst", "5")
	w.Write("#own-zone", "Asia/Tokyo")
	w.Click("input[value=never]")
	w.Accessible()
	d.say(gardenhour, 1)
	w.See(hasLimitText("burst", "2 of 3")) // the card is updated, and the input stays
	w.See(`document.querySelector("#own-burst-burst").value === "5" && document.querySelector("input[value=never]").checked`)
	w.Click(".amend .primary")
	w.See(hasNote("Saved. Applies from the next message on.") + "&&" + hasLimitText("burst", "2 of 5") + "&&" + hasLimitText("burst", "custom numbers"))
	w.See(hasText("never exempt; time zone Asia/Tokyo; burst: 5 at once; daily: 50 messages"))
	own, err := d.guard.UserOverride(chatguard.Key{ChannelID: channelID, UserID: gardenhour.ID})
	if err != nil || own.Exempt != chatguard.NeverExempt || own.Timezone != "Asia/Tokyo" || own.Limits["burst"].Burst != 5 || own.Limits["burst"].Refill != 0 {
		t.Errorf("in force is %+v, %v", own, err)
	}
	w.Press(".amends .note button") // undo
	w.See(hasNote("Undone.") + "&&" + hasLimitText("burst", "2 of 3") + "&&" + hasLimitText("daily", "2 of 50"))
	if own, err := d.guard.UserOverride(chatguard.Key{ChannelID: channelID, UserID: gardenhour.ID}); err != nil || !reflect.DeepEqual(own, before) {
		t.Errorf("undone, and in force is %+v, %v", own, err)
	}
}

func TestCardActions_OverrideConflict(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	w := d.openCard(gardenhour)
	w.Click("#amend-override")
	w.Write("#own-messages-daily", "5")
	other := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 70}}}
	if a := d.do("PUT", "/api/v1/channels/"+channelID+"/users/71/override", other, asOwner); a.StatusCode != 200 {
		t.Fatalf("%s: %s", a.Status, a.body)
	}
	w.See(hasText("Someone else changed this while you were editing."))
	w.Click(".amend .primary")
	w.Press(".amend .note button") // load
	w.See(`document.querySelector("#own-messages-daily").value === "70" && !document.querySelector(".amend .note")`)
	if own, _ := d.guard.UserOverride(chatguard.Key{ChannelID: channelID, UserID: gardenhour.ID}); own.Limits["daily"].Messages != 70 {
		t.Errorf("in force is %+v", own)
	}
}

// Another moderator's change cannot be undone: the page stops offering the undo, and a request for
// it is refused.
func TestCardActions_UndoKeepsOthersChange(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	w := d.openCard(gardenhour)
	w.Click("#amend-exempt")
	w.Click(".amend .primary")
	w.See(hasNote("Exempt until ") + `&& document.querySelector(".amends .note button")`)
	path := channelPath + "/users/71/override"
	other := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 70}}}
	decode[amended](t, d.do("PUT", path, other, asOwner))
	w.See(hasText("daily: 70 messages") + `&&` + hasNote("Exempt until ") + `&& !document.querySelector(".amends .note button")`)
}

func TestCardActions_NoLimitsNoGrant(t *testing.T) {
	d := dash(t)
	decode[control.Revised](t, d.put(func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 600, Every: time.Minute}}
	}))
	d.say(gardenhour, 1)
	w := d.openCard(gardenhour)
	w.See(`document.querySelector("#amend-exempt") && !document.querySelector("#amend-grant")`)
}

func TestCardActions_PlaceholdersShowRoleNumbers(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 1)
	w := d.openCard(gardenhour)
	w.Click("#amend-override")
	w.See(`document.querySelector("#own-burst-burst").placeholder === "3" && document.querySelector("#own-refill-burst").placeholder === "10 minutes"` +
		`&& document.querySelector("#own-messages-daily").placeholder === "300"`)
}

func TestCardActions_UnsavedShown(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	d.store.setState(journal.Database{State: journal.DatabaseFailing, Detail: "disk full"})
	w.See(hasText("Database failing"))
	w.Click("#amend-reset")
	w.Click(".amend .primary")
	w.See(hasNote("In force, but not saved yet: a restart now would undo it.") + "&&" + hasReason("3 of 3 messages left"))
	w.Press(".pardon button")
	w.See(`document.querySelector(".pardon").innerText.includes("not saved yet")`)
}

func TestCardActions_PardonMessage(t *testing.T) {
	d := dash(t)
	d.say(gardenhour, 4)
	w := d.openCard(gardenhour)
	w.See(hasText("1 strike,"))
	w.Press(".pardon button")
	w.See(`document.querySelector(".pardon button").textContent.trim() === "Undo"` + "&&" + hasText("No strikes."))
}
