//go:build !race

package web

import (
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
)

const settingsPath = channelPath + "/settings"

func TestSettings_ReplacedAndBack(t *testing.T) {
	d := dash(t)
	a := d.do("GET", settingsPath, nil, asOwner)
	shown := decode[settingsShown](t, a)
	if !shown.IsConfigured || shown.Settings.Raid.Burst != raid.Burst {
		t.Errorf("first %+v", shown)
	}
	wanted := shown.Settings
	wanted.Raid.Lasts, wanted.Notices.Text = control.Duration(time.Hour), "@{name}, slower"
	done := d.do("PUT", settingsPath, wanted, asOwner, setHeader("If-Match", a.Header.Get("ETag")))
	if saved := decode[settingsSaved](t, done); !saved.Saved || saved.IsConfigured || saved.Settings != wanted {
		t.Errorf("answered %+v", saved)
	}
	if got := d.do("PUT", settingsPath, wanted, asOwner, setHeader("If-Match", a.Header.Get("ETag"))); got.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("the former ETag: %s", got.Status)
	}
	now := d.do("GET", settingsPath, nil, asOwner)
	if now.Header.Get("ETag") != done.Header.Get("ETag") || decode[settingsShown](t, now).Settings != wanted {
		t.Errorf("now %s, ETag %s, was %s", now.body, now.Header.Get("ETag"), done.Header.Get("ETag"))
	}
	if back := decode[settingsSaved](t, d.do("DELETE", settingsPath, nil, asOwner)); !back.IsConfigured || back.Settings != shown.Settings {
		t.Errorf("back to %+v", back)
	}
	if n := len(d.store.audits); n != 2 || d.store.audits[0].Action != journal.SettingsChanged {
		t.Errorf("%d changes are noted: %+v", n, d.store.audits)
	}
}

func TestSettings_Refused(t *testing.T) {
	d := dash(t)
	whatever := setHeader("If-Match", "*")
	whole := map[string]any{"raid": map[string]any{"lasts": "10m"}, "notices": map[string]any{"text": "", "cooldown": "1m"}}
	for _, test := range []struct {
		name string
		body any
		as   func(*http.Request)
		with func(*http.Request)
		want int
	}{
		{"no If-Match", whole, asOwner, asOwner, http.StatusPreconditionRequired},
		{"no notices", map[string]any{"raid": whole["raid"]}, asOwner, whatever, http.StatusUnprocessableEntity},
		{"an unknown key", map[string]any{"raid": whole["raid"], "notices": whole["notices"], "colour": 1}, asOwner, whatever, http.StatusBadRequest},
		{"no duration", map[string]any{"raid": map[string]any{"lasts": "soon"}, "notices": whole["notices"]}, asOwner, whatever, http.StatusBadRequest},
		{"only viewing", whole, setBearer(d.newToken(auth.View)), whatever, http.StatusForbidden},
	} {
		if got := d.do("PUT", settingsPath, test.body, test.as, test.with); got.StatusCode != test.want {
			t.Errorf("%s: %s %s", test.name, got.Status, got.body)
		}
	}
	if got := d.do("GET", "/api/v1/channels/99/settings", nil, asOwner); got.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown channel: %s", got.Status)
	}
}
