package faketwitch

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// TestBudget checks the budget: 800 requests at once, then one every 100 ms. Every answer says how
// much is left and when the budget is full.
func TestBudget(t *testing.T) {
	start := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	b := newBudget(0)
	for _, step := range []struct {
		at    time.Duration
		asked int
		taken int
		left  string
		reset time.Duration
	}{
		{0, 0, 0, "800", 0},
		{0, 1, 1, "799", time.Second},
		{0, 1000, 799, "0", 80 * time.Second},
		{99 * time.Millisecond, 1, 0, "0", 80 * time.Second},
		{100 * time.Millisecond, 2, 1, "0", 81 * time.Second},
		{10 * time.Second, 0, 0, "99", 81 * time.Second},
		{time.Hour, 1000, 800, "0", time.Hour + 80*time.Second},
	} {
		now, taken := start.Add(step.at), 0
		for range step.asked {
			if b.take(now) {
				taken++
			}
		}
		h := http.Header{}
		b.describe(h, now)
		if taken != step.taken || h.Get("Ratelimit-Limit") != "800" || h.Get("Ratelimit-Remaining") != step.left {
			t.Errorf("at %v: %d of %d taken, %v; want %d, %s left", step.at, taken, step.asked, h, step.taken, step.left)
		}
		if want := unix(start.Add(step.reset)); h.Get("Ratelimit-Reset") != want {
			t.Errorf("at %v: reset %s, want %s", step.at, h.Get("Ratelimit-Reset"), want)
		}
	}
}

// TestBudget_Kept checks that an excess request is answered with 429. It isn't carried out and
// costs nothing. Without a budget, no headers are sent.
func TestBudget_Kept(t *testing.T) {
	clock := newClock()
	s := start(t, Options{HelixBudget: 2, Now: clock.Now})
	for n, want := range []int{200, 200, 429, 429} {
		if got, body := ask(t, s, "GET", "/users", ""); got != want {
			t.Errorf("request %d: %d %s, want %d", n, got, body, want)
		}
	}
	clock.advance(pointBack)
	if got, _ := ask(t, s, "GET", "/users", ""); got != 200 {
		t.Errorf("once a point has come back: %d", got)
	}
	free := start(t, Options{HelixBudget: -1, Now: clock.Now})
	for range 50 {
		if got, _ := ask(t, free, "GET", "/users", ""); got != 200 {
			t.Errorf("without a budget: %d", got)
		}
	}
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
