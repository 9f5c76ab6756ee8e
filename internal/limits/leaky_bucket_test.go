package limits

import (
	"testing"
	"time"
)

// queued is a message at a leaky bucket, in seconds: how long it has to wait in the queue, or until it may be sent again.
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
		{"one leaves, two wait", leaky(time.Second, 2), []queued{
			{at: 0, ok: true}, {at: 0, ok: true, delay: 1}, {at: 0, ok: true, delay: 2}, {at: 0, retry: 1},
		}},
		{"one leaves every second", leaky(time.Second, 2), []queued{
			{at: 0, n: 3, ok: true},
			{at: 1, ok: true, delay: 2}, {at: 1, retry: 1}, {at: 1.5, retry: 0.5}, {at: 2, ok: true, delay: 2}, {at: 2.5, retry: 0.5},
		}},
		{"the message that is leaving takes no place", leaky(time.Second, 0), []queued{
			{at: 0, ok: true}, {at: 0, retry: 1}, {at: 0.5, retry: 0.5}, {at: 1, ok: true}, {at: 5, ok: true}, {at: 5, n: 2, retry: -1},
		}},
		{"a cost above one takes places", leaky(time.Second, 2), []queued{
			{at: 0, n: 2, ok: true}, {at: 0, n: 2, retry: 1}, {at: 0, ok: true, delay: 2}, {at: 0, n: 3, retry: 3}, {at: 0, n: 4, retry: -1},
		}},
		{"a late message waits as of the last", leaky(time.Second, 2), []queued{
			{at: 10, ok: true}, {at: 9.75, ok: true, delay: 1.25}, {at: 9.75, ok: true, delay: 2.25}, {at: 9.75, retry: 1.25},
		}},
		{"a jump back keeps a full queue and no more", leaky(time.Second, 2), []queued{
			{at: 1000, n: 3, ok: true}, {at: 100, retry: 1}, {at: 101, ok: true, delay: 2}, {at: 101, retry: 1},
		}},
	} {
		t.Run(test.name, func(t *testing.T) { runQueue(t, newTable(t, test.limit), test.steps) })
	}
}

func TestQueuesBookFromTheLongestDelay(t *testing.T) {
	// The second message leaves at 10 s. The quick queue is booked from then on too: to 11 s, which is more than its 3 s until 9 s.
	slow, quick := leaky(10*time.Second, 2).named("slow"), leaky(time.Second, 2).named("quick")
	for _, limits := range [][]Limit{{slow, quick}, {quick, slow}} {
		runQueue(t, newTable(t, limits...), []queued{
			{at: 0, ok: true}, {at: 0, ok: true, delay: 10}, {at: 0, retry: 9}, {at: 9, ok: true, delay: 11}, {at: 9, retry: 10},
		})
	}
}

func TestAQueueThatObservesDelaysNobody(t *testing.T) {
	table := newTable(t, leaky(time.Second, 2).observing())
	for range 5 {
		if d := table.send(0, 1); !d.Allowed || d.LeaveAt != nanos(0) {
			t.Fatalf("it is delayed: %+v", d)
		}
	}
}
