package helix

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// newHelix returns a Client connected to the fake Twitch. Its waits are recorded in sleeps.
func newHelix(t testing.TB, srv *faketwitch.Server) (*Client, *twitchtest.Sleeps) {
	sleeps := twitchtest.NewSleeps()
	h := &Client{
		BaseURL: srv.HelixURL(), ClientID: srv.ClientID, Token: twitchtest.TokenOf(srv.Token()),
		Clock: clock.Clock{NowFunc: sleeps.Now, SleepFunc: sleeps.Sleep},
	}
	t.Cleanup(h.Close)
	return h, sleeps
}

// requests returns the requests that the server received: method, path and sorted query, and body.
func requests(srv *faketwitch.Server) (all []string) {
	for _, r := range srv.Requests() {
		line := r.Method + " " + strings.TrimPrefix(r.Path, "/helix")
		if len(r.Query) > 0 {
			line += "?" + r.Query.Encode()
		}
		if r.Body != "" {
			line += " " + r.Body
		}
		all = append(all, line)
	}
	return all
}

func statusFaults(codes ...int) (faults []faketwitch.Fault) {
	for _, code := range codes {
		faults = append(faults, faketwitch.Fault{Status: code, Message: "fault"})
	}
	return faults
}

// TestHelix_Retries checks that temporary failures are retried with growing delays a limited number
// of times, and that permanent ones are not.
func TestHelix_Retries(t *testing.T) {
	for name, c := range map[string]struct {
		faults []faketwitch.Fault
		want   error
		tries  int
	}{
		"500 once":         {statusFaults(500), nil, 2},
		"409, 502, 503":    {statusFaults(409, 502, 503), nil, 4},
		"cut off":          {statusFaults(0, 0), nil, 3},
		"500 for long":     {statusFaults(500, 500, 500, 500, 500, 500), twitch.ErrUnavailable, 5},
		"cut off for long": {statusFaults(0, 0, 0, 0, 0, 0), twitch.ErrUnavailable, 5},
		"401":              {statusFaults(401), twitch.ErrToken, 1},
		"403":              {statusFaults(403), twitch.ErrNotModerator, 1},
		"400":              {statusFaults(400), twitch.ErrRejected, 1},
		"409 for long":     {statusFaults(409, 409, 409, 409, 409), twitch.ErrConflict, 5},
		"429":              {statusFaults(429), nil, 2},
		"not Twitch's 404": {[]faketwitch.Fault{{Status: 404, Body: "<html>"}}, nil, 2},
		"not Twitch's 403": {slices.Repeat([]faketwitch.Fault{{Status: 403, Body: "Blocked by the proxy."}}, 5), twitch.ErrUnavailable, 5},
		"418":              {statusFaults(418), twitch.ErrRejected, 1},
		"500, then 403":    {statusFaults(500, 403), twitch.ErrNotModerator, 2},
		"404":              {statusFaults(404), nil, 1},
		// the second answer is 404, because the message is already gone
		"done but unanswered": {[]faketwitch.Fault{{Status: 0, After: true}}, nil, 2},
	} {
		srv := twitchtest.Start(t, "room")
		h, sleeps := newHelix(t, srv)
		id := twitchtest.Say(t, srv, faketwitch.Line{Channel: "room", Login: "ann", Text: "hi"})
		srv.FailNext(c.faults...)
		err := h.DeleteMessage(t.Context(), Room{srv.UserID("room"), srv.BotID()}, id)
		if !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got := len(srv.Requests()); got != c.tries {
			t.Errorf("%s: %d requests, want %d", name, got, c.tries)
		}
		for n, d := range sleeps.All() {
			if whole := min(retryMin<<n, retryMax); d < whole/2 || d > whole {
				t.Errorf("%s: delay %d is %v, want %v to %v", name, n, d, whole/2, whole)
			}
		}
		if err != nil && strings.Contains(err.Error(), "\n") || err != nil && strings.Contains(err.Error(), srv.Token()) {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// budgetEmptyFault is Twitch's answer at time now if the budget is empty until reset.
func budgetEmptyFault(now, reset time.Time, remaining string) faketwitch.Fault {
	return faketwitch.Fault{Status: 429, Header: http.Header{
		"Date": {now.UTC().Format(http.TimeFormat)}, "Ratelimit-Limit": {"800"}, "Ratelimit-Remaining": {remaining}, "Ratelimit-Reset": {strconv.FormatInt(reset.Unix(), 10)},
	}}
}

// otherLimitFault is Twitch's answer if another limit is used up, with headers about that limit.
func otherLimitFault(now time.Time) faketwitch.Fault {
	f := withMessage(budgetEmptyFault(now, now.Add(time.Minute), "0"), "The app has exceeded the number of requests it may make per minute for this broadcaster.")
	f.Header.Set("Ratelimit-Limit", "100")
	return f
}

func withMessage(f faketwitch.Fault, message string) faketwitch.Fault {
	f.Message = message
	return f
}

// TestHelix_BudgetEmpty checks that after a 429, a request waits until the budget is full again.
// Both the time and the number of tries are limited.
func TestHelix_BudgetEmpty(t *testing.T) {
	start := twitchtest.NewSleeps().Now()
	for name, c := range map[string]struct {
		fault       faketwitch.Fault
		least, most time.Duration
		want        error // if it lasts
	}{
		"in 7 s": {budgetEmptyFault(start, start.Add(7*time.Second), "0"), 7 * time.Second, 7 * time.Second, twitch.ErrBusy},
		"by Twitch's clock, which is two hours ahead":  {budgetEmptyFault(start.Add(2*time.Hour), start.Add(2*time.Hour+7*time.Second), "0"), 7 * time.Second, 7 * time.Second, twitch.ErrBusy},
		"by Twitch's clock, which is two hours behind": {budgetEmptyFault(start.Add(-2*time.Hour), start.Add(-2*time.Hour+7*time.Second), "0"), 7 * time.Second, 7 * time.Second, twitch.ErrBusy},
		"in a sentence":   {withMessage(budgetEmptyFault(start, start.Add(7*time.Second), "0"), "Rate limit exceeded."), 7 * time.Second, 7 * time.Second, twitch.ErrBusy},
		"another's text":  {otherLimitFault(start), retryMin / 2, retryMin, twitch.ErrLimited},
		"another limit":   {budgetEmptyFault(start, start.Add(7*time.Second), "300"), retryMin / 2, retryMin, twitch.ErrLimited},
		"already":         {budgetEmptyFault(start, start.Add(-7*time.Second), "0"), retryMin / 2, retryMin, twitch.ErrBusy},
		"tomorrow":        {budgetEmptyFault(start, start.Add(24*time.Hour), "0"), longestHold, longestHold, twitch.ErrBusy},
		"it doesn't say":  {faketwitch.Fault{Status: 429}, retryMin / 2, retryMin, twitch.ErrLimited},
		"it says nothing": {faketwitch.Fault{Status: 429, Header: http.Header{"Ratelimit-Remaining": {"few"}}}, retryMin / 2, retryMin, twitch.ErrLimited},
	} {
		// this server adds no budget headers of its own
		srv := twitchtest.StartWith(t, faketwitch.Options{HelixBudget: -1, Channels: []string{"room"}})
		h, sleeps := newHelix(t, srv)
		ask := func() error { // an essential request, so it waits for nothing else
			_, err := h.ChatSettings(t.Context(), Room{BroadcasterID: srv.UserID("room"), ModeratorID: srv.BotID()})
			return err
		}
		srv.FailNext(c.fault)
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if waits := sleeps.All(); len(waits) != 1 || waits[0] < c.least || waits[0] > c.most {
			t.Errorf("%s: waited %v, want %v to %v", name, waits, c.least, c.most)
		}
		srv.FailNext(c.fault, c.fault, c.fault, c.fault, c.fault)
		if err := ask(); !errors.Is(err, c.want) {
			t.Errorf("%s, for long: %v", name, err)
		}
	}
}

// TestHelix_BudgetShared checks that all requests wait after one of them was told that the budget
// is empty. A 429 because of another limit, or without headers, delays no other request.
func TestHelix_BudgetShared(t *testing.T) {
	for remaining, others := range map[string]int{"0": 0, "300": 1, "": 1} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startInMemory(t, faketwitch.Options{HelixBudget: -1})
			began := time.Now()
			fault := budgetEmptyFault(began, began.Add(10*time.Second), remaining)
			if remaining == "" {
				fault.Header = nil
			}
			srv.FailNext(fault)
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if _, err := h.Users(t.Context(), "ann"); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
			}
			if got := len(srv.Requests()); got != 1+others {
				t.Errorf("with %s left: %d requests while the first waits, want %d", remaining, got, 1+others)
			}
			both.Wait()
			if all := srv.Requests(); len(all) != 3 || (all[2].At.Sub(began) == 10*time.Second) != (others == 0) {
				t.Errorf("with %s left: %d requests, the last after %v", remaining, len(all), all[len(all)-1].At.Sub(began))
			}
		})
	}
}

// TestHelix_BudgetSharedByLastTry checks that a 429 also delays the other requests if it ends its
// own request.
func TestHelix_BudgetSharedByLastTry(t *testing.T) {
	for name, c := range map[string]struct {
		ask     func(h *Client, room Room) error
		refused int // how often
	}{
		"what is sent once": {func(h *Client, room Room) error {
			return h.SendMessage(t.Context(), room.BroadcasterID, room.ModeratorID, "hello", "")
		}, 1},
		"the last of several": {func(h *Client, room Room) error { return h.DeleteMessage(t.Context(), room, "1") }, maxTries},
	} {
		srv := twitchtest.Start(t, "room")
		h, sleeps := newHelix(t, srv)
		h.Clock.NowFunc = sleeps.Now
		for range c.refused {
			srv.FailNext(budgetEmptyFault(h.now(), h.now().Add(time.Minute), "0"))
		}
		if err := c.ask(h, Room{srv.UserID("room"), srv.BotID()}); !errors.Is(err, twitch.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
		before := len(sleeps.All())
		if _, err := h.Users(t.Context(), "ann"); err != nil {
			t.Error(err)
		}
		if after := sleeps.All()[before:]; len(after) != 1 {
			t.Errorf("%s: the next request waited %v, want once", name, after)
		}
	}
}

// TestHelix_Cancelled checks that the context ends a waiting call, and that the call wraps the
// context's error.
func TestHelix_Cancelled(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	gate := twitchtest.NewGate()
	h.Clock.SleepFunc = gate.Sleep
	srv.FailNext(statusFaults(500)...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := h.Users(ctx, "ann")
		ended <- err
	}()
	<-gate.Asked
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestHelix_ReusesConnections checks that all requests use the same connection.
func TestHelix_ReusesConnections(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	for range 20 {
		must(t, h.DeleteMessage(t.Context(), Room{srv.UserID("room"), srv.BotID()}, "unknown"))
		_, err := h.Users(t.Context(), "ann")
		must(t, err)
	}
	from := map[string]bool{}
	for _, r := range srv.Requests() {
		from[r.Client] = true
	}
	if len(from) != 1 {
		t.Errorf("%d connections for 40 requests, one after the other", len(from))
	}
}

// TestHelix_Redirect checks that the token isn't sent to the target of a redirect.
func TestHelix_Redirect(t *testing.T) {
	elsewhere := twitchtest.Start(t, "room")
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	srv.FailNext(faketwitch.Fault{Status: http.StatusTemporaryRedirect, Header: http.Header{"Location": {elsewhere.HelixURL() + "/users"}}})
	if _, err := h.Users(t.Context(), "ann"); !errors.Is(err, twitch.ErrRejected) {
		t.Error(err)
	}
	if got := requests(elsewhere); len(got) != 0 {
		t.Errorf("the other server was asked %q", got)
	}
}

// TestHelix_HidesToken checks that no text contains the token, even if the server quotes it.
func TestHelix_HidesToken(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, _ := newHelix(t, srv)
	srv.FailNext(faketwitch.Fault{Status: 401, Message: "the token " + srv.Token() + "\nis bad"})
	_, err := h.Users(t.Context(), "ann")
	if !errors.Is(err, twitch.ErrToken) || strings.Contains(err.Error(), srv.Token()) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q", err)
	}
	for _, bad := range []string{"", "oauth:", "two words", "line\r\nHost: elsewhere"} {
		h.Token = twitchtest.TokenOf(bad)
		if _, err := h.Users(t.Context(), "ann"); !errors.Is(err, twitch.ErrToken) || strings.Contains(err.Error(), "elsewhere") {
			t.Errorf("token %q: %v", bad, err)
		}
	}
}
