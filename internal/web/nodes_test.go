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
)

func TestNodes_Off(t *testing.T) {
	for name, list := range map[string]func(context.Context) (Nodes, error){
		"no hook": nil,
		"off":     func(context.Context) (Nodes, error) { return Nodes{Shared: live.Shared{Mode: live.ShareOff}}, nil },
		"nothing": func(context.Context) (Nodes, error) { return Nodes{}, nil },
	} {
		d := dash(t, func(o *Options) { o.Nodes = list })
		if a := d.do("GET", "/api/v1/nodes", nil, asOwner); strings.TrimSpace(string(a.body)) != `{"mode":"off","nodes":[]}` {
			t.Errorf("%s: %s %s", name, a.Status, a.body)
		}
	}
}

// threeNodes are what a node knows, with every field set.
func threeNodes(at time.Time) Nodes {
	overshoot := 0.014
	return Nodes{
		Shared: live.Shared{Mode: live.ShareExact, Up: true, Since: at}, Server: "redis 7.0.15",
		RoundTripMS: 0.42, OffsetMS: -1.5, SkewMS: 5,
		Swaps: 123_456, Conflicts: 2_100, FromMemory: 98_765, Apart: 17, Owed: 2, Healed: 3, Unreadable: 1, Overshoot: &overshoot,
		Nodes: []Node{
			{Name: "chat-1", Version: "0.1.0", Address: "10.0.0.1:8080", Mode: live.ShareExact, Started: at.Add(-49 * time.Hour), Self: true, OffsetMS: -1.5, ErrorMS: 0.3, MessagesPerSecond: 12.42, FromMemory: 98_765, Apart: 17, Owed: 2},
			{Name: "chat-2", Version: "0.1.0", Address: "10.0.0.2:8080", Mode: live.ShareExact, Started: at.Add(-10 * time.Minute), OffsetMS: 0.1, ErrorMS: 0.3, MessagesPerSecond: 140},
			{Name: "node-with-a-rather-long-name.cluster.internal", Version: "0.2.0-rc.1", Mode: live.ShareSynchronised, Started: at.Add(-time.Second), OffsetMS: 91_000, ErrorMS: 1.2},
		},
	}
}

func TestNodes_Answer(t *testing.T) {
	at := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	d := dash(t, func(o *Options) { o.Nodes = func(context.Context) (Nodes, error) { return threeNodes(at), nil } })
	a := d.do("GET", "/api/v1/nodes", nil, asOwner)
	for _, want := range []string{
		`{"mode":"exact","up":true,"since":"2026-01-05T14:02:00Z","server":"redis 7.0.15","if_equal":false,"round_trip_ms":0.42,"offset_ms":-1.5,"skew_ms":5,`,
		`"swaps":123456,"conflicts":2100,"from_memory":98765,"apart":17,"owed":2,"healed":3,"unreadable":1,"overshoot":0.014,"nodes":[{`,
		`{"name":"chat-2","version":"0.1.0","address":"10.0.0.2:8080","mode":"exact","started":"2026-01-05T13:52:00Z","self":false,"offset_ms":0.1,"error_ms":0.3,"messages_per_second":140,"from_memory":0,"apart":0,"owed":0}`,
	} {
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nlacks %s", a.body, want)
		}
	}
	d.wantStatus("with a parameter", http.StatusUnprocessableEntity, "GET", "/api/v1/nodes?channel=7", nil, asOwner)
}

// While the store is away, this node is listed as it was last known.
func TestNodes_Away(t *testing.T) {
	at := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	now, fails := at, false
	lister := newNodeLister(func(context.Context) (Nodes, error) {
		n := threeNodes(at)
		if fails {
			n.Up, n.Nodes = false, nil
			return n, errors.New("away")
		}
		return n, nil
	}, func() time.Time { return now })
	for _, want := range []int{3, 1, 1} {
		if n, err := lister.ask(t.Context()); err != nil || len(n.Nodes) != want || !n.Nodes[0].Self {
			t.Errorf("%+v, %v; want %d nodes", n.Nodes, err, want)
		}
		now, fails = now.Add(nodesFresh), true
	}
}

// However many dashboards ask, the shared store is asked once per second. A caller that goes away
// doesn't end the question for the others.
func TestNodes_AskedOncePerSecond(t *testing.T) {
	now := time.Date(2026, 1, 5, 14, 2, 0, 0, time.UTC)
	var asked atomic.Int64
	asking, answer := make(chan struct{}, 1), make(chan struct{})
	h := newNodeLister(func(ctx context.Context) (Nodes, error) {
		asked.Add(1)
		asking <- struct{}{}
		<-answer
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the question has no deadline")
		}
		return threeNodes(now), ctx.Err()
	}, func() time.Time { return now })
	ctx, cancel := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	callers.Go(func() {
		if got, err := h.ask(ctx); err != nil || len(got.Nodes) != 3 {
			t.Errorf("%d nodes, %v", len(got.Nodes), err)
		}
	})
	<-asking
	cancel()
	if _, err := h.ask(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that went away while it waited: %v", err)
	}
	for range 50 {
		callers.Go(func() {
			if got, err := h.ask(t.Context()); err != nil || len(got.Nodes) != 3 {
				t.Errorf("%d nodes, %v", len(got.Nodes), err)
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
		o.Nodes = func(context.Context) (Nodes, error) { return Nodes{}, errors.New("dial tcp 10.0.0.9:6379") }
	})
	d.wantProblem("nodes", "GET", "/api/v1/nodes", nil, owned, http.StatusServiceUnavailable, "The shared store doesn't list the nodes.")
}
