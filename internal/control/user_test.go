package control

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

var anna = journal.Target{ChannelID: channel, UserID: "id of anna", Author: "berta"}

// TestGrantsAreOfAUsersOwnLimits: wherever these count, and never of those that everyone shares.
func TestGrantsAreOfAUsersOwnLimits(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		p := d.guard.Policy("")
		p.Limits = append([]chatguard.Limit{
			{Name: "crowd", Algorithm: chatguard.DailyWindow, Per: chatguard.PerChannel, Messages: 9000},
			{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1, Every: time.Hour},
		}, p.Limits...)
		if err := d.guard.SetPolicy("", p, time.Now()); err != nil {
			t.Fatal(err)
		}
		for limit, want := range map[string]string{
			"":      "daily",
			"total": "total",
			"crowd": `the limit "crowd" is for everyone together: nobody has messages of their own there`,
			"other": `there is no such limit: "other"`,
		} {
			_, _, err := d.Grant(d.Context(), anna, limit, 2)
			e, explained := d.guard.Explain(chatguard.Message{ChannelID: channel, User: chatguard.User{ID: anna.UserID}})
			if explained != nil {
				t.Fatal(explained)
			}
			i := slices.IndexFunc(e.Limits, func(l chatguard.LimitStatus) bool { return l.Name == want })
			if i >= 0 && (err != nil || e.Limits[i].Granted != 2) || i < 0 && (err == nil || err.Error() != want) {
				t.Errorf("granted in %q: %v, %+v", limit, err, e.Limits)
			}
		}
	})
}

// TestWhoIsAmendedIsToldOf: once it is in force, and only then.
func TestWhoIsAmendedIsToldOf(t *testing.T) {
	inBubble(t, Raid{}, func(d *desk) {
		var told []string
		d.Controls.options.Amended = func(channelID, userID string) {
			told = append(told, fmt.Sprintf("%s %s %v", channelID, userID, d.say("anna").Allowed))
		}
		own := chatguard.UserOverride{Limits: map[string]chatguard.Override{"burst": {Burst: 9}}}
		for name, amend := range map[string]func() (bool, error){
			"grant":    func() (bool, error) { _, saved, err := d.Grant(d.Context(), anna, "burst", 1); return saved, err },
			"reset":    func() (bool, error) { return d.Reset(d.Context(), anna) },
			"exempt":   func() (bool, error) { return d.Exempt(d.Context(), anna, time.Hour) },
			"override": func() (bool, error) { return d.SetOverride(d.Context(), anna, own) },
		} {
			if _, err := d.SetOverride(d.Context(), anna, chatguard.UserOverride{}); err != nil {
				t.Fatal(err)
			}
			d.say("anna")
			told = nil
			if saved, err := amend(); !saved || err != nil || !slices.Equal(told, []string{"1 id of anna true"}) {
				t.Errorf("%s: saved %v, %v; told %q", name, saved, err, told)
			}
		}
		told = nil
		own.Limits["burst"] = chatguard.Override{Messages: 3}
		if _, err := d.SetOverride(d.Context(), anna, own); err == nil || told != nil {
			t.Errorf("a refused override: %v, told %q", err, told)
		}
	})
}
