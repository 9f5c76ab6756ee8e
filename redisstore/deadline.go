package redisstore

import (
	"context"
	"fmt"
	"time"
)

// errNoAnswer is why a context of this package has ended: the server had enough time for an answer.
// A context that ends for another reason says nothing about the server.
var errNoAnswer = fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)

// withTimeout is context.WithTimeout, with errNoAnswer as the cause.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, errNoAnswer)
}

// deadline is a context for all calls that begin within deadlineFor, and can't end earlier. A timer
// for each call would take a tenth of a node's processor time.
type deadline struct {
	ctx  context.Context
	made int64 // ns since the Store was opened
}

// deadlineFor is how long calls share a deadline. It is short compared with Options.Timeout.
const deadlineFor = 5 * time.Millisecond

// forCall returns a context that ends after Options.Timeout, or up to deadlineFor earlier.
func (s *Store) forCall(ctx context.Context) (context.Context, context.CancelFunc) {
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
