package chat

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrStandby means that this node doesn't act in the channel now. Usually another one does.
var ErrStandby = errors.New("this node doesn't act in this channel now")

type permitKey struct{}

// withPermit returns a context for requests that are only allowed while permit returns no error.
func withPermit(ctx context.Context, permit func() (until time.Time, err error)) context.Context {
	return context.WithValue(ctx, permitKey{}, permit)
}

// Permitted returns an error if a request must not be sent now. Otherwise, until is when the
// request must have been answered; zero means no limit. A Moderator calls it directly before each
// request, because the process may have been suspended since the request was made.
func Permitted(ctx context.Context) (until time.Time, err error) {
	if permit, ok := ctx.Value(permitKey{}).(func() (time.Time, error)); ok {
		return permit()
	}
	return time.Time{}, nil
}

type requestKey struct{}

// withRequestNote returns a context whose first request calls note.
func withRequestNote(ctx context.Context, note func()) context.Context {
	return context.WithValue(ctx, requestKey{}, sync.OnceFunc(note))
}

// NoteRequest records that a request is about to be sent. A Moderator calls it directly before each
// request.
func NoteRequest(ctx context.Context) {
	if note, ok := ctx.Value(requestKey{}).(func()); ok {
		note()
	}
}

type idleKey struct{}

// WithIdle returns a context with which Idle passes its waits to idle.
func WithIdle(ctx context.Context, idle func(why error, wait func() error) error) context.Context {
	return context.WithValue(ctx, idleKey{}, idle)
}

// Idle calls wait and returns its error. Meanwhile, another penalty may take the place of the one
// that the context belongs to. Before a Moderator retries a request, it waits in Idle; why is the
// error of the previous try.
func Idle(ctx context.Context, why error, wait func() error) error {
	if idle, ok := ctx.Value(idleKey{}).(func(error, func() error) error); ok {
		return idle(why, wait)
	}
	return wait()
}
