package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// noAnswer is why a context of this package has ended: the server had enough time for an answer. A
// context that ends for another reason says nothing about the server.
type noAnswer struct{ waited time.Duration }

// Error implements error.
func (e *noAnswer) Error() string { return fmt.Sprintf("no answer within %s", e.waited) }

// Unwrap returns context.DeadlineExceeded.
func (e *noAnswer) Unwrap() error { return context.DeadlineExceeded }

// withTimeout is context.WithTimeout, with a noAnswer as the cause.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, &noAnswer{d})
}

// timedOut returns the noAnswer that has ended ctx, or nil.
func timedOut(ctx context.Context) *noAnswer {
	late, _ := errors.AsType[*noAnswer](context.Cause(ctx))
	return late
}

// withWait returns cause, which is why a call has failed. If cause only says that the time is over,
// withWait returns the noAnswer of ctx instead.
func withWait(ctx context.Context, cause error) error {
	if late := timedOut(ctx); late != nil && (cause == nil || cause == context.DeadlineExceeded || cause == errNotSent) {
		return late
	}
	return cause
}

// deadline is a context for all calls that begin within deadlineFor and whose own context never
// ends. A timer for each call would take a tenth of a node's processor time.
type deadline struct {
	ctx  context.Context
	made int64 // ns since the Store was opened
}

// deadlineFor is how long calls share a deadline. It is short compared with Options.Timeout.
const deadlineFor = 5 * time.Millisecond

// forCall returns a context that ends after Options.Timeout, or up to deadlineFor earlier.
func (s *server) forCall(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Done() != nil || s.options.Timeout < 4*deadlineFor {
		return withTimeout(ctx, s.options.Timeout)
	}
	now := s.since()
	if d := s.deadline.Load(); d != nil && now-d.made < int64(deadlineFor) {
		return d.ctx, func() {}
	}
	shared, cancel := withTimeout(s.background, s.options.Timeout)
	context.AfterFunc(shared, cancel) // frees it once it has ended
	s.deadline.Store(&deadline{shared, now})
	return shared, func() {}
}

// sleep waits, or returns early if ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// signal wakes the receiver of a channel that has room for one element.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default: // the receiver will wake up anyway
	}
}
