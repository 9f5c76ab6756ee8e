package twitch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// inMemory returns a fake Twitch and a Helix at it that work under a simulated clock.
func inMemory(t *testing.T, opts faketwitch.Options) (*faketwitch.Server, *Helix) {
	t.Helper()
	opts.InMemory = true
	srv, err := faketwitch.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	h := &Helix{
		BaseURL: srv.HelixURL(), AuthURL: srv.AuthURL(), ClientID: srv.ClientID, Token: tokenOf(srv.Token()),
		HTTP: &http.Client{Transport: &http.Transport{DialContext: srv.Dial, MaxIdleConnsPerHost: idleConns}, Timeout: exchangeTimeout},
	}
	t.Cleanup(func() {
		h.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, h
}

// told is what Twitch says about its budget.
func told(limit, remaining int) http.Header {
	return http.Header{"Ratelimit-Limit": {strconv.Itoa(limit)}, "Ratelimit-Remaining": {strconv.Itoa(remaining)}}
}

// TestBudgetSteps: 800 requests at once, another each 100 ms; ordinary ones leave 20 to the essential, and a smaller budget of Twitch's counts.
func TestBudgetSteps(t *testing.T) {
	type step struct {
		at        time.Duration
		told      http.Header // before; nil for nothing
		essential bool
		asked, ok int
		wait      time.Duration // of the first that isn't
		left      int           // after
	}
	for name, steps := range map[string][]step{
		"plain": {
			{asked: 1, ok: 1, left: 779},
			{asked: 1000, ok: 779, wait: 100 * time.Millisecond, left: 0},
			{at: 99 * time.Millisecond, asked: 1, ok: 0, wait: time.Millisecond, left: 0},
			{at: 100 * time.Millisecond, asked: 5, ok: 1, wait: 100 * time.Millisecond, left: 0},
			{at: 10 * time.Second, left: 99},
			{at: time.Hour, asked: 1000, ok: 780, wait: 100 * time.Millisecond, left: 0},
		},
		"essential": {
			{asked: 780, ok: 780, left: 0},
			{essential: true, asked: 30, ok: 20, wait: 100 * time.Millisecond, left: 0},
			{asked: 1, ok: 0, wait: 2100 * time.Millisecond, left: 0},
			{at: 2 * time.Second, essential: true, asked: 1, ok: 1, left: 0},
			{at: 2200 * time.Millisecond, asked: 2, ok: 1, wait: 100 * time.Millisecond, left: 0},
		},
		"Twitch has less left": {
			{told: told(800, 120), asked: 1000, ok: 100, wait: 100 * time.Millisecond, left: 0},
			{told: told(800, 700), asked: 1, ok: 0, wait: 100 * time.Millisecond, left: 0},
			{told: told(800, -5), essential: true, asked: 1, ok: 0, wait: 100 * time.Millisecond, left: 0},
		},
		"Twitch's is smaller": {
			{told: told(80, 80), asked: 1000, ok: 78, wait: 100 * time.Millisecond, left: 0},
			{essential: true, asked: 5, ok: 2, wait: 100 * time.Millisecond, left: 0},
			{at: time.Hour, left: 78},
			{at: time.Hour, told: told(800, 700), left: 680},
		},
		"tiny":    {{told: told(1, 1), asked: 9, ok: 1, wait: 100 * time.Millisecond, left: 0}},
		"nothing": {{told: told(0, 0), asked: 9, ok: 0, wait: 100 * time.Millisecond, left: 0}},
		"larger":  {{told: told(5000, 4000), asked: 1000, ok: 780, wait: 100 * time.Millisecond, left: 0}},
		"garbled": {{told: http.Header{"Ratelimit-Remaining": {"few"}}, asked: 0, left: 780}},
	} {
		now := newNaps().now()
		start := now
		h := &Helix{Now: func() time.Time { return now }}
		h.sleep = func(_ context.Context, d time.Duration) error { return waits(d) }
		for n, s := range steps {
			now = start.Add(s.at)
			if err := h.heed(t.Context(), answer{header: s.told}, 1); err != nil {
				t.Fatal(err)
			}
			ok, wait := 0, waits(0)
			for range s.asked {
				if err := h.afford(t.Context(), request{essential: s.essential}); err == nil {
					ok++
				} else if !errors.As(err, &wait) {
					t.Fatal(err)
				} else {
					break
				}
			}
			if ok != s.ok || time.Duration(wait) != s.wait || h.Left(0) != s.left {
				t.Errorf("%s, step %d: %d of %d, then %v, %d left; want %d, %v, %d", name, n, ok, s.asked, time.Duration(wait), h.Left(0), s.ok, s.wait, s.left)
			}
		}
	}
}

// waits is the error of a test's sleep that doesn't sleep.
type waits time.Duration

func (w waits) Error() string { return fmt.Sprint("waits ", time.Duration(w)) }

// TestNothingIsLeftWhileHeld: a budget that Twitch says is empty has nothing left until it says it has.
func TestNothingIsLeftWhileHeld(t *testing.T) {
	h := &Helix{Now: newNaps().now}
	h.budget.hold(h.now().Add(time.Minute))
	h.budget.hold(h.now().Add(time.Second)) // is no reason to begin sooner
	if got := h.Left(0); got != 0 {
		t.Errorf("%d left", got)
	}
	h.sleep = func(_ context.Context, d time.Duration) error { return waits(d) }
	for _, essential := range []bool{false, true} {
		if err := h.afford(t.Context(), request{essential: essential}); !errors.Is(err, waits(time.Minute)) {
			t.Errorf("essential %v: %v", essential, err)
		}
	}
}

// TestLeft_Within: what can be sent within a time is what is left and what comes back, after Twitch's refusal of everything.
func TestLeft_Within(t *testing.T) {
	for name, c := range map[string]struct {
		told   int           // what Twitch says is left
		held   time.Duration // for which it refuses everything
		within time.Duration
		want   int
	}{
		"now":                     {120, 0, 0, 100},
		"in 2 s":                  {120, 0, 2 * time.Second, 120},
		"of a full one":           {800, 0, 2 * time.Second, 800},
		"not yet another":         {20, 0, 99 * time.Millisecond, 0},
		"another":                 {20, 0, 100 * time.Millisecond, 1},
		"of an empty one":         {0, 0, 2 * time.Second, 0},
		"held":                    {120, 3 * time.Second, 2 * time.Second, 0},
		"held now":                {120, time.Second, 0, 0},
		"held for a part":         {120, 500 * time.Millisecond, 2 * time.Second, 120},
		"held, and empty":         {0, time.Second, 3 * time.Second, 10},
		"held until the very end": {120, 2 * time.Second, 2 * time.Second, 120},
		"full when the hold ends": {10, 90 * time.Second, 100 * time.Second, 880},
	} {
		now := newNaps().now()
		h := &Helix{Now: func() time.Time { return now }}
		if err := h.heed(t.Context(), answer{header: told(800, c.told)}, 1); err != nil {
			t.Fatal(err)
		}
		h.budget.hold(now.Add(c.held))
		if got := h.Left(c.within); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestBudgetInABurst: of more requests at the same moment than Twitch takes none is refused, and all are answered.
func TestBudgetInABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := inMemory(t, faketwitch.Options{Channels: []string{"gardenhour"}})
		room := Room{srv.UserID("gardenhour"), srv.BotID()}
		began := time.Now()
		var all sync.WaitGroup
		for range 850 {
			all.Go(func() {
				if err := h.DeleteMessage(t.Context(), room, "gone"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took < 6*time.Second || took > 10*time.Second {
			t.Errorf("took %v, want 780 at once and 70 in 7 s", took)
		}
		requests := srv.Requests()
		for _, r := range requests {
			if r.Status != http.StatusNotFound {
				t.Errorf("answered %d", r.Status)
			}
		}
		if len(requests) != 850 {
			t.Errorf("%d requests", len(requests))
		}
	})
}

// TestOrderOfArrival: requests that wait for the budget are sent in the order in which they came, those whose context ends leave, and an essential
// one goes ahead.
func TestOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := inMemory(t, faketwitch.Options{Channels: []string{"gardenhour"}})
		if err := h.heed(t.Context(), answer{header: told(800, reserve)}, 1); err != nil {
			t.Fatal(err)
		}
		room := Room{srv.UserID("gardenhour"), srv.BotID()}
		var all sync.WaitGroup
		leaving, leave := context.WithCancel(t.Context())
		for n := range 6 {
			ctx := t.Context()
			if n%3 == 1 {
				ctx = leaving
			}
			all.Go(func() {
				err := h.DeleteMessage(ctx, room, "message"+strconv.Itoa(n))
				if want := ctx.Err(); !errors.Is(err, want) {
					t.Errorf("message%d: %v, want %v", n, err, want)
				}
			})
			synctest.Wait()
		}
		if n := len(srv.Requests()); n != 0 {
			t.Errorf("%d were sent at once", n)
		}
		leave()
		if _, err := h.ChatSettings(t.Context(), room); err != nil {
			t.Error(err)
		}
		all.Wait()
		var got []string
		for _, r := range srv.Requests() {
			got = append(got, r.Query.Get("message_id"))
		}
		if want := []string{"", "message0", "message2", "message3", "message5"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// TestRetriesCost: each try takes of the budget, also the one after a refused token.
func TestRetriesCost(t *testing.T) {
	srv := startTwitch(t, "room")
	h, _ := newHelix(t, srv)
	h.Now = func() time.Time { return newNaps().now() }
	h.Refused = func(context.Context, string) error { return nil }
	srv.FailNext(status(401, 503, 503)...)
	if _, err := h.Users(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	if got := h.Left(0); got != 780-4 {
		t.Errorf("%d left after 4 requests", got)
	}
}
