//go:build browser

package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// auditTarget returns a user as the target of the author's change.
func auditTarget(user chatguard.User, author string) journal.Target {
	return journal.Target{ChannelID: channelID, UserID: user.ID, Author: author}
}

func TestAuditPage_Accessible(t *testing.T) {
	d := dash(t)
	for _, author := range hostileNames {
		if _, err := d.control.Users.Reset(t.Context(), auditTarget(gardenhour, author)); err != nil {
			t.Fatal(err)
		}
	}
	d.put(burst(7))
	d.flush()
	w := d.open(1600, 900)
	w.visit("#/audit")
	w.See(fmt.Sprintf(`document.querySelectorAll(".audit").length === %d`, len(hostileNames)+1))
	w.wantNoOverflow()
	w.Must(chromedp.EmulateViewport(360, 900))
	w.Accessible()
	w.wantNoOverflow()
	w.wantUnharmed()
}
