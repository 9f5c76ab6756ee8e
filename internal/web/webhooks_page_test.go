//go:build browser

package web

import (
	"net/http"
	"testing"

	"github.com/chatguard/chatguard/internal/auth"
)

// openWebhooks opens the page Admin on a phone.
func (d *dashboard) openWebhooks() *window {
	d.Helper()
	w := d.open(390, 844)
	w.goTo("admin")
	w.See(hasText("chatguard tells Discord"))
	return w
}

// An owner adds a webhook, is told what is wrong with it, changes it and deletes it.
func TestWebhooksPage_AddChangeDelete(t *testing.T) {
	d := dash(t, withWebhooks(t))
	w := d.openWebhooks()
	w.See(hasText("No webhooks yet."))
	w.Press("#webhook-add")
	w.See(`document.activeElement.id === "webhook-name"`)
	w.Accessible()
	w.wantNoOverflow()
	w.Write("#webhook-name", "team")
	w.Write("#webhook-address", "https://192.168.0.7/hook")
	w.Press("#webhook-save")
	w.See(hasText("192.168.0.7 is not an address on the public internet"))
	w.Write("#webhook-address", "https://discord.com/api/webhooks/1234567890/secret-part-of-it")
	w.Press("#webhook-event-ban")
	w.Press("#webhook-save")
	w.See(hasText("https://discord.com/…f-it") + "&&" + hasText("Events: raid mode, pauses, failures, changed limits, summary after the stream.") + "&&" + hasText("not used yet"))
	w.Accessible()
	w.wantNoOverflow()

	w.Press(".webhook [id^=webhook-change]")
	w.See(`document.getElementById("webhook-name").value === "team" && document.getElementById("webhook-address").value === ""`)
	w.TypeIn("#webhook-format", "s") // chooses signed JSON
	w.Press("#webhook-save")
	w.See(hasText("It isn’t shown again.") + `&& document.querySelector(".new-secret code").innerText.startsWith("whsec_")`)
	w.Accessible()
	w.wantNoOverflow()
	w.Press(".new-secret > button")
	w.See(`!document.querySelector(".new-secret")`)

	w.Press(".webhook .delete")
	w.See(hasText("Delete this webhook, and what waits for it?"))
	w.Press(".webhook .danger")
	w.See(hasText("No webhooks yet."))
	if list := d.opts.Webhooks.List(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	w.goTo("audit")
}

// An owner tests a webhook, looks at what was given up, and sends it again.
func TestWebhooksPage_DeadLetters(t *testing.T) {
	r := newReceiver(t)
	d := dash(t, withWebhooks(t, r.hook("file")))
	d.bury(r, "config:file")
	w := d.openWebhooks()
	w.See(hasText("switched off") + "&&" + hasText("Nothing is sent any more: the server answered 410 Gone.") + "&&" + hasText("in the configuration"))
	w.Accessible()
	r.status.Store(http.StatusInternalServerError)
	w.Press(".webhook .test")
	w.See(hasText("The test failed: the server answered 500 Internal Server Error."))
	r.status.Store(http.StatusNoContent)
	w.Press(".webhook .test")
	w.See(hasText("The test arrived after") + "&&" + hasText("works"))
	w.Press(".webhook .letters")
	w.See(hasText("#somechannel: Paused. anna paused chatguard."))
	w.Accessible()
	w.wantNoOverflow()
	before := r.requests.Load()
	w.Press(".deliveries .send-again")
	w.See(hasText("Nothing was given up.") + "&&" + hasText("It waits to be sent again."))
	if n := r.requests.Load(); n > before+1 {
		t.Errorf("%d requests", n-before)
	}
}

func TestWebhooksPage_OnlyForOwners(t *testing.T) {
	d := dash(t, withWebhooks(t))
	w := d.openAs("clara", auth.Moderate, 1400, 900)
	w.See(`!document.querySelector("nav a[href^=\"#/admin\"]")`)
}
