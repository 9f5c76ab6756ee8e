package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/lab"
)

// pushedLane is what an eager sender gets through one limit.
type pushedLane struct {
	Limit string `json:"limit"`
	lab.Pushed
}

func newLabPushCommand() *cobra.Command {
	plan := lab.Article()
	var pauses pauseFlag
	var limits limitFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "push",
		Short: "Measure what an eager sender gets through each limit",
		Long: `An eager sender has many messages, and sends each at the first nanosecond at which the limit allows it, except in pauses
and outside its turn. What waits in the queue of a leaky-bucket counts when it leaves.

Without flags, the sender starts 500 ms after a full second, pauses for 500 ms after 4 s and for 1 s after 6 s, and tries
nine limits of 1,000 messages per second.` + limitHelp(),
		Example: `  chatguard lab push
  chatguard lab push --messages 100 --limit 'token-bucket burst=3 refill=4s' --limit 'sliding-log messages=15 every=60s'
  chatguard lab push --start 0s --turn 10ms/1s --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags := cmd.Flags(); flags.Changed("pause") || flags.Changed("start") || flags.Changed("turn") {
				plan.Pauses = pauses
			}
			if plan.Messages == 0 {
				return usageError{fmt.Errorf("--messages is 0: use 1 to %d", lab.MaxPushed)}
			}
			if err := plan.Check(); err != nil {
				return usageError{fmt.Errorf("--%w", err)}
			}
			if limits.limits == nil {
				limits.limits = lab.ArticleLimits()
			}
			return push(cmd, plan, limits.limits, asJSON)
		},
	}
	cmd.Flags().IntVar(&plan.Messages, "messages", plan.Messages, "how many messages the sender has")
	cmd.Flags().TextVar(&plan.Start, "start", plan.Start, "how long after a full second the sender starts, as a `time` such as 500ms")
	cmd.Flags().Var(&pauses, "pause", "a pause, such as 4s+500ms: from 4s on, for 500ms; may be repeated")
	cmd.Flags().TextVar(&plan.Turn, "turn", plan.Turn, "when the sender may send, as a `turn` such as 10ms/1s: the first 10ms of each second")
	cmd.Flags().Var(&limits, "limit", "a limit to try; may be repeated")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// push runs the sender against each limit, and prints how many of its messages passed.
func push(cmd *cobra.Command, plan lab.Push, limits []chatguard.Limit, asJSON bool) error {
	var lanes []pushedLane
	err := eachLimit(cmd, limits, func(ctx context.Context, l chatguard.Limit) error {
		pushed, err := lab.RunPush(ctx, plan, l)
		if err == nil {
			lanes = append(lanes, pushedLane{lab.Text(l), *pushed})
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(cmd.OutOrStdout(), map[string]any{"lanes": lanes})
	}
	return printPushed(cmd.OutOrStdout(), lanes)
}

// maxColumns is the maximum number of seconds that are shown.
const maxColumns = 12

func printPushed(out io.Writer, lanes []pushedLane) error {
	most, width, seconds := 0, len("limit"), 0
	for _, l := range lanes {
		most, width = max(most, slices.Max(l.PerSecond)), max(width, len(l.Limit))
		seconds = min(max(seconds, len(l.PerSecond)), maxColumns)
	}
	fmt.Fprintf(out, "%-*s  %13s  %10s  %10s  %14s\n", width, "limit", "most in 1 s", "in 100 ms", "in 1 ms", "last after")
	for _, l := range lanes {
		fmt.Fprintf(out, "%-*s  %13d  %10d  %10d  %14s\n", width, l.Limit, l.MostInASecond, l.MostInATenth, l.MostInAMillisecond, time.Duration(l.LastAt))
	}
	fmt.Fprintf(out, "\nMessages in each of the first %d seconds:\n\n", seconds)
	for _, l := range lanes {
		shown := l.PerSecond[:min(seconds, len(l.PerSecond))]
		numbers := strings.Trim(fmt.Sprintf("%4d", shown), "[]")
		if _, err := fmt.Fprintf(out, "%-*s  %-*s %s\n", width, l.Limit, seconds, columns(shown, most), numbers); err != nil {
			return err
		}
	}
	return nil
}
