package control

import (
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// quick is a raid mode of a minute with a burst of 2 for everyone.
var quick = Settings{
	Raid:    Raid{Lasts: Duration(time.Minute), Burst: 2, Refill: Duration(time.Hour)},
	Notices: Notices{Text: "@{name}, slower", Cooldown: Duration(time.Hour)},
}

func (d *harness) setSettings(wanted *Settings, match ...string) error {
	d.Helper()
	saved, err := d.Settings.Set(d.Context(), SettingsRequest{ChannelID: channel, Author: "anna", Match: match, Wanted: wanted})
	if err == nil && !saved {
		d.Error("not saved")
	}
	return err
}

func (d *harness) lastAudit() string {
	d.store.mu.Lock()
	defer d.store.mu.Unlock()
	return d.store.audits[len(d.store.audits)-1]
}

func TestSettings_AsText(t *testing.T) {
	text, err := json.Marshal(quick)
	must(t, err)
	const want = `{"raid":{"lasts":"1m0s","start_rate":0,"channel_burst":2,"channel_refill":"1h0m0s","first_timer_burst":0,"first_timer_refill":"0s"},` +
		`"notices":{"text":"@{name}, slower","cooldown":"1h0m0s","language":""}}`
	if string(text) != want {
		t.Errorf("got %s", text)
	}
	var back Settings
	if err := json.Unmarshal(text, &back); err != nil || back != quick {
		t.Errorf("read %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"raid":{"lasts":"soon"}}`), &back); err == nil {
		t.Error("the duration \"soon\" was read")
	}
}

func TestSettings_ChangedAndBack(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		base, _ := d.Settings.Of(channel)
		must(t, d.setSettings(&quick))
		if got, isChanged := d.Settings.Of(channel); got != quick || !isChanged {
			t.Errorf("settings %+v, changed %v", got, isChanged)
		}
		if got, isChanged := d.Settings.Of("another"); got != base || isChanged {
			t.Errorf("another channel has %+v, changed %v", got, isChanged)
		}
		d.command("!chatguard raid on", "Raid mode is on for 60 s.")
		if err := d.setSettings(&base, policies.Tag(base)); !errors.Is(err, policies.ErrStale) {
			t.Errorf("replacing settings that nobody has any more: %v", err)
		}
		must(t, d.setSettings(nil, policies.Tag(quick)))
		if got, isChanged := d.Settings.Of(channel); got != base || isChanged || d.store.setting(channel+" "+settingsSetting) != "" {
			t.Errorf("back to %+v, changed %v, stored %q", got, isChanged, d.store.setting(channel+" "+settingsSetting))
		}
		if detail := d.store.detail.(journal.Replaced[Settings]); d.lastAudit() != "1 settings  by anna" || detail.From != quick || detail.To != base {
			t.Errorf("noted %q, %+v", d.lastAudit(), detail)
		}
	})
}

// Changed settings apply to a raid mode that is on.
func TestSettings_RaidGoesOnWithThem(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.command("!chatguard raid on", "Raid mode is on for 10 min.")
		must(t, d.setSettings(&quick))
		d.passes("anna", true)
		d.passes("berta", true)
		d.passes("carla", false) // the shared burst is used up
		must(t, d.Settings.SetBase(Settings{Raid: Raid{Burst: 100, Refill: Duration(time.Second)}}))
		d.passes("dora", false) // the channel has its own settings
		must(t, d.setSettings(nil))
		d.passes("emma", true)
	})
}

func TestSettings_SurviveRestart(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		stored, err := json.Marshal(quick)
		must(t, err)
		for value, want := range map[string]Settings{string(stored): quick, "": {}, "{": {}, `{"raid":{"lasts":"soon"}}`: {}} {
			d.kept = map[string]map[string]string{channel: {settingsSetting: value}}
			d.start(Raid{})
			if got, _ := d.Settings.Of(channel); got != want {
				t.Errorf("%s: %+v", value, got)
			}
		}
		d.kept = nil
		d.start(Raid{})
		d.Settings.acceptable = func(s Settings) error { return s.Timeouts.Check() }
		must(t, d.Settings.SetBase(Settings{Moderators: auth.Help, Timeouts: UsualTimeouts}))
		d.Restore(map[string]map[string]string{channel: {settingsSetting: string(stored)}}) // by an earlier version, without moderators and timeouts
		if got, isChanged := d.Settings.Of(channel); !isChanged || got.Raid != quick.Raid || got.Timeouts != UsualTimeouts {
			t.Errorf("settings %+v, changed %v", got, isChanged)
		}
		if got := d.Settings.ModeratorRole(channel); got != auth.Help {
			t.Errorf("moderators have %q, want the configuration's role", got)
		}
	})
}

func positive(s Settings) error {
	if s.Raid.Lasts <= 0 {
		return errors.New("raid.lasts is not positive")
	}
	return nil
}

func TestSettings_Refused(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.Settings.acceptable = positive
		if err := d.setSettings(&Settings{}); err == nil || err.Error() != "raid.lasts is not positive" {
			t.Errorf("got %v", err)
		}
		d.Settings.acceptable = func(Settings) error { return nil }
		if err := d.setSettings(&Settings{Raid: Raid{Burst: 1}}); err != nil {
			t.Errorf("an empty refill matters only in a raid: %v", err)
		}
	})
}

// While the database is failing, the settings are in force, and the answer says so.
func TestSettings_Unsaved(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.store.unsaved = true
		if saved, err := d.Settings.Set(d.Context(), SettingsRequest{ChannelID: channel, Author: "anna", Wanted: &quick}); saved || err != nil {
			t.Errorf("saved %v, %v", saved, err)
		}
		if got, _ := d.Settings.Of(channel); got != quick {
			t.Errorf("in force are %+v", got)
		}
	})
}

func TestRaid_StartsByItself(t *testing.T) {
	busy := Raid{Lasts: Duration(5 * time.Minute), StartRate: 20, Burst: 1, Refill: Duration(time.Hour)}
	inBubble(t, busy, func(d *harness) {
		var perSecond atomic.Value
		perSecond.Store(19.9)
		var asked atomic.Int32
		d.Raids.JoinRates(func() map[string]float64 {
			asked.Add(1)
			return map[string]float64{channel: perSecond.Load().(float64), "quiet": 1, "": 500}
		})
		d.runControls()
		isOn := func(when string, want bool) {
			t.Helper()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if on := !d.Switches.Of(channel).RaidUntil.IsZero(); on != want {
				t.Errorf("%s: on is %v", when, on)
			}
		}
		isOn("below the rate", false)
		perSecond.Store(20.4)
		isOn("at the rate", true)
		if detail := d.store.detail.(journal.RaidDetail); d.lastAudit() != "1 raid  by chatguard" || detail.MessagesPerSecond != 20 {
			t.Errorf("noted %q, %+v", d.lastAudit(), detail)
		}
		if !d.Switches.Of("quiet").RaidUntil.IsZero() || !d.Switches.Of("").RaidUntil.IsZero() {
			t.Error("it is on in another channel")
		}
		d.command("!chatguard raid off", "Raid mode is off.")
		isOn("ended by a moderator", false)
		time.Sleep(5 * time.Minute)
		isOn("5 minutes later", true)
		perSecond.Store(3.0)
		time.Sleep(5 * time.Minute)
		isOn("calm again", false)
		d.command("!chatguard pause", "Paused: I only watch until !chatguard resume.")
		perSecond.Store(50.0)
		isOn("paused", false)
		must(t, d.setSettings(&quick))
		must(t, d.Settings.SetBase(Settings{}))
		time.Sleep(2 * time.Second)
		before := asked.Load()
		isOn("no channel starts by itself", false)
		if asked.Load() != before {
			t.Error("the rates are asked for nothing")
		}
	})
}

// Timeouts are at most six of 1 s to 14 days, and stay if a request lacks them.
func TestSettings_Timeouts(t *testing.T) {
	inBubble(t, Raid{}, func(d *harness) {
		d.Settings.acceptable = func(s Settings) error { return s.Timeouts.Check() }
		must(t, d.Settings.SetBase(Settings{Timeouts: UsualTimeouts}))
		own := Timeouts{Lengths: Lengths{Duration(time.Minute), Duration(48 * time.Hour)}, Reason: "spam"}
		must(t, d.setSettings(&Settings{Timeouts: own}))
		must(t, d.setSettings(&quick))
		if got, _ := d.Settings.Of(channel); got.Timeouts != own {
			t.Errorf("without timeouts in a request, they are %+v", got.Timeouts)
		}
		text, err := json.Marshal(own)
		var back Timeouts
		if must(t, err); string(text) != `{"lengths":["1m0s","48h0m0s"],"reason":"spam"}` || json.Unmarshal(text, &back) != nil || back != own {
			t.Errorf("written as %s, read as %+v", text, back)
		}
		for _, wrong := range []Timeouts{
			{Lengths: Lengths{Duration(time.Millisecond)}},
			{Lengths: Lengths{Duration(time.Hour), Duration(14*24*time.Hour + 1)}},
			{Lengths: Lengths{Duration(time.Hour)}, Reason: "two\nlines"},
			{Reason: "spam"},
		} {
			if err := d.setSettings(&Settings{Timeouts: wrong}); err == nil {
				t.Errorf("%+v are accepted", wrong)
			}
		}
		for _, wrong := range []string{`[]`, `["1m","1m","1m","1m","1m","1m","1m"]`, `["0s"]`, `["soon"]`} {
			if json.Unmarshal([]byte(`{"lengths":`+wrong+`}`), &back) == nil {
				t.Errorf("%s is read", wrong)
			}
		}
	})
}
