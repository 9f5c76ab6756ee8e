package chatguard

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// A pardon undoes all effects of a series of messages, in every place that counted them, and
// Unpardon restores them.
func TestPardonAll(t *testing.T) {
	g := newEnforcingGuard(t, func(p *Policy) {
		p.Limits = append(p.Limits[:1], countingLimit("own", PerUser, 90), countingLimit("abroad", PerUserEverywhere, 90), countingLimit("all", PerChannel, 90))
		p.Limits[0].Refill = time.Hour
	}, nil)
	var throttled []Verdict
	for i := range 40 {
		if v := mustCheck(t, g, messageFrom("7", float64(i))); !v.Allowed {
			throttled = append(throttled, v)
		}
	}
	now := monday.Add(40 * time.Second)
	check := func(when string, strikes, counted int) {
		t.Helper()
		e, err := g.Explain(messageFrom("7", 40))
		if err != nil || e.Strikes != strikes {
			t.Errorf("%s: %d strikes, %v; want %d", when, e.Strikes, err, strikes)
		}
		if got, want := usage(t, g, messageFrom("7", 40))[1:], []int{counted, counted, counted}; !slices.Equal(got, want) {
			t.Errorf("%s: used %v, want %v", when, got, want)
		}
	}
	check("spammed", 4, 40)
	p, err := g.At(now).PardonAll(throttled)
	if err != nil || p.Messages != 37 || p.Strikes != 4 {
		t.Errorf("%+v, %v", p, err)
	}
	check("pardoned", 0, 3)
	mustCheck(t, g, messageFrom("8", 40)) // this message counts in the limit that everyone shares
	if err := g.At(now).Unpardon(p); err != nil {
		t.Error(err)
	}
	if got, want := usage(t, g, messageFrom("7", 40))[1:], []int{40, 40, 41}; !slices.Equal(got, want) {
		t.Errorf("undone: used %v, want %v", got, want)
	}
	if err := g.At(now).Unpardon(p); !errors.Is(err, ErrPardonStale) {
		t.Errorf("undone twice: %v", err)
	}
}

func TestPardonAll_Refused(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	var throttled []Verdict
	for _, user := range []string{"7", "8"} {
		for range 3 {
			mustCheck(t, g, messageFrom(user, 0))
		}
		throttled = append(throttled, mustCheck(t, g, messageFrom(user, 0)))
	}
	if p, err := g.At(monday).PardonAll(throttled); err == nil || p != (Pardoned{}) {
		t.Errorf("two users: %+v, %v", p, err)
	}
	if p, err := g.At(monday).PardonAll([]Verdict{throttled[0], {ChannelID: throttled[0].ChannelID, UserID: "7", Allowed: true}}); !errors.Is(err, ErrNotThrottled) || p != (Pardoned{}) {
		t.Errorf("one that was allowed: %+v, %v", p, err)
	}
	if e, err := g.Explain(messageFrom("7", 0)); err != nil || e.Strikes != 1 {
		t.Errorf("refused, and %d strikes count, %v", e.Strikes, err)
	}
	none, err := g.At(monday).PardonAll(nil)
	if err := errors.Join(err, g.At(monday).Unpardon(none)); err != nil || none.Messages != 0 {
		t.Errorf("nothing: %+v, %v", none, err)
	}
}
