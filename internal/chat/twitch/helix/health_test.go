package helix

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/chat/twitch/twitchtest"
	"github.com/chatguard/chatguard/internal/clock"
)

// TestHelix_Health checks that Helix doesn't count as answering before its first answer. Its last
// failure is reported until it answers again.
func TestHelix_Health(t *testing.T) {
	srv := twitchtest.Start(t, "room")
	h, sleeps := newHelix(t, srv)
	ask := func(faults ...faketwitch.Fault) Health {
		srv.FailNext(faults...)
		h.DeleteMessage(t.Context(), Room{srv.UserID("room"), srv.BotID()}, "gone")
		return h.Health()
	}
	if got := h.Health(); got != (Health{}) {
		t.Errorf("before anything was asked: %+v", got)
	}
	if got := ask(statusFaults(0, 0, 0, 0, 0)...); got.Answered || !strings.HasPrefix(got.Failure, "Twitch didn't answer: ") || strings.Contains(got.Failure, "http://") {
		t.Errorf("without an answer: %+v", got)
	}
	if got := ask(statusFaults(500, 500, 500, 500, 503)...); got != (Health{true, "Twitch answered with status 503, fault"}) {
		t.Errorf("after errors: %+v", got)
	}
	if got := ask(); got != (Health{Answered: true}) {
		t.Errorf("after an answer: %+v", got)
	}
	answered := func() (n int64) {
		for _, count := range h.Durations().Counts {
			n += count
		}
		return n
	}
	if before := answered(); before != 6 {
		t.Errorf("%d answers were measured, want those to 5 tries that failed and to the last", before)
	}
	busy := budgetEmptyFault(sleeps.Now(), sleeps.Now().Add(time.Second), "300") // because of another limit
	if got := ask(busy, busy, busy, busy, busy); got != (Health{Answered: true}) {
		t.Errorf("after refusals because of another limit: %+v", got)
	}
	ask(statusFaults(500, 500, 500, 500, 503)...)
	must(t, sleeps.Sleep(t.Context(), failureTime+1))
	if got := h.Health(); got != (Health{Answered: true}) {
		t.Errorf("a minute after errors: %+v", got)
	}
}

// TestHelix_Trouble checks that while Twitch refuses everything, Trouble says until when.
func TestHelix_Trouble(t *testing.T) {
	now := twitchtest.NewSleeps().Now() // 20:00 UTC
	h := &Client{Clock: clock.Clock{NowFunc: func() time.Time { return now }}}
	if refused, failed := h.Trouble(); refused != "" || failed != "" {
		t.Errorf("%q, %q", refused, failed)
	}
	h.budget.hold(now.Add(3 * time.Second))
	if refused, _ := h.Trouble(); refused != "Twitch refused requests until 20:00:03 UTC (status 429)" {
		t.Error(refused)
	}
	now = now.Add(3 * time.Second)
	if refused, _ := h.Trouble(); refused != "" {
		t.Error(refused)
	}
}

// TestHelix_Unfinished checks the error of a request that was given up: it says what prevented the
// request.
func TestHelix_Unfinished(t *testing.T) {
	always := func(f faketwitch.Fault) func(*faketwitch.Server, *Client) {
		return func(srv *faketwitch.Server, _ *Client) {
			srv.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return f, true })
		}
	}
	for name, c := range map[string]struct {
		prepare func(*faketwitch.Server, *Client)
		want    string
	}{
		"errors": {always(faketwitch.Fault{Status: 500, Message: "oops", Delay: time.Second}), "(Twitch: status 500, oops); given up (context deadline exceeded)"},
		"slow":   {always(faketwitch.Fault{Status: faketwitch.AsAsked, Delay: 9 * time.Second}), "delete message: Twitch didn't answer in time (context deadline exceeded)"},
		"another limit": {always(faketwitch.Fault{Status: 429, Header: http.Header{"Ratelimit-Remaining": {"300"}, "Ratelimit-Reset": {"946684860"}}}),
			"Twitch accepts no more requests of this kind for now; try again in a minute (Twitch: status 429); given up (context deadline exceeded)"},
		"refused": {func(_ *faketwitch.Server, h *Client) { h.budget.hold(h.now().Add(time.Minute)) },
			"delete message: not sent in time: Twitch refused requests until 00:01:00 UTC (status 429) (context deadline exceeded)"},
		"no budget": {func(_ *faketwitch.Server, h *Client) {
			if err := h.budget.note(t.Context(), api.Answer{Header: budgetHeader(800, 0)}, 1, h.now()); err != nil {
				t.Error(err)
			}
		}, "delete message: not sent in time: the request budget is used up (context deadline exceeded)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := startInMemory(t, faketwitch.Options{Channels: []string{"room"}, HelixBudget: -1})
			c.prepare(srv, h)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := h.DeleteMessage(ctx, Room{srv.UserID("room"), srv.BotID()}, "1")
			if !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), c.want) || errors.Is(err, twitch.ErrToken) {
				t.Errorf("%s: %v\nwant …%s", name, err, c.want)
			}
			if failed := h.Health().Failure; name == "slow" && failed != "" {
				t.Errorf("%s: we were impatient, but it says %q", name, failed)
			}
		})
	}
}
