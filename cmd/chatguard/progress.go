package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// runLongWork runs work until it is done or a signal ends its context. After two seconds, it prints
// the progress once per second on standard error. state returns the progress and runs concurrently
// with work. If a signal stops the work, the error contains unfinished.
func runLongWork(cmd *cobra.Command, state func() string, unfinished string, work func(context.Context) error) error {
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	done := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() { showProgress(cmd.ErrOrStderr(), state, ticker.C, done) })
	defer showing.Wait()
	defer close(done)
	err := work(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errors.New("stopped: " + unfinished)
	}
	return err
}

// quickTicks is how many ticks pass without output.
const quickTicks = 1

// showProgress prints the state at each tick until done is closed. In a terminal, each text
// replaces the previous one, and the last one is cleared.
func showProgress(w io.Writer, state func() string, ticks <-chan time.Time, done <-chan struct{}) {
	before, after, last := "", "\n", ""
	if isTerminal(w) {
		before, after, last = "\r\x1b[K", "", "\r\x1b[K" // go to the start of the line and clear it
	}
	for tick := 1; ; tick++ {
		select {
		case <-done:
			if tick > quickTicks+1 {
				fmt.Fprint(w, last)
			}
			return
		case <-ticks:
			if tick > quickTicks {
				fmt.Fprint(w, before, state(), " so far", after)
			}
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// byteCount formats a size for people: 1.2 MB.
func byteCount(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	size, unit := float64(bytes)/1000, 0
	for ; size >= 999.95 && unit < 3; unit++ {
		size /= 1000
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGT"[unit])
}

func rowCount(rows int64) string { return count(rows, "row") }

// count formats a number of things.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// moment formats a time for people, in their zone.
func moment(at time.Time) string { return at.Local().Format("2006-01-02 15:04:05 MST") }
