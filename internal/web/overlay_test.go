//go:build !race

package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/web/live"
)

// overlay returns what the overlay shows now.
func (d *dashboard) overlay() live.Overlay {
	d.Helper()
	return decode[live.Overlay](d, d.do("GET", "/api/v1/overlay?channel="+channelID, nil, asOwner))
}

func TestOverlay_ShowsNewestFirst(t *testing.T) {
	d := dash(t)
	d.stopClock()
	if o := d.overlay(); o.ThrottledUsers != 0 || o.Users == nil || o.Login != "somechannel" || o.Paused || o.Observing || !o.RaidUntil.IsZero() {
		t.Errorf("at the start: %+v", o)
	}
	d.say(spammer, 4)
	d.advance(time.Second)
	d.say(chatguard.User{ID: "43", Login: "berta", DisplayName: "<b>Be\u202erta\n"}, 4)
	o := d.overlay()
	if o.ThrottledUsers != 2 || len(o.Users) != 2 || o.Users[0].Name != "<b>Berta" || o.Users[1].Name != "Spammer" || !o.Users[0].Held || o.Users[0].TimedOut || !o.Users[0].At.Equal(d.now()) {
		t.Errorf("%+v", o)
	}
	d.advance(10*time.Minute - time.Second) // only the first may write again
	if o := d.overlay(); o.ThrottledUsers != 1 || len(o.Users) != 1 || o.Users[0].UserID != "43" {
		t.Errorf("later: %+v", o)
	}
}

func TestOverlay_KnowsTimeouts(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	d.do("POST", "/api/v1/channels/7/users/42/timeout", map[string]string{"length": "1m"}, asOwner)
	if o := d.overlay(); len(o.Users) != 1 || !o.Users[0].TimedOut {
		t.Errorf("timed out by a person: %+v", o)
	}
	d.do("DELETE", "/api/v1/channels/7/users/42/timeout", nil, asOwner)
	if o := d.overlay(); o.Users[0].TimedOut {
		t.Errorf("lifted: %+v", o)
	}
}

func TestOverlay_Switches(t *testing.T) {
	d := dash(t)
	d.say(spammer, 4)
	d.do("POST", "/api/v1/channels/7/raid", nil, asOwner)
	if o := d.overlay(); o.RaidUntil.IsZero() || o.Paused || o.Observing {
		t.Errorf("raid mode: %+v", o)
	}
	d.do("POST", "/api/v1/channels/7/pause", nil, asOwner)
	if o := d.overlay(); !o.Paused || !o.Observing {
		t.Errorf("paused: %+v", o)
	}
}

// What a single limit observes is not shown, because these users aren't throttled.
func TestOverlay_LimitThatObserves(t *testing.T) {
	d := dash(t, addLimits(t, chatguard.Limit{Name: "two", Algorithm: chatguard.UserWindow, Messages: 2, Every: time.Hour, Mode: chatguard.ModeObserve}))
	d.say(spammer, 3)
	if n := len(d.throttledUsers()); n != 1 {
		t.Errorf("%d users on the dashboard", n)
	}
	if o := d.overlay(); o.ThrottledUsers != 0 || len(o.Users) != 0 {
		t.Errorf("%+v", o)
	}
}

// While the channel observes, the users who would be throttled are shown as such.
func TestOverlay_Observing(t *testing.T) {
	d := dash(t)
	policy := d.guard.Policy()
	policy.Mode = chatguard.ModeObserve
	if err := d.guard.SetPolicy(policy); err != nil {
		t.Fatal(err)
	}
	d.say(spammer, 4)
	if o := d.overlay(); !o.Observing || o.ThrottledUsers != 1 || o.Users[0].Name != "Spammer" {
		t.Errorf("%+v", o)
	}
}

// A request that knows the state gets a short answer until something changes.
func TestOverlay_Unchanged(t *testing.T) {
	d := dash(t)
	first := d.do("GET", "/api/v1/overlay", nil, asOwner)
	tag := first.Header.Get("ETag")
	for _, known := range []string{tag, "W/" + tag, `"other", W/` + tag} {
		again := d.do("GET", "/api/v1/overlay", nil, asOwner, setHeader("If-None-Match", known))
		if again.StatusCode != http.StatusNotModified || len(again.body) != 0 || again.Header.Get("ETag") != tag {
			t.Errorf("%s: %s %s", known, again.Status, again.body)
		}
	}
	d.say(spammer, 4)
	changed := d.do("GET", "/api/v1/overlay", nil, asOwner, setHeader("If-None-Match", tag))
	if o := decode[live.Overlay](t, changed); o.ThrottledUsers != 1 || changed.Header.Get("ETag") == tag {
		t.Errorf("%+v", o)
	}
}
