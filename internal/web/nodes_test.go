package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard/internal/web/live"
	"github.com/chatguard/chatguard/shared"
)

func TestNodes_Off(t *testing.T) {
	for name, state := range map[string]func() live.Shared{
		"no hook": nil,
		"off":     func() live.Shared { return live.Shared{Mode: live.ShareOff} },
		"nothing": func() live.Shared { return live.Shared{} },
	} {
		d := dash(t, func(o *Options) { o.Live.Shared = state })
		if a := d.do("GET", "/api/v1/nodes", nil, asOwner); strings.TrimSpace(string(a.body)) != `{"mode":"off","nodes":[]}` {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
	}
}

// nodesShare returns how the nodes share limits.
func nodesShare() live.Shared {
	return live.Shared{Mode: shared.Exact, Health: shared.Health{
		Up: true, Since: time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC), Server: "redis 7.0.15", Nodes: 3,
		RoundTrip: 420 * time.Microsecond, Offset: -1500 * time.Microsecond, Skew: 5 * time.Millisecond,
	}}
}

// threeNodes are what a node knows, with every field set that is shown.
func threeNodes(at time.Time) []shared.Node {
	overshoot := 0.014
	counts := shared.Counts{Swaps: 123_456, Conflicts: 2_100, FromMemory: 98_765, Offline: 16, Pending: 2, Healed: 3, Unreadable: 1}
	const off, most = 100 * time.Microsecond, 300 * time.Microsecond
	return []shared.Node{
		{Name: "chat-1", Version: "0.1.0", Address: "10.0.0.1:8080", Mode: shared.Exact, Started: at.Add(-49 * time.Hour), Self: true, Offset: -1500 * time.Microsecond, Error: most, MessagesPerSecond: 12.42, Counts: counts, Overshoot: &overshoot},
		{Name: "chat-2", Version: "0.1.0", Address: "10.0.0.2:8080", Mode: shared.Exact, Started: at.Add(-10 * time.Minute), Offset: off, Error: most, MessagesPerSecond: 140},
		{Name: "node-with-a-rather-long-name.cluster.internal", Version: "0.2.0-rc.1", Mode: shared.Synchronised, Started: at.Add(-time.Second), Offset: 91 * time.Second, Error: 4 * most},
	}
}

func TestNodes_Answer(t *testing.T) {
	at := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	d := dash(t, func(o *Options) {
		o.Live.Shared = nodesShare
		o.Nodes = func(context.Context) ([]shared.Node, error) { return threeNodes(at), nil }
	})
	a := d.do("GET", "/api/v1/nodes", nil, asOwner)
	for _, want := range []string{
		`{"mode":"exact","up":true,"since":"2026-01-05T14:02:00Z","round_trip_ns":420000,"offset_ns":-1500000,"skew_ns":5000000,"live_nodes":3,"server":"redis 7.0.15","nodes":[{`,
		`"counts":{"swaps":123456,"conflicts":2100,"from_memory":98765,"offline":16,"unreadable":1,"healed":3,"overdrawn":0,"exchanged":0,"assumed":0,"lost":0,"rows":0,"pending":2},"messages_per_second":12.42,"overshoot":0.014,`,
		`{"name":"chat-2","version":"0.1.0","address":"10.0.0.2:8080","mode":"exact","number":0,"started":"2026-01-05T13:52:00Z","offset_ns":100000,"error_ns":300000,"counts":{"swaps":0,`,
	} {
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nlacks %s", a.body, want)
		}
	}
	d.wantStatus("with a parameter", http.StatusUnprocessableEntity, "GET", "/api/v1/nodes?channel=7", nil, asOwner)
}

// While the store is away, this node is listed as it was last known, with its present counts.
func TestNodes_Away(t *testing.T) {
	at := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	now, up, offline := at, true, int64(16)
	lister := newNodeLister(
		func(context.Context) ([]shared.Node, error) {
			if !up {
				return nil, errors.New("away")
			}
			return threeNodes(at), nil
		},
		func() live.Shared { return live.Shared{Mode: shared.Exact, Health: shared.Health{Up: up}} },
		func() shared.Counts { return shared.Counts{Offline: offline} },
		func() time.Time { return now },
	)
	for _, want := range []int{3, 1, 1} {
		n, err := lister.ask(t.Context())
		if err != nil || n.Up != up || len(n.List) != want || !n.List[0].Self || n.List[0].Counts.Offline != offline || n.Counts.Offline != offline {
			t.Errorf("%+v, %v; want %d nodes and %d messages without the store", n, err, want, offline)
		}
		now, up, offline = now.Add(nodesFresh), false, offline+1
	}
}

// However many dashboards ask, the shared store is asked once per second. A caller that goes away
// doesn't end the question for the others.
func TestNodes_AskedOncePerSecond(t *testing.T) {
	now := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	var asked atomic.Int64
	asking, answer := make(chan struct{}, 1), make(chan struct{})
	h := newNodeLister(func(ctx context.Context) ([]shared.Node, error) {
		asked.Add(1)
		asking <- struct{}{}
		<-answer
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the question has no deadline")
		}
		return threeNodes(now), ctx.Err()
	}, nodesShare, func() (c shared.Counts) { return c }, func() time.Time { return now })
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	callers.Go(func() {
		if got, err := h.ask(ctx); err != nil || len(got.List) != 3 {
			t.Errorf("%d nodes, %v", len(got.List), err)
		}
	})
	<-asking
	cancel()
	if _, err := h.ask(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away while it waited: %v", err)
	}
	for range 50 {
		callers.Go(func() {
			if got, err := h.ask(t.Context()); err != nil || len(got.List) != 3 {
				t.Errorf("%d nodes, %v", len(got.List), err)
			}
		})
	}
	close(answer)
	callers.Wait()
	for _, step := range []struct {
		wait time.Duration
		want int64
	}{{0, 1}, {nodesFresh - 1, 1}, {1, 2}, {-time.Hour, 3}, {0, 3}} {
		now = now.Add(step.wait)
		for len(asking) > 0 {
			<-asking
		}
		if _, err := h.ask(t.Context()); err != nil || asked.Load() != step.want {
			t.Errorf("%v later: asked %d times, want %d; %v", step.wait, asked.Load(), step.want, err)
		}
	}
}

func TestNodes_NotListed(t *testing.T) {
	d := dash(t, func(o *Options) {
		o.Live.Shared = nodesShare
		o.Nodes = func(context.Context) ([]shared.Node, error) { return nil, errors.New("dial tcp 10.0.0.9:6379") }
	})
	d.wantProblem("nodes", "GET", "/api/v1/nodes", nil, owned, http.StatusServiceUnavailable, "The shared store doesn't list the nodes; chatguard's log has the details.")
}
