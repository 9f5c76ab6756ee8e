package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// secondSignal is the minimum time between two signals for the second one to end the process at
// once. Many users send two signals when they mean one.
const secondSignal = time.Second

// newStopContext returns a context for commands that need to clean up. The context ends at the
// first signal, or after length if that comes earlier; zero means no such limit. A second signal,
// at least a second later, ends the process at once.
func newStopContext(ctx context.Context, length time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(secondSignal, stop) })
	if length == 0 {
		return ctx, stop
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	return ctx, func() { cancel(); stop() }
}
