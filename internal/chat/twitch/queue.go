package twitch

import (
	"context"
	"time"
)

// queueBatches bounds the queue. A batch holds what one read brought, at most readBuffer bytes.
const queueBatches = 128

// batch is the chat lines that arrived together.
type batch []string

// queue hands chat lines from the reader to the consumer.
type queue = queueOf[batch]

func newQueue(wait time.Duration) *queue { return newQueueOf[batch](wait) }

// queueOf hands what arrived from the reader to the consumer. When it is full the reader waits, and so the network pushes back on the server.
// Its patience is a token bucket of waiting time: waiting uses it up, each batch handed over gives a tenth back. So a consumer that
// stumbles loses nothing, and one that is stuck can't keep the reader from answering the server: lines are dropped then.
type queueOf[T any] struct {
	batches  chan T
	wait     time.Duration // all the patience there can be
	patience time.Duration // what is left of it; only the reader touches it
}

func newQueueOf[T any](wait time.Duration) *queueOf[T] {
	return &queueOf[T]{batches: make(chan T, queueBatches), wait: wait, patience: wait}
}

// push hands b over, and reports whether it could. Only one goroutine may push.
func (q *queueOf[T]) push(ctx context.Context, b T) bool {
	select {
	case q.batches <- b:
		q.encourage()
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
		q.encourage()
		return true
	case <-timer.C:
		q.patience = 0
	case <-ctx.Done():
	}
	return false
}

func (q *queueOf[T]) encourage() { q.patience = min(q.wait, max(0, q.patience)+q.wait/10) }
