package limits

import (
	"testing"
	"time"
)

// queued is a message at a leaky bucket, in seconds: how long it waits in the queue, or until it
// may be sent again.
type queued struct {
	at    float64
	n     int64
	ok    bool
	delay float64
	retry float64 // -1 means never
}

func runQueue(t *testing.T, table *Table, steps []queued) {
	t.Helper()
	for i, s := range steps {
		peeked := table.Peek("7", &Request{At: nanos(s.at), Cost: max(s.n, 1)})
		run(t, table, []step{{at: s.at, n: s.n, ok: s.ok, retry: s.retry}})
		if want := nanos(s.at) + int64(s.delay*1e9+0.5); s.ok && peeked.LeaveAt != want {
			t.Fatalf("step %d at %v s: delay is %v, want %v s", i, s.at, time.Duration(peeked.LeaveAt-nanos(s.at)), s.delay)
		}
	}
}

func TestLeakyBucket(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit Limit
		steps []queued
	}{
		{"one leaves, two wait", leakyLimit(time.Second, 2), []queued{
			{at: 0, ok: true}, {at: 0, ok: true, delay: 1}, {at: 0, ok: true, delay: 2}, {at: 0, retry: 1},
		}},
		{"one leaves every second", leakyLimit(time.Second, 2), []queued{
			{at: 0, n: 3, ok: true},
			{at: 1, ok: true, delay: 2}, {at: 1, retry: 1}, {at: 1.5, retry: 0.5}, {at: 2, ok: true, delay: 2}, {at: 2.5, retry: 0.5},
		}},
		{"the message that is leaving takes no place", leakyLimit(time.Second, 0), []queued{
			{at: 0, ok: true}, {at: 0, retry: 1}, {at: 0.5, retry: 0.5}, {at: 1, ok: true}, {at: 5, ok: true}, {at: 5, n: 2, retry: -1},
		}},
		{"a cost above one takes places", leakyLimit(time.Second, 2), []queued{
			{at: 0, n: 2, ok: true}, {at: 0, n: 2, retry: 1}, {at: 0, ok: true, delay: 2}, {at: 0, n: 3, retry: 3}, {at: 0, n: 4, retry: -1},
		}},
		{"a late message waits as of the last", leakyLimit(time.Second, 2), []queued{
			{at: 10, ok: true}, {at: 9.75, ok: true, delay: 1.25}, {at: 9.75, ok: true, delay: 2.25}, {at: 9.75, retry: 1.25},
		}},
		{"a jump back keeps a full queue and no more", leakyLimit(time.Second, 2), []queued{
			{at: 1000, n: 3, ok: true}, {at: 100, retry: 1}, {at: 101, ok: true, delay: 2}, {at: 101, retry: 1},
		}},
		{"a jump back keeps a queue that isn't full", leakyLimit(time.Second, 2), []queued{
			{at: 1000, n: 2, ok: true}, {at: 100, ok: true, delay: 2}, {at: 100, retry: 1}, {at: 105, ok: true},
		}},
	} {
		t.Run(test.name, func(t *testing.T) { runQueue(t, newTable(t, test.limit), test.steps) })
	}
}

func TestQueues_LongestDelayApplies(t *testing.T) {
	// The first three messages take the places at seconds 0 to 2 in the quick queue, although the
	// slow queue holds them for longer. The quick queue never adds to the delay.
	slow, quick := leakyLimit(10*time.Second, 2).withName("slow"), leakyLimit(time.Second, 2).withName("quick")
	for _, limits := range [][]Limit{{slow, quick}, {quick, slow}} {
		runQueue(t, newTable(t, limits...), []queued{
			{at: 0, ok: true}, {at: 0, ok: true, delay: 10}, {at: 0, ok: true, delay: 20}, {at: 0, retry: 10},
			{at: 10, ok: true, delay: 20}, {at: 10, retry: 10},
		})
	}
}

// User X's messages wait for up to 8 s in the user's own queue. They don't delay user Y in the
// channel's queue, which releases ten messages per second.
func TestQueues_SlowOneBlocksNobodyElse(t *testing.T) {
	sets := compileSets(t, Strikes{}, leakyLimit(4*time.Second, 3).withName("own"), leakyLimit(100*time.Millisecond, 50).withName("shared").withScope(PerChannel))
	own, shared := NewTable(sets[PerUser], 1<<30, new(Dropped)), NewTable(sets[PerChannel], 1<<30, new(Dropped))
	for i, want := range []struct {
		user  string
		delay time.Duration
	}{
		{"X", 0}, {"X", 4 * time.Second}, {"X", 8 * time.Second}, {"Y", 300 * time.Millisecond}, {"Y", 4 * time.Second},
	} {
		var d Decision
		own.Judge(want.user, &Request{At: nanos(0), Cost: 1}, &d, Place{Table: shared, User: theChannel})
		if got := time.Duration(d.LeaveAt - nanos(0)); !d.Allowed || got != want.delay {
			t.Errorf("message %d, of %s: allowed is %v, delay %v, want %v", i, want.user, d.Allowed, got, want.delay)
		}
	}
}

func TestQueues_ObservingDelaysNobody(t *testing.T) {
	table := newTable(t, leakyLimit(time.Second, 2).withObserves())
	for range 5 {
		if d := table.send(0, 1); !d.Allowed || d.LeaveAt != nanos(0) {
			t.Fatalf("it is delayed: %+v", d)
		}
	}
}
