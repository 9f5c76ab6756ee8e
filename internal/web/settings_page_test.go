//go:build browser

package web

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/control"
)

func TestSettingsPage_EditAndBack(t *testing.T) {
	d := dash(t)
	w := d.open(360, 800)
	w.goTo("limits")
	w.See(`document.getElementById("raid-channel_burst")?.value === "20"`)
	w.Write("#raid-lasts", "1800")
	w.Write("#raid-start_rate", "50")
	w.Write("#notice-text", "@{name}, next message in {wait}")
	w.See(hasText("Raid mode starts by itself once there are 50 messages per second") + "&&" + hasText("Anna reads: “@Anna, next message in 4 s”"))
	w.Accessible()
	w.wantNoOverflow()
	w.Press("#save-settings")
	w.See(hasText("Saved. In force from now on."))
	got, isChanged := d.control.Settings(channelID)
	if !isChanged || got.Raid.Lasts != control.Duration(30*time.Minute) || got.Raid.StartRate != 50 || got.Raid.Burst != raid.Burst || got.Notices.Text != "@{name}, next message in {wait}" {
		t.Errorf("in force are %+v", got)
	}
	w.Write("#notice-text", "/ban {name}")
	w.See(hasText("A message that begins with “/” is a chat command.") + `&& document.getElementById("save-settings").ariaDisabled === "true"`)
	w.Write("#notice-text", "@{who}")
	w.See(hasText("Use only the placeholders {name}, {wait}, {limit}."))
	w.Press(".settings .restore")
	w.See(`document.getElementById("raid-start_rate").value === "0" && document.getElementById("notice-text").value === ""`)
	if got, isChanged := d.control.Settings(channelID); isChanged {
		t.Errorf("after the return to the configuration, in force are %+v", got)
	}
}

// Two people edit the same settings: the second one is told, and overwrites nothing.
func TestSettingsPage_Conflict(t *testing.T) {
	d := dash(t)
	w := d.open(1400, 900)
	w.goTo("limits")
	w.See(`document.getElementById("raid-channel_burst")?.value === "20"`)
	theirs, _ := d.control.Settings(channelID)
	theirs.Raid.Burst = 5
	if _, err := d.control.SetSettings(t.Context(), control.SettingsRequest{ChannelID: channelID, Author: "berta", Wanted: &theirs}); err != nil {
		t.Fatal(err)
	}
	w.Write("#raid-channel_burst", "9")
	w.Press("#save-settings")
	w.See(hasText("Someone else changed these settings."))
	if got, _ := d.control.Settings(channelID); got != theirs {
		t.Errorf("in force are %+v", got)
	}
	w.Press(".settings .reload")
	w.See(`document.getElementById("raid-channel_burst").value === "5"`)
}

func TestSettingsPage_ViewersReadOnly(t *testing.T) {
	w := dash(t).openAs("clara", auth.View, 360, 800)
	w.goTo("limits")
	w.See(`document.getElementById("raid-lasts")?.readOnly && !document.getElementById("save-settings")`)
	w.Accessible()
}
