package web

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// TestAWeekIsReplayed: what was spent is spent again in the user's own days, and each of their ends shows, with what was given to the user.
func TestAWeekIsReplayed(t *testing.T) {
	saturday := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC) // the day before Berlin's clocks go forward
	at := func(hours float64) time.Time { return saturday.Add(time.Duration(hours * float64(time.Hour))) }
	hourly := chatguard.Limit{Name: "hourly", Algorithm: chatguard.FixedWindow, Messages: 4, Every: time.Hour, Mode: chatguard.LimitObserves}
	total := chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 4, Every: 24 * time.Hour}
	twenty := chatguard.UserOverride{Limits: map[string]chatguard.Override{"daily": {Messages: 20}}}
	daily := chatguard.Limit{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 5, ResetAt: "00:00", Timezone: "Europe/Berlin"}
	vip := daily
	vip.Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Messages: 8}}
	spent := []journal.QuarterHour{{At: at(-6), Spent: 1}, {At: at(22.75), Spent: 2}, {At: at(23), Spent: 1}, {At: at(30), Spent: 9}, {At: at(46.5), Spent: 1}}
	known, later := lived{spent: spent}, lived{spent: spent[1:]}
	given := lived{spent, []amendment{{at: at(22.8)}, {at(30.1), 3}, {at: at(40)}}}
	early := lived{[]journal.QuarterHour{{At: at(0), Spent: 2}}, []amendment{{at(1), 1}}}
	for name, test := range map[string]struct {
		limit chatguard.Limit
		own   chatguard.UserOverride
		known lived
		want  string // hours after the start, and what was left
	}{
		// Sunday begins at 23:00 UTC, and Monday at 22:00.
		"in Berlin":          {daily, chatguard.UserOverride{}, known, "20: 5, 22.75: 3, 23: 4, 30: 0, 46: 5, 46.5: 4"},
		"in UTC":             {daily, chatguard.UserOverride{Timezone: "UTC"}, known, "20: 5, 22.75: 3, 23: 2, 24: 5, 30: 0, 48: 5"},
		"with numbers":       {daily, twenty, known, "20: 20, 22.75: 18, 23: 19, 30: 10, 46: 20, 46.5: 19"},
		"of a role":          {vip, chatguard.UserOverride{}, known, "20: 8, 22.75: 6, 23: 7, 30: 0, 46: 8, 46.5: 7"},
		"by the hour":        {hourly, chatguard.UserOverride{}, known, "20: 4, 22.75: 2, 23: 3, 24: 4, 30: 0, 31: 4, 46.5: 3, 47: 4"},
		"counted elsewhere":  {total, chatguard.UserOverride{}, known, "20: 4, 22.75: 2, 23: 1, 30: 0, 46.75: 4"},
		"known from then on": {daily, chatguard.UserOverride{}, later, "22.75: 3, 23: 4, 30: 0, 46: 5, 46.5: 4"},
		"given something":    {daily, chatguard.UserOverride{}, given, "20: 5, 22.75: 3, 22.8: 5, 23: 4, 30: 0, 30.1: 3, 40: 5, 46.5: 4"},
		"spent before":       {daily, chatguard.UserOverride{}, early, "20: 4, 23: 5"},
		"of whom nothing is": {daily, chatguard.UserOverride{}, lived{}, ""},
	} {
		points, err := replayWeek(test.limit, test.own, chatguard.RolesOf(chatguard.VIP), test.known, at(20), at(48.25))
		got := ""
		for i, p := range points {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%g: %d", p.At.Sub(saturday).Hours(), p.Remaining)
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, test.want)
		}
	}
}

func TestAWeekIsTold(t *testing.T) {
	d := dash(t)
	day := 24 * time.Hour
	start := d.now().Truncate(day).Add(12 * time.Hour)
	d.past(berta, start.Add(-9*day), start.Add(-3*day), start.Add(-3*day+time.Hour), start.Add(-day))
	path := channelPath + "/users/" + berta.ID
	into[amended](t, d.do("POST", path+"/grant", grantWanted{Messages: 10}, asOwner))
	for _, when := range []string{"while it waits", "once it is written"} {
		w := into[week](t, d.do("GET", path+"/week", nil, asOwner))
		last := w.Points[len(w.Points)-1]
		card := d.card(berta.ID)
		if w.Limit != "daily" || w.Capacity != 300 || !last.At.Equal(w.Until) || last.Remaining != card.Limits[1].Remaining {
			t.Errorf("%s: %+v; the card has %+v", when, w, card.Limits[1])
		}
		var left []int
		for _, p := range w.Points[:len(w.Points)-1] {
			left = append(left, p.Remaining)
		}
		if !slices.Equal(left, []int{299, 298, 300, 299, 300, 310}) || !w.Points[0].At.Equal(start.Add(-3*day)) {
			t.Errorf("%s: %v from %v on", when, left, w.Points[0].At)
		}
		d.flushed()
	}
	if w := into[week](t, d.do("GET", path+"/week?limit=burst", nil, asOwner)); w.Limit != "burst" || w.Capacity != 3 {
		t.Errorf("of another limit: %+v", w)
	}
	d.refused("no such limit", "GET", path+"/week?limit=other", nil, owned, 422, `no limit \"other\"`)
	d.store.hide(errors.New("damaged: /secret/path"))
	d.refused("in trouble", "GET", path+"/week", nil, owned, 503, "The week can't be read now: the database is in trouble.")
}

// TestTheLimitOfAWeek: days tell more than windows, and windows more than buckets.
func TestTheLimitOfAWeek(t *testing.T) {
	limits := append(slices.Clone(everyAlgorithm), chatguard.DefaultPolicy().Limits...)
	crowd := slices.IndexFunc(limits, func(l chatguard.Limit) bool { return l.Per == chatguard.PerChannel })
	for name, test := range map[string]struct {
		limits []chatguard.Limit
		asked  string
		want   string
	}{
		"by days":       {limits, "", "daily"},
		"by windows":    {everyAlgorithm, "", "evening"},
		"by buckets":    {everyAlgorithm[:2], "", "slow"},
		"asked for":     {limits, "burst", "burst"},
		"for everyone":  {limits[crowd : crowd+1], "", ""},
		"unknown":       {limits, "other", ""},
		"asked for all": {limits, "crowd", ""},
		"none":          {nil, "", ""},
	} {
		l, err := limitOfWeek(slices.Clone(test.limits), test.asked)
		if l.Name != test.want || (err == nil) == (test.want == "") {
			t.Errorf("%s: %q, %v", name, l.Name, err)
		}
	}
}
