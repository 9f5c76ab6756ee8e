//go:build !race

package web

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/simulate"
	"github.com/chatguard/chatguard/limitinfo"
)

func TestWeek_Route(t *testing.T) {
	d := dash(t)
	day := 24 * time.Hour
	start := d.now().Truncate(day).Add(12 * time.Hour)
	d.recordPast(berta, start.Add(-9*day), start.Add(-3*day), start.Add(-3*day+time.Hour), start.Add(-day))
	path := channelPath + "/users/" + berta.ID
	decode[amended](t, d.do("POST", path+"/grant", grantWanted{Messages: 10}, asOwner))
	for _, when := range []string{"while it waits", "once it is written"} {
		w := decode[week](t, d.do("GET", path+"/week", nil, asOwner))
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
		d.flush()
	}
	if w := decode[week](t, d.do("GET", path+"/week?limit=burst", nil, asOwner)); w.Limit != "burst" || w.Capacity != 3 {
		t.Errorf("of another limit: %+v", w)
	}
	d.wantProblem("no such limit", "GET", path+"/week?limit=other", nil, owned, 422, `no limit \"other\"`)
	d.store.reads.set(errors.New("damaged: /secret/path"))
	d.wantProblem("in trouble", "GET", path+"/week", nil, owned, 503, "The week can't be read now: the database is failing.")
}

// Messages of everyone count in a shared limit, except those that were throttled and those of
// exempt users. A limit across all channels also counts those of other channels.
func TestWeek_SharedLimit(t *testing.T) {
	room := chatguard.Limit{Name: "room", Algorithm: chatguard.DailyWindow, Per: chatguard.PerChannel, Messages: 20, ResetAt: "00:00", Timezone: "UTC"}
	server := chatguard.Limit{Name: "server", Algorithm: chatguard.DailyWindow, Per: chatguard.PerEverywhere, Messages: 30, ResetAt: "00:00", Timezone: "UTC"}
	d := dash(t, addLimits(t, crowd, room, server))
	today := d.now().UTC().Truncate(24 * time.Hour).Add(36 * time.Hour)
	d.advance(today.Sub(d.now()))
	noon := today.Add(-72 * time.Hour)
	moderator := chatguard.User{ID: "50", Login: "mod", Roles: chatguard.Roles{chatguard.RoleModerator}}
	d.recordPast(berta, noon, noon.Add(20*time.Minute))
	d.recordPast(moderator, noon.Add(21*time.Minute))
	d.recordPast(spammer, noon.Add(time.Minute), noon.Add(48*time.Hour), noon.Add(48*time.Hour), noon.Add(48*time.Hour), noon.Add(48*time.Hour))
	d.recordElsewhere(berta, noon.Add(2*time.Minute))
	d.say(berta, 1)
	for _, when := range []string{"while it waits", "once it is written"} {
		for _, want := range []struct {
			limit    string
			capacity int
			hours    []float64 // after noon
			left     []int
		}{
			{"", 20, []float64{0, 0.25, 12, 48, 60, 72}, []int{18, 17, 20, 17, 20, 19}},
			{"server", 30, []float64{0, 0.25, 12, 48, 60, 72}, []int{27, 26, 30, 27, 30, 29}},
		} {
			w := decode[week](t, d.do("GET", channelPath+"/week?limit="+want.limit, nil, asOwner))
			var hours []float64
			var left []int
			for _, p := range w.Points {
				hours, left = append(hours, p.At.Sub(noon).Hours()), append(left, p.Remaining)
			}
			want.hours, want.left = append(want.hours, w.Until.Sub(noon).Hours()), append(want.left, want.left[5])
			if w.Limit != cmp.Or(want.limit, "room") || w.Capacity != want.capacity || !slices.Equal(left, want.left) || !slices.Equal(hours, want.hours) {
				t.Errorf("%s: %s of %d\ngot  %v at %v\nwant %v at %v", when, w.Limit, w.Capacity, left, hours, want.left, want.hours)
			}
		}
		d.flush()
	}
}

// recordElsewhere records messages of a user in another channel, which are older than the start.
func (d *dashboard) recordElsewhere(user chatguard.User, times ...time.Time) {
	d.Helper()
	d.recalling.Store(true)
	defer d.recalling.Store(false)
	for _, at := range times {
		if _, err := d.guard.Check(d.Context(), chatguard.Message{ChannelID: "8", User: user, SentAt: at}); err != nil {
			d.Fatal(err)
		}
	}
}

// The points of a limit per month begin with the month.
func TestWeek_Month(t *testing.T) {
	month := chatguard.Limit{Name: "month", Algorithm: chatguard.DailyWindow, Period: chatguard.PeriodMonth, Messages: 100, Timezone: "UTC"}
	for _, c := range []struct {
		name  string
		day   int   // of the month, at noon
		spoke []int // days before
		left  []int // the last one is the actual state
		first int   // days before
	}{
		{"usage before the week", 20, []int{15, 15, 3}, []int{98, 97, 97}, 7},
		{"the month began three days ago", 4, []int{5, 2}, []int{100, 99, 99}, 3},
	} {
		d := dash(t, addLimits(t, month))
		noon := time.Date(d.now().Year(), d.now().Month()+1, c.day, 12, 0, 0, 0, time.UTC)
		d.advance(noon.Sub(d.now()))
		for _, days := range c.spoke {
			d.recordPast(berta, noon.AddDate(0, 0, -days))
		}
		d.flush()
		w := decode[week](t, d.do("GET", channelPath+"/users/"+berta.ID+"/week?limit=month", nil, asOwner))
		var left []int
		for _, p := range w.Points {
			left = append(left, p.Remaining)
		}
		if first := w.Points[0].At; !slices.Equal(left, c.left) || first.Day() != noon.AddDate(0, 0, -c.first).Day() {
			t.Errorf("%s: %v from %v on, want %v", c.name, left, first, c.left)
		}
	}
}

// Usage of a month is kept for little more than a week. What isn't kept any more still counts.
func TestWeek_UsageNotKept(t *testing.T) {
	start := time.Date(2026, time.May, 10, 0, 0, 0, 0, time.UTC)
	at := func(hour, remaining int) simulate.Point {
		return simulate.Point{At: start.Add(time.Duration(hour) * time.Hour), Remaining: remaining}
	}
	state := limitinfo.Status{Remaining: 30, Picture: limitinfo.Picture{From: start.AddDate(0, 0, -9)}}
	points := []simulate.Point{at(-5, 99), at(10, 98), at(20, 90)}
	if got, want := presentPeriod(points, start, state), []simulate.Point{at(0, 39), at(10, 38), at(20, 30)}; !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := presentPeriod(nil, start, state); len(got) > 0 {
		t.Errorf("without points: %v", got)
	}
}

func TestWeek_Refused(t *testing.T) {
	d := dash(t, addLimits(t, crowd))
	user := channelPath + "/users/" + berta.ID
	d.wantProblem("no such limit", "GET", channelPath+"/week?limit=other", nil, owned, 422, `There is no limit \"other\" in this channel; use one that everyone shares: crowd.`)
	d.wantProblem("none of a user", "GET", user+"/week?limit=other", nil, owned, 422, `There is no limit \"other\" in this channel; use one that counts per user: burst, daily.`)
	d.wantProblem("a user's", "GET", channelPath+"/week?limit=daily", nil, owned, 422, `The limit \"daily\" counts each user, so nothing of it is shared; use GET /channels/{channel}/users/{id}/week?limit=daily.`)
	d.wantProblem("everyone's", "GET", user+"/week?limit=crowd", nil, owned, 422, `use GET /channels/{channel}/week?limit=crowd.`)
	d.wantProblem("no such channel", "GET", "/api/v1/channels/9/week", nil, owned, 404, `There is no channel with the ID \"9\" here.`)
	d.wantProblem("no such parameter", "GET", channelPath+"/week?limits=crowd", nil, owned, 422, `not \"limits\"`)
	d.store.reads.set(errors.New("damaged: /secret/path"))
	d.wantProblem("in trouble", "GET", channelPath+"/week", nil, owned, 503, "The week can't be read now: the database is failing.")
	d = dash(t)
	d.wantProblem("none that is shared", "GET", channelPath+"/week", nil, owned, 422, `There is no limit that everyone shares in this channel; add one with per = \"channel\"`)
}

// Daily limits say more than windows, and windows more than buckets.
func TestWeek_DefaultLimit(t *testing.T) {
	limits := append(slices.Clone(everyAlgorithm), config.DefaultPolicy().Limits...)
	for name, test := range map[string]struct {
		limits []chatguard.Limit
		asked  string
		shared bool
		want   string
	}{
		"by days":              {limits, "", false, "daily"},
		"by windows":           {everyAlgorithm, "", false, "evening"},
		"by buckets":           {everyAlgorithm[:2], "", false, "slow"},
		"asked for":            {limits, "burst", false, "burst"},
		"none of a user":       {[]chatguard.Limit{crowd}, "", false, ""},
		"unknown":              {limits, "other", false, ""},
		"everyone's":           {limits, "crowd", false, ""},
		"none":                 {nil, "", false, ""},
		"shared":               {limits, "", true, "crowd"},
		"shared and asked for": {limits, "crowd", true, "crowd"},
		"shared, but a user's": {limits, "burst", true, ""},
		"shared, but none is":  {everyAlgorithm[:2], "", true, ""},
	} {
		l, err := weekLimit(slices.Clone(test.limits), test.asked, test.shared)
		if l.Name != test.want || (err == nil) == (test.want == "") {
			t.Errorf("%s: %q, %v", name, l.Name, err)
		}
	}
}
