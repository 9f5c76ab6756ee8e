//go:build !race

package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/web/live"
)

func TestRates_Route(t *testing.T) {
	d := dash(t)
	for _, test := range []struct {
		query   string
		step, n int
	}{{"", 5, 720}, {"?span=quarter", 5, 180}, {"?span=hour&channel=7", 5, 720}, {"?span=day", 60, 1440}} {
		a := d.do("GET", "/api/v1/rates"+test.query, nil, asOwner)
		if rates := decode[live.RatesOver](t, a); rates.StepSeconds != test.step || len(rates.Messages) != test.n || len(rates.Throttled) != test.n || len(rates.Observed) != test.n {
			t.Errorf("%q: %s", test.query, a.body)
		}
	}
	if a := d.do("GET", "/api/v1/rates?span=week", nil, asOwner); a.StatusCode != http.StatusBadRequest || !strings.Contains(string(a.body), "week") {
		t.Errorf("%s %s", a.Status, a.body)
	}
}

func TestRates_SurviveRestart(t *testing.T) {
	d := dash(t)
	minute := d.now().Add(-time.Hour / 2).Truncate(time.Minute)
	anna := chatguard.User{ID: "61", Login: "anna"}
	// one of them is throttled
	d.recordPast(anna, minute, minute.Add(time.Second), minute.Add(2*time.Second), minute.Add(3*time.Second))
	d.restart()
	rates := func() (messages, throttled *uint32) {
		r := decode[live.RatesOver](t, d.do("GET", "/api/v1/rates?span=day&channel="+channelID, nil, asOwner))
		i := int(minute.Sub(r.From) / time.Minute)
		return r.Messages[i], r.Throttled[i]
	}
	messages, throttled := rates()
	for messages == nil || *messages == 0 { // the past is loaded while the dashboard already serves
		messages, throttled = rates()
	}
	if *messages != 4 || *throttled != 1 {
		t.Errorf("%d messages, %d throttled", *messages, *throttled)
	}
}

func TestRates_StoreInTrouble(t *testing.T) {
	read := make(chan struct{})
	d := dash(t, func(o *Options) { o.Store = unreadableRates{o.Store, read} })
	<-read
	decode[live.RatesOver](t, d.do("GET", "/api/v1/rates?span=day", nil, asOwner))
}

// unreadableRates is a Store that cannot read the rates from before the start.
type unreadableRates struct {
	Records
	read chan struct{}
}

func (f unreadableRates) Minutes(context.Context, time.Time, time.Time, func(journal.Minute) error) error {
	close(f.read)
	return errors.New("damaged")
}
