package twitch

import (
	"context"
	"time"
)

// QueueSize is the capacity of a Queue.
const QueueSize = 128

// Queue passes batches from the reader to the consumer. While the queue is full, the reader waits,
// and the network slows down the server. A token bucket limits how long the reader waits. Waiting
// empties the bucket, and each batch handed over refills a tenth of it. A consumer that is slow for
// a moment therefore loses nothing. If the consumer is stuck, batches are dropped, so that the
// reader can still answer the server.
type Queue[T any] struct {
	batches  chan T
	wait     time.Duration // size of the bucket
	patience time.Duration // waiting time left in the bucket; used only by the reader
}

// NewQueue returns an empty queue whose bucket holds this much waiting time.
func NewQueue[T any](wait time.Duration) *Queue[T] {
	return &Queue[T]{batches: make(chan T, QueueSize), wait: wait, patience: wait}
}

// Fork returns a queue to the same consumer, for another goroutine that pushes. The new queue has a
// bucket of its own.
func (q *Queue[T]) Fork() *Queue[T] {
	return &Queue[T]{batches: q.batches, wait: q.wait, patience: q.wait}
}

// Batches returns the channel from which the consumer receives what was pushed.
func (q *Queue[T]) Batches() <-chan T { return q.batches }

// Push hands b over, and reports whether that succeeded. Only one goroutine may push.
func (q *Queue[T]) Push(ctx context.Context, b T) bool {
	select {
	case q.batches <- b:
		q.recover()
		return true
	default:
	}
	if q.patience <= 0 {
		return false
	}
	began := time.Now()
	timer := time.NewTimer(q.patience)
	defer timer.Stop()
	select {
	case q.batches <- b:
		q.patience -= time.Since(began)
		q.recover()
		return true
	case <-timer.C:
		q.patience = 0
	case <-ctx.Done():
	}
	return false
}

func (q *Queue[T]) recover() { q.patience = min(q.wait, max(0, q.patience)+q.wait/10) }
