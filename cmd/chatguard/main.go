// Command chatguard moderates a chat: it holds every chatter to the limits of a policy, acts on what goes beyond, keeps that in SQLite, and
// serves a dashboard. It joins the packages below internal, which don't know one another.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/chatguard/chatguard/internal/config"
)

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2 // wrong usage or configuration
)

func main() {
	os.Exit(execute(context.Background(), os.Args[1:]))
}

// secondSignal is how long after the first signal another one begins to mean that the process shall end at once: many send two where they mean one.
const secondSignal = time.Second

// untilStopped is for commands that have something to put in order at their end: the context ends at the first signal, and after the length
// where there is one. A second signal, a second later, ends the process at once.
func untilStopped(ctx context.Context, length time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(secondSignal, stop) })
	if length == 0 {
		return ctx, stop
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	return ctx, func() { cancel(); stop() }
}

// execute runs a command line and returns the exit code. An error is one line.
func execute(ctx context.Context, args []string) int {
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	printLine(os.Stderr, "chatguard: %v", err)
	var usage usageError
	var badConfig *config.Error
	if errors.As(err, &usage) || errors.As(err, &badConfig) {
		return exitUsage
	}
	return exitFailed
}

// usageError is a command line that can't be followed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }
