package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/lab"
	"github.com/chatguard/chatguard/limitinfo"
)

// limitHelp explains the flag --limit.
func limitHelp() string {
	lines := []string{"\n\nA --limit is an algorithm and its parameters as in the configuration, such as 'token-bucket burst=3 refill=4s':\n"}
	names := func(parameters []limitinfo.Parameter) string {
		var names []string
		for _, p := range parameters {
			names = append(names, p.Name)
		}
		return strings.Join(names, ", ")
	}
	var ofText string
	for _, info := range limitinfo.Algorithms() {
		lines = append(lines, fmt.Sprintf("  %-15s %s", info.Name, names(info.Parameters)))
		ofText = cmp.Or(ofText, names(info.TextParameters))
	}
	lines = append(lines, "\nAll take per and count_throttled, too. Limits on repeated text (per=user-text or per=text) also take\n"+
		ofText+". A leaky-bucket can't be one, and only compare has texts.")
	return strings.Join(lines, "\n")
}

// limitFlag is a flag for limits. It may be repeated.
type limitFlag struct {
	limits []chatguard.Limit
	usual  chatguard.Algorithm // assumed for a text without an algorithm; empty means none
	single bool                // a further limit replaces the one before
}

// String returns the default for the help, which is empty.
func (f *limitFlag) String() string { return "" }

// Set parses the flag.
func (f *limitFlag) Set(text string) error {
	l, err := lab.ParseLimit(text, f.usual)
	if err != nil {
		return err
	}
	if f.single {
		f.limits = nil
	}
	f.limits = append(f.limits, l)
	return nil
}

// Type returns the flag's type for the help.
func (*limitFlag) Type() string { return "limit" }

// pauseFlag is a flag for the pauses of a sender. It may be repeated.
type pauseFlag []lab.Pause

func (*pauseFlag) String() string { return "" }

// Set parses the flag.
func (f *pauseFlag) Set(text string) error {
	var p lab.Pause
	if err := p.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	*f = append(*f, p)
	return nil
}

// Type returns the flag's type for the help.
func (*pauseFlag) Type() string { return "pause" }

const (
	defaultSpan = time.Minute
	barWidth    = 40 // of the longest bar, in characters
)

// spanFlag adds the flag --span for the length of a stretch of time. The default is one minute.
func spanFlag(cmd *cobra.Command, span *duration) {
	*span = duration(defaultSpan)
	cmd.Flags().Var(span, "span", "length of the stretch, such as 60s or 1h")
}

// needLimits refuses a command line without --limit.
func needLimits(cmd *cobra.Command, limits []chatguard.Limit) error {
	if len(limits) == 0 {
		return usageError{fmt.Errorf("%s needs --limit, such as --limit 'token-bucket burst=3 refill=4s'", cmd.CommandPath())}
	}
	return nil
}

// eachLimit calls measure with one limit after another, and shows the progress. An error about a
// limit is a usage error that names the limit.
func eachLimit(cmd *cobra.Command, limits []chatguard.Limit, measure func(context.Context, chatguard.Limit) error) error {
	var done atomic.Int64
	state := func() string { return fmt.Sprintf("%d of %s", done.Load(), count(int64(len(limits)), "limit")) }
	return runLongWork(cmd, state, "the rest was not measured", func(ctx context.Context) error {
		for _, l := range limits {
			if err := measure(ctx, l); err != nil {
				return labError(l, err)
			}
			done.Add(1)
		}
		return nil
	})
}

// labError returns the error about a limit as a usage error, and any other unchanged.
func labError(l chatguard.Limit, err error) error {
	if wrong := (*lab.Error)(nil); errors.As(err, &wrong) {
		if wrong.Lane == 0 { // it isn't about the limit
			return usageError{wrong}
		}
		return usageError{fmt.Errorf("--limit '%s': %s", lab.Text(l), wrong.Text)}
	}
	return err
}

// bar returns a bar for n. A bar for most is width characters wide.
func bar(n, most int64, width int) string {
	if most <= 0 {
		return ""
	}
	eighths := n * int64(width) * 8 / most
	return strings.Repeat("█", int(eighths/8)) + [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[eighths%8]
}

// columns returns numbers as columns next to each other, each at most one line high.
func columns(numbers []int, most int) string {
	var b strings.Builder
	for _, n := range numbers {
		b.WriteString([...]string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}[(8*n+most-1)/max(1, most)])
	}
	return b.String()
}
