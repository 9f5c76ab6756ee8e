package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// progressTick is how often long work can show its progress. Tests of whole commands change it.
var progressTick = time.Second

// runLongWork runs work until it is done or a signal ends its context. It prints the progress on
// standard error, as showProgress does at each progressTick. state returns the progress and runs
// concurrently with work. If a signal stops the work, the error contains unfinished.
func runLongWork(cmd *cobra.Command, state func() string, unfinished string, work func(context.Context) error) error {
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	ticker := time.NewTicker(progressTick)
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

const (
	// quickTicks is how many ticks pass in a terminal without output.
	quickTicks = 1
	// quietTicks is how many ticks pass elsewhere before the first line is printed.
	quietTicks = 10
)

// showProgress prints the state until done is closed. In a terminal, it prints the state at each
// tick after quickTicks, in place of the previous one, and finally clears the line. Elsewhere, such
// as in a log, it prints a line after quietTicks, and then each time that the number of ticks has
// doubled.
func showProgress(w io.Writer, state func() string, ticks <-chan time.Time, done <-chan struct{}) {
	if knowsEscapes(w) {
		animateProgress(w, state, ticks, done)
		return
	}
	next := quietTicks
	for tick := 1; ; tick++ {
		select {
		case <-done:
			return
		case <-ticks:
			if tick == next {
				fmt.Fprint(w, state(), " so far\n")
				next *= 2
			}
		}
	}
}

// animateProgress is showProgress in a terminal.
func animateProgress(w io.Writer, state func() string, ticks <-chan time.Time, done <-chan struct{}) {
	const clearLine = "\r\x1b[K"
	for tick := 1; ; tick++ {
		select {
		case <-done:
			if tick > quickTicks+1 {
				fmt.Fprint(w, clearLine)
			}
			return
		case <-ticks:
			if tick > quickTicks {
				fmt.Fprint(w, clearLine, clipTo(state()+" so far", terminalWidth(w)-1))
			}
		}
	}
}

// clipTo returns at most the first n characters of a text that must fit on one line. An n below 1
// means that the space isn't known.
func clipTo(text string, n int) string {
	if runes := []rune(text); n > 0 && len(runes) > n {
		return string(runes[:n])
	}
	return text
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
