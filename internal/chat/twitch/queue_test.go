package twitch

import (
	"context"
	"testing"
	"time"
)

func fullQueue(wait time.Duration) *queue {
	q := newQueue(wait)
	for range queueBatches {
		q.push(context.Background(), batch{})
	}
	return q
}

func TestQueueDropsWhenStuck(t *testing.T) {
	q := fullQueue(time.Millisecond)
	for range 3 {
		if q.push(context.Background(), batch{}) {
			t.Fatal("a full queue that nobody empties took a batch")
		}
	}
	if q.patience > 0 {
		t.Errorf("still %v of patience, so the reader would wait on every batch", q.patience)
	}
	<-q.batches
	if !q.push(context.Background(), batch{}) || q.patience <= 0 {
		t.Error("the queue had room again, and wasn't believed")
	}
}

func TestQueueWaitsForRoom(t *testing.T) {
	q := fullQueue(time.Hour)
	go func() { <-q.batches }()
	if !q.push(context.Background(), batch{}) {
		t.Error("dropped a batch although the consumer was at work")
	}
}

func TestQueueEndsWithContext(t *testing.T) {
	q := fullQueue(time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if q.push(ctx, batch{}) {
		t.Error("took a batch although full")
	}
}
