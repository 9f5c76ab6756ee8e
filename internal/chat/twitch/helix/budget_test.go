package helix

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
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// startInMemory starts a fake Twitch and returns it with a Client, both under a simulated clock.
func startInMemory(t *testing.T, opts faketwitch.Options) (*faketwitch.Server, *Client) {
	t.Helper()
	opts.InMemory = true
	srv, err := faketwitch.Start(opts)
	must(t, err)
	h := &Client{
		BaseURL: srv.HelixURL(), ClientID: srv.ClientID, Token: twitchtest.TokenOf(srv.Token()),
		HTTP: &http.Client{Transport: &http.Transport{DialContext: srv.Dial, MaxIdleConnsPerHost: api.MaxIdleConns}, Timeout: api.Timeout},
	}
	t.Cleanup(func() {
		h.Close()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv, h
}

// budgetHeader returns the headers with which Twitch describes its budget.
func budgetHeader(limit, remaining int) http.Header {
	return http.Header{"Ratelimit-Limit": {strconv.Itoa(limit)}, "Ratelimit-Remaining": {strconv.Itoa(remaining)}}
}

// TestBudget_Steps checks the budget: 800 requests at once, then one every 100 ms. Ordinary
// requests leave 20 to essential ones. If Twitch reports a smaller budget, that budget applies.
func TestBudget_Steps(t *testing.T) {
	type step struct {
		at        time.Duration
		told      http.Header // headers before the step, or nil
		essential bool
		asked, ok int
		wait      time.Duration // of the first request that must wait
		left      int           // left afterwards
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
			{told: budgetHeader(800, 120), asked: 1000, ok: 100, wait: 100 * time.Millisecond, left: 0},
			{told: budgetHeader(800, 700), asked: 1, ok: 0, wait: 100 * time.Millisecond, left: 0},
			{told: budgetHeader(800, -5), essential: true, asked: 1, ok: 0, wait: 100 * time.Millisecond, left: 0},
		},
		"Twitch's is smaller": {
			{told: budgetHeader(80, 80), asked: 1000, ok: 78, wait: 100 * time.Millisecond, left: 0},
			{essential: true, asked: 5, ok: 2, wait: 100 * time.Millisecond, left: 0},
			{at: time.Hour, left: 78},
			{at: time.Hour, told: budgetHeader(800, 700), left: 680},
		},
		"tiny":    {{told: budgetHeader(1, 1), asked: 9, ok: 1, wait: 100 * time.Millisecond, left: 0}},
		"nothing": {{told: budgetHeader(0, 0), asked: 9, ok: 0, wait: 100 * time.Millisecond, left: 0}},
		"larger":  {{told: budgetHeader(5000, 4000), asked: 1000, ok: 780, wait: 100 * time.Millisecond, left: 0}},
		"garbled": {{told: http.Header{"Ratelimit-Remaining": {"few"}}, asked: 0, left: 780}},
	} {
		now := twitchtest.NewSleeps().Now()
		start := now
		h := &Client{Clock: clock.Clock{NowFunc: func() time.Time { return now }}}
		h.Clock.SleepFunc = func(_ context.Context, d time.Duration) error { return waitError(d) }
		for n, s := range steps {
			now = start.Add(s.at)
			must(t, h.budget.note(t.Context(), api.Answer{Header: s.told}, 1, h.now()))
			ok, wait := 0, waitError(0)
			for range s.asked {
				if err := h.waitForBudget(t.Context(), request{sending: sending{essential: s.essential}}); err == nil {
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

// waitError is the error of a test's sleep function that doesn't sleep.
type waitError time.Duration

func (w waitError) Error() string { return fmt.Sprint("waits ", time.Duration(w)) }

// TestLeft_WhileHeld checks that nothing is left of a budget that Twitch says is empty,
// until the time that Twitch named.
func TestLeft_WhileHeld(t *testing.T) {
	h := &Client{Clock: clock.Clock{NowFunc: twitchtest.NewSleeps().Now}}
	h.budget.hold(h.now().Add(time.Minute))
	h.budget.hold(h.now().Add(time.Second)) // an earlier time must not shorten the hold
	if got := h.Left(0); got != 0 {
		t.Errorf("%d left", got)
	}
	h.Clock.SleepFunc = func(_ context.Context, d time.Duration) error { return waitError(d) }
	for _, essential := range []bool{false, true} {
		if err := h.waitForBudget(t.Context(), request{sending: sending{essential: essential}}); !errors.Is(err, waitError(time.Minute)) {
			t.Errorf("essential %v: %v", essential, err)
		}
	}
}

// TestLeft_Within checks that Left counts the requests left, plus those refilled within the
// duration. The refill counts only after the time for which Twitch refuses everything.
func TestLeft_Within(t *testing.T) {
	for name, c := range map[string]struct {
		told   int           // remaining budget reported by Twitch
		held   time.Duration // how long Twitch refuses everything
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
		now := twitchtest.NewSleeps().Now()
		h := &Client{Clock: clock.Clock{NowFunc: func() time.Time { return now }}}
		must(t, h.budget.note(t.Context(), api.Answer{Header: budgetHeader(800, c.told)}, 1, h.now()))
		h.budget.hold(now.Add(c.held))
		if got := h.Left(c.within); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestBudget_Burst sends more simultaneous requests than Twitch accepts. It checks that none is
// refused and all are answered.
func TestBudget_Burst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startInMemory(t, faketwitch.Options{Channels: []string{"gardenhour"}})
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

// TestBudget_OrderOfArrival checks that requests waiting for the budget are sent in order of
// arrival. A request whose context ends leaves the queue, and an essential request goes first.
func TestBudget_OrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h := startInMemory(t, faketwitch.Options{Channels: []string{"gardenhour"}})
		must(t, h.budget.note(t.Context(), api.Answer{Header: budgetHeader(800, reserve)}, 1, h.now()))
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

// TestBudget_RetriesCost checks that each try is charged to the budget, including the one after a
// refused token.
func TestBudget_RetriesCost(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	h.Clock.NowFunc = func() time.Time { return twitchtest.NewSleeps().Now() }
	h.Refused = func(context.Context, string) error { return nil }
	srv.FailNext(statusFaults(401, 503, 503)...)
	_, err := h.Users(t.Context(), "ann")
	must(t, err)
	if got := h.Left(0); got != 780-4 {
		t.Errorf("%d left after 4 requests", got)
	}
}
