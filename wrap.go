package chatguard

import (
	"context"
	"fmt"
)

// MessageHandler does what a chat server does with a message: tell the others in the room, say.
type MessageHandler func(ctx context.Context, m Message) error

// Wrap puts the Guard in front of a handler: next is called with allowed messages only, each once its turn has come. A message that a
// leaky-bucket delays is held in the caller's goroutine, for its Verdict.Delay at most; when the context ends first, the context's error
// comes back, next isn't called, and what the message has cost stays spent. A HoldQueue holds messages without keeping the caller.
//
// A throttled message comes back as a *ThrottledError, one that can't be judged as the error of Check, anything else as the error of next. The
// handler that is returned is safe for concurrent use if next is.
func (g *Guard) Wrap(next MessageHandler) MessageHandler {
	return func(ctx context.Context, m Message) error {
		v, err := g.Check(ctx, m)
		if err != nil {
			return err
		}
		if !v.Allowed {
			return &ThrottledError{v}
		}
		if err := v.Hold(ctx); err != nil {
			return err
		}
		return next(ctx, m)
	}
}

// ThrottledError is a verdict that throttles, as an error.
type ThrottledError struct{ Verdict Verdict }

// Error says which limit stood in the way, and until when, for whoever wrote the message: "throttled by burst: the next message passes in 4 s".
func (e *ThrottledError) Error() string {
	if e.Verdict.Never {
		return fmt.Sprintf("throttled by %s: the message counts as more than may ever pass at once", e.Verdict.Limit)
	}
	return fmt.Sprintf("throttled by %s: the next message passes in %s", e.Verdict.Limit, Wait(e.Verdict.RetryAfter))
}
