//go:build browser

package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

// hasAudits returns a script that is true if the audit shows exactly n changes and the newest
// contains the text.
func hasAudits(n int, newest string) string {
	const words = `document.querySelector(".audit")?.innerText.replace(/\s+/g, " ")`
	return fmt.Sprintf(`document.querySelectorAll(".audit").length === %d && %s.includes(%q)`, n, words, newest)
}

// auditTarget returns a user as the target of the author's change.
func auditTarget(user chatguard.User, author string) journal.Target {
	return journal.Target{ChannelID: channelID, UserID: user.ID, Author: author}
}

func TestAuditPage_ShowsChanges(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("audit")
	w.See(hasText("No changes yet."))

	ctx := t.Context()
	own := chatguard.UserOverride{Exempt: chatguard.NeverExempt, Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"burst": {Burst: 9, Refill: 2 * time.Second}}}
	entry := d.say(gardenhour, 4).EntryID
	d.flush()
	for _, change := range []struct {
		says string
		make func() (bool, error)
	}{
		{"berta granted messages gardenhour 10 extra in daily until ", func() (bool, error) {
			_, saved, err := d.control.Grant(ctx, auditTarget(gardenhour, "berta"), "daily", 10)
			return saved, err
		}},
		{"berta pardoned gardenhour “hello everyone” 1 message", func() (bool, error) {
			_, saved, err := d.control.Pardon(ctx, entry, "berta")
			return saved, err
		}},
		{"clara reset gardenhour", func() (bool, error) { return d.control.Reset(ctx, auditTarget(gardenhour, "clara")) }},
		{"clara exempted 72 from all limits until ", func() (bool, error) {
			return overrideSaved(d.control.Exempt(ctx, auditTarget(teahouse, "clara"), nil, time.Hour))
		}},
		{"clara exempted 72 from all limits, permanently", func() (bool, error) {
			return overrideSaved(d.control.Exempt(ctx, auditTarget(teahouse, "clara"), nil, 0))
		}},
		{"clara set custom limits gardenhour", func() (bool, error) {
			return overrideSaved(d.control.SetOverride(ctx, auditTarget(gardenhour, "clara"), nil, own))
		}},
		{"never exempt; time zone Asia/Tokyo; burst: 9 at once, one more every 2 seconds, before: none", func() (bool, error) { return true, nil }},
		{"clara paused", func() (bool, error) { return d.control.Pause(ctx, channelID, "clara") }},
		{"clara started raid mode channel until ", func() (bool, error) {
			_, saved, err := d.control.StartRaid(ctx, channelID, "clara", time.Minute)
			return saved, err
		}},
		{"clara ended raid mode channel the usual limits apply again", func() (bool, error) { return d.control.EndRaid(ctx, channelID, "clara") }},
	} {
		if saved, err := change.make(); !saved || err != nil {
			t.Fatalf("%s: %v, %v", change.says, saved, err)
		}
		n := len(d.store.audits)
		w.visit("#/now")
		w.visit("#/audit")
		w.See(hasAudits(n, change.says))
	}

	d.put(burst(7))
	w.visit("#/audit?action=policy")
	w.See(hasAudits(1, "owner changed the limits channel revision 1 burst: messages at once 3 → 7"))
	w.pick("#filter-action", "")
	w.See(`location.hash === "#/audit" && document.querySelectorAll(".audit").length > 1`)
	w.Write("#filter-author", "berta\r")
	w.See(`location.hash === "#/audit?author=berta" &&` + hasAudits(2, "berta pardoned"))
	w.Write("#filter-author", "nobody\r")
	w.See(hasText("No changes match these filters."))
	w.visit("#/audit?user=72")
	w.See(hasAudits(2, "clara exempted 72 "))
	w.Write("#filter-name", "GardenHour\r")
	w.See(`location.hash === "#/audit?name=GardenHour" &&` + hasAudits(4, "clara set custom limits gardenhour"))
	w.visit("#/audit?user=71&action=reset")
	w.See(hasAudits(1, "clara reset gardenhour"))
	w.Click(".audit .user a")
	w.See(`location.hash === "#/people?user=71"`)
}

func TestAuditPage_Export(t *testing.T) {
	d := dash(t)
	if _, err := d.control.Reset(t.Context(), auditTarget(gardenhour, "berta")); err != nil {
		t.Fatal(err)
	}
	d.flush()
	w := d.openAs("clara", auth.View, 1400, 900)
	w.visit("#/audit?author=berta")
	w.See(hasAudits(1, "berta reset"))
	if link := browsertest.Eval[string](w.Window, `document.querySelector(".export[download]").getAttribute("href")`); link != "api/v1/audit?channel=7&author=berta&format=csv" {
		t.Errorf("the link leads to %s", link)
	}
}

func TestAuditPage_Accessible(t *testing.T) {
	d := dash(t)
	for _, author := range hostileNames {
		if _, err := d.control.Reset(t.Context(), auditTarget(gardenhour, author)); err != nil {
			t.Fatal(err)
		}
	}
	d.put(burst(7))
	d.flush()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1600} {
			d.store.addCode("code", "anna")
			w := d.openWith("code", width, 900)
			w.Prefer(map[string]string{"prefers-color-scheme": scheme})
			w.goTo("audit")
			w.See(fmt.Sprintf(`document.querySelectorAll(".audit").length === %d`, len(hostileNames)+1))
			w.Accessible()
			w.wantNoOverflow()
			w.wantUnharmed()
		}
	}
}

func overrideSaved(done control.Overridden, err error) (bool, error) { return done.Saved, err }
