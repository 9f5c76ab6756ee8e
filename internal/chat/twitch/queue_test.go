package twitch

import (
	"context"
	"testing"
	"time"
)

func fullQueue(wait time.Duration) *Queue[int] {
	q := NewQueue[int](wait)
	for range QueueSize {
		q.Push(context.Background(), 0)
	}
	return q
}

func TestQueue_DropsWhenStuck(t *testing.T) {
	q := fullQueue(time.Millisecond)
	for range 3 {
		if q.Push(context.Background(), 0) {
			t.Fatal("a full queue that nobody empties took a batch")
		}
	}
	if q.patience > 0 {
		t.Errorf("still %v of patience, so the reader would wait on every batch", q.patience)
	}
	<-q.batches
	if !q.Push(context.Background(), 0) || q.patience <= 0 {
		t.Error("the queue had room again, and wasn't believed")
	}
}

func TestQueue_WaitsForRoom(t *testing.T) {
	q := fullQueue(time.Hour)
	go func() { <-q.batches }()
	if !q.Push(context.Background(), 0) {
		t.Error("dropped a batch although the consumer was at work")
	}
}

func TestQueue_EndsWithContext(t *testing.T) {
	q := fullQueue(time.Hour)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if q.Push(ctx, 0) {
		t.Error("took a batch although full")
	}
}
