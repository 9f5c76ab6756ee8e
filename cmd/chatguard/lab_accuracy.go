package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/lab"
)

// accuracyOptions are the flags of `chatguard lab accuracy`.
type accuracyOptions struct {
	limit    limitFlag
	poisson  float64
	messages int64
	seed     uint64
	asJSON   bool
}

func newLabAccuracyCommand() *cobra.Command {
	o := accuracyOptions{limit: limitFlag{
		usual: chatguard.SlidingWindow, single: true, limits: []chatguard.Limit{chatguard.SlidingWindowLimit("sliding-window", 50, defaultSpan)},
	}}
	cmd := &cobra.Command{
		Use:   "accuracy [FILE…]",
		Short: "Compare the estimate of a sliding window with the exact count",
		Long: `A sliding-window estimates how many messages were sent in the last period; a sliding-log counts them. This compares them in
two ways. Counted: both count every message, allowed or not; the estimate is wrong if only one of the two is above the
limit. Side by side: each allows what fits, and counts only what it allowed.

A FILE is recorded chat as replay reads it; - is standard input. Without a FILE, one user writes at independent random
times. Equal seeds give equal messages.`,
		Example: `  chatguard lab accuracy
  chatguard lab accuracy --poisson 50 --messages 100000 --seed 7
  chatguard lab accuracy --limit 'messages=20 every=30s' --json chat.irc.gz`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := o.check(cmd, files); err != nil {
				return err
			}
			return o.run(cmd, files)
		},
	}
	cmd.Flags().Var(&o.limit, "limit", "the sliding window, such as 'messages=50 every=60s' (the default)")
	cmd.Flags().Float64Var(&o.poisson, "poisson", 27, "messages per minute, on average")
	cmd.Flags().Int64Var(&o.messages, "messages", 1_000_000, "how many messages")
	cmd.Flags().Uint64Var(&o.seed, "seed", 1, "each number gives other times")
	jsonFlag(cmd, &o.asJSON)
	return cmd
}

// mostPoisson is the maximum number of random messages.
const mostPoisson = 1_000_000_000

func (o *accuracyOptions) check(cmd *cobra.Command, files []string) error {
	for _, name := range []string{"poisson", "messages", "seed"} {
		if cmd.Flags().Changed(name) && len(files) > 0 {
			return usageError{fmt.Errorf("--%s and a FILE exclude each other", name)}
		}
	}
	switch {
	case !(o.poisson > 0 && o.poisson <= 1e6):
		return usageError{fmt.Errorf("--poisson is %g: want more than 0, up to 1000000 per minute", o.poisson)}
	case o.messages < 1 || o.messages > mostPoisson:
		return usageError{fmt.Errorf("--messages is %d: want 1 to %d", o.messages, mostPoisson)}
	}
	return nil
}

// run measures, and prints the result.
func (o *accuracyOptions) run(cmd *cobra.Command, files []string) error {
	limit := o.limit.limits[0]
	meter, err := lab.NewAccuracyMeter(limit)
	if err != nil {
		return labError(limit, err)
	}
	if len(files) > 0 {
		err = readChat(cmd, files, meter.Add)
	} else {
		err = o.addPoisson(cmd, meter)
	}
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return printJSON(cmd.OutOrStdout(), meter.Result())
	}
	return printAccuracy(cmd.OutOrStdout(), limit, meter.Result())
}

// addPoisson adds random messages to the meter.
func (o *accuracyOptions) addPoisson(cmd *cobra.Command, meter *lab.AccuracyMeter) error {
	var added atomic.Int64
	state := func() string { return fmt.Sprintf("%d of %s", added.Load(), count(o.messages, "message")) }
	return runLongWork(cmd, state, "the rest was not measured", func(ctx context.Context) error {
		err := meter.AddPoisson(ctx, o.poisson, o.seed, o.messages, &added)
		if wrong := (*lab.Error)(nil); errors.As(err, &wrong) {
			return usageError{wrong}
		}
		return err
	})
}

func printAccuracy(out io.Writer, limit chatguard.Limit, a *lab.Accuracy) error {
	c, s := &a.Counted, &a.SideBySide
	fmt.Fprintf(out, "%s against the exact log: %s of %s\n\n", lab.Text(limit), count(a.Messages, "message"), count(int64(a.Users), "user"))
	fmt.Fprintf(out, "counted: the estimate is off by %.4f %% on average, by %.2f %% at most\n", c.MeanOffPercent, c.MostOffPercent)
	fmt.Fprintf(out, "  wrong decisions     %10d  %.4f %%\n", c.Wrong, c.WrongPercent)
	fmt.Fprintf(out, "    wrongly allowed   %10d\n    wrongly throttled %10d\n", c.WronglyAllowed, c.WronglyThrottled)
	fmt.Fprintf(out, "  users above the limit by the exact count %d, by the estimate %d\n", c.OverUsers, c.HeldUsers)
	fmt.Fprintf(out, "  of these missed %d, at worst %.1f %% above the limit; innocent %d\n\n", c.MissedUsers, 100*c.WorstMissed, c.InnocentUsers)
	fmt.Fprintln(out, "side by side")
	for _, row := range []struct {
		what string
		n    int64
	}{{"both allow", s.BothAllow}, {"only the window allows", s.OnlyWindowAllows}, {"only the log allows", s.OnlyLogAllows}, {"both throttle", s.BothThrottle}} {
		fmt.Fprintf(out, "  %-23s %10d  %s\n", row.what, row.n, bar(row.n, a.Messages, barWidth))
	}
	_, err := fmt.Fprintf(out, "  the window throttled %d, the log %d; the window let %d pass in one period at most\n", s.WindowThrottled, s.LogThrottled, s.MostLetPass)
	return err
}
