//go:build browser

package web

import (
	"net/http"
	"testing"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/web/live"
)

// The pages show rooms and users of servers by the servers' own IDs.
func TestPages_PlainIDs(t *testing.T) {
	d := dash(t, setCheckSpace, func(o *Options) {
		o.Channels = func() []live.Channel { return []live.Channel{{ID: "check:lobby", Login: lobby}} }
	})
	asServer := setBearer(d.newToken(auth.Check))
	for range 3 {
		d.check(checkForm{Channel: lobby, UserID: "41"}, http.StatusOK, asServer)
	}
	d.check(checkForm{Channel: lobby, UserID: "41", Text: "a fourth"}, http.StatusTooManyRequests, asServer)
	d.flush()
	w := d.open(1400, 900)
	const spaceless = ` && !document.body.innerText.includes("check:")`
	w.See(`document.querySelector(".channel").textContent === "#lobby" && document.querySelector(".who a")?.textContent.trim() === "41"` + spaceless)
	w.goTo("people")
	w.See(hasPeople("41") + spaceless)
	w.Write("#find", "41")
	w.See(hasPeople("41"))
	w.Click(".found a")
	w.See(`location.hash.endsWith("user=check%3A41") && document.querySelector(".person h2")?.textContent === "41" && ` + hasText("ID 41") + spaceless)
	decode[amended](t, d.do("POST", "/api/v1/channels/check:lobby/users/check:41/grant", grantWanted{Messages: 2}, asOwner))
	w.goTo("journal")
	w.See(hasEntries(1, "a fourth") + spaceless)
	w.Click(".entry .text-button")
	w.See(hasText("ID 41") + spaceless)
	w.visit("#/audit")
	w.See(`document.querySelector(".audit .user bdi")?.textContent === "41"` + spaceless)
	if v := d.say(chatguard.User{ID: "41"}, 1); !v.Allowed {
		t.Errorf("%+v", v)
	}
}
