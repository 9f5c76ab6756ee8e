//go:build browser

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/browsertest"
)

// The cards of the page Admin, their forms and what they show fit a phone and are accessible, also
// with names that change the writing direction or look like markup. Earlier versions and the
// command line store such names. A token that is made there works.
func TestAdminPage_FitsPhone(t *testing.T) {
	members, addMembers := withMembers()
	r := newReceiver(t)
	d := dash(t, addMembers, withWebhooks(t, r.hook("file")))
	d.bury(r, "config:file")
	const hostile = "\u202e<b>evil</b>\u2066 owner"
	if _, err := d.store.NewToken(t.Context(), auth.Identity{Name: hostile, Access: auth.View}, 0); err != nil {
		t.Fatal(err)
	}
	d.startMember(members, auth.Identity{
		Name: "\u202elive_" + strings.Repeat("w", 200), Access: auth.Own, From: auth.FromTwitch, Channels: map[string]auth.Access{channelID: auth.Own, "\u202e9": auth.View},
	})
	w := d.open(390, 844)
	w.goTo("admin")
	w.See(fmt.Sprintf(`[...document.querySelectorAll(".grants strong > bdi")].some((name) => name.textContent === %q)`, hostile))
	w.See(`document.querySelectorAll(".grants li").length === 3 && document.querySelector("#moderators-moderate").checked`)
	w.Press(".grants li button")
	w.Press(".webhook .letters")
	w.See(`document.querySelector(".grants .asked") && document.querySelector(".deliveries li")`)
	w.Accessible()
	w.wantNoOverflow()

	w.Press("#webhook-add")
	w.waitForFocus("webhook-name")
	w.Press("#new-token")
	w.waitForFocus("access-name")
	w.Write("#access-name", "twitch:berta")
	w.Press("#access-make")
	w.See(`document.querySelector(".admin-form .error")`)
	w.Accessible()
	w.wantNoOverflow()

	w.Write("#access-name", "berta")
	w.Press("#access-make")
	w.See(`document.querySelector(".new-secret code") && document.activeElement.className === "new-secret"`)
	w.Accessible()
	w.wantNoOverflow()
	secret := browsertest.Eval[string](w.Window, `document.querySelector(".new-secret code").innerText`)
	if a := d.do("GET", "/api/v1/session", nil, setBearer(secret)); a.StatusCode != http.StatusOK {
		t.Errorf("the token that was made: %s", a.Status)
	}
}
