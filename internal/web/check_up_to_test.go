//go:build !race

package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
)

// A message with up_to spends what is left, and taken says how much that is. Without up_to, nothing
// is spent if the whole cost doesn't fit.
func TestCheck_UpTo(t *testing.T) {
	d, asServer := runLobby(t)
	for _, c := range []struct {
		cost   int
		upTo   bool
		status int
		taken  string // in the answer
	}{
		{2, true, http.StatusOK, `"taken":2`},
		{5, false, http.StatusTooManyRequests, ""},
		{5, true, http.StatusOK, `"taken":1`},
		{5, true, http.StatusTooManyRequests, `"taken":0`},
		{0, true, http.StatusTooManyRequests, `"taken":0`}, // the default is a cost of 1
	} {
		a, v := d.check(checkForm{Channel: lobby, UserID: "41", Cost: c.cost, UpTo: c.upTo}, c.status, asServer)
		if c.upTo != strings.Contains(string(a.body), `"taken":`) || !strings.Contains(string(a.body), c.taken) || v.Allowed != (c.status == http.StatusOK) {
			t.Errorf("%+v: %s", c, a.body)
		}
	}
	if a := d.do("GET", "/api/v1/journal?channel="+lobby, nil, asOwner); len(decode[entryPage](t, a).Entries) != 3 {
		t.Errorf("%s", a.body)
	}
	d.wantRefused("/api/v1/check", `{"channel":"lobby","user_id":"1","up_to":5}`, 400, "up_to: want true or false, found a number.", asServer)
}

// The messages of a batch are judged in order, whichever of them have up_to.
func TestCheckBatch_UpTo(t *testing.T) {
	d, asServer := runLobby(t)
	part := checkForm{Channel: lobby, UserID: "41", Cost: 2, UpTo: true}
	whole := checkForm{Channel: lobby, UserID: "41"}
	batch := batchForm{Messages: []checkForm{whole, part, part, whole, whole, {Channel: "hall", UserID: "41", Cost: 4, UpTo: true}}}
	a := d.do("POST", "/api/v1/check/batch", batch, asServer)
	got := decode[struct{ Verdicts []verdict }](t, a).Verdicts
	for i, want := range []struct {
		allowed bool
		taken   int
	}{{true, 0}, {true, 2}, {false, 0}, {false, 0}, {false, 0}, {true, 3}} {
		if got[i].Allowed != want.allowed || got[i].Taken != want.taken || got[i].Channel != batch.Messages[i].Channel {
			t.Errorf("%d: %+v, want %+v", i, got[i], want)
		}
	}
	if n := strings.Count(string(a.body), `"taken":`); n != 3 {
		t.Errorf("%d of 3 verdicts have taken: %s", n, a.body)
	}
	page := decode[entryPage](t, d.do("GET", "/api/v1/journal?channel="+lobby, nil, asOwner))
	for _, e := range page.Entries {
		if e.Outcome.Action != chatguard.ActionDrop {
			t.Errorf("%+v", e)
		}
	}
	if len(page.Entries) != 3 {
		t.Errorf("%+v", page)
	}
}
