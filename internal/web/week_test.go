package web

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
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
	d.store.failReads(errors.New("damaged: /secret/path"))
	d.wantProblem("in trouble", "GET", path+"/week", nil, owned, 503, "The week can't be read now: the database is failing.")
}

// Daily limits say more than windows, and windows more than buckets.
func TestWeek_DefaultLimit(t *testing.T) {
	limits := append(slices.Clone(everyAlgorithm), config.DefaultPolicy().Limits...)
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
		l, err := weekLimit(slices.Clone(test.limits), test.asked)
		if l.Name != test.want || (err == nil) == (test.want == "") {
			t.Errorf("%s: %q, %v", name, l.Name, err)
		}
	}
}
