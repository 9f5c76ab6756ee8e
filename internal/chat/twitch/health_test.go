package twitch

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chatguard/chatguard/internal/chat/faketwitch"
)

// TestHealth: Helix isn't said to answer before it has, and its last failure is known until it answers again.
func TestHealth(t *testing.T) {
	srv := startTwitch(t, "room")
	h, naps := newHelix(t, srv)
	ask := func(faults ...faketwitch.Fault) Health {
		srv.FailNext(faults...)
		h.DeleteMessage(t.Context(), Room{srv.UserID("room"), srv.BotID()}, "gone")
		return h.Health()
	}
	if got := h.Health(); got != (Health{}) {
		t.Errorf("before anything was asked: %+v", got)
	}
	if got := ask(status(0, 0, 0, 0, 0)...); got.Answered || !strings.HasPrefix(got.Failure, "Twitch didn't answer: ") || strings.Contains(got.Failure, "http://") {
		t.Errorf("without an answer: %+v", got)
	}
	if got := ask(status(500, 500, 500, 500, 503)...); got != (Health{true, "Twitch answered with status 503, fault"}) {
		t.Errorf("after errors: %+v", got)
	}
	if got := ask(); got != (Health{Answered: true}) {
		t.Errorf("after an answer: %+v", got)
	}
	busy := budgetEmpty(naps.now(), naps.now().Add(time.Second), "300") // one channel's
	if got := ask(busy, busy, busy, busy, busy); got != (Health{Answered: true}) {
		t.Errorf("after refusals about one channel: %+v", got)
	}
	ask(status(500, 500, 500, 500, 503)...)
	if err := naps.sleep(t.Context(), failureTime+1); err != nil {
		t.Fatal(err)
	}
	if got := h.Health(); got != (Health{Answered: true}) {
		t.Errorf("a minute after errors: %+v", got)
	}
}

// TestTrouble: while Twitch refuses everything, it is said until when.
func TestTrouble(t *testing.T) {
	now := newNaps().now() // 20:00 UTC
	h := &Helix{Now: func() time.Time { return now }}
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

// TestUnfinished: a request that is given up says what stood in its way.
func TestUnfinished(t *testing.T) {
	always := func(f faketwitch.Fault) func(*faketwitch.Server, *Helix) {
		return func(srv *faketwitch.Server, _ *Helix) {
			srv.SetHelixFaults(func(faketwitch.Request) (faketwitch.Fault, bool) { return f, true })
		}
	}
	for name, c := range map[string]struct {
		prepare func(*faketwitch.Server, *Helix)
		want    string
	}{
		"errors": {always(faketwitch.Fault{Status: 500, Message: "oops", Delay: time.Second}), "(Twitch: status 500, oops); given up (context deadline exceeded)"},
		"slow":   {always(faketwitch.Fault{Status: faketwitch.AsAsked, Delay: 9 * time.Second}), "delete message: Twitch didn't answer in time (context deadline exceeded)"},
		"one channel's": {always(faketwitch.Fault{Status: 429, Header: http.Header{"Ratelimit-Remaining": {"300"}, "Ratelimit-Reset": {"946684860"}}}),
			"Twitch takes no more requests about this channel for now; looser limits need less of them (Twitch: status 429); given up (context deadline exceeded)"},
		"refused": {func(_ *faketwitch.Server, h *Helix) { h.budget.hold(h.now().Add(time.Minute)) },
			"delete message: not sent in time: Twitch refused requests until 00:01:00 UTC (status 429) (context deadline exceeded)"},
		"no budget": {func(_ *faketwitch.Server, h *Helix) {
			if err := h.heed(t.Context(), answer{header: told(800, 0)}, 1); err != nil {
				t.Error(err)
			}
		}, "delete message: not sent in time: the request budget is used up (context deadline exceeded)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv, h := inMemory(t, faketwitch.Options{Channels: []string{"room"}, HelixBudget: -1})
			c.prepare(srv, h)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := h.DeleteMessage(ctx, Room{srv.UserID("room"), srv.BotID()}, "1")
			if !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), c.want) || errors.Is(err, ErrToken) {
				t.Errorf("%s: %v\nwant …%s", name, err, c.want)
			}
			if failed := h.Health().Failure; name == "slow" && failed != "" {
				t.Errorf("%s: we were impatient, but it says %q", name, failed)
			}
		})
	}
}
