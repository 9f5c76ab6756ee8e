package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/lab"
)

// edgeLane has the largest number of messages that can pass one limit.
type edgeLane struct {
	Limit string `json:"limit"`
	Most  int64  `json:"most"`
}

func newLabEdgeCommand() *cobra.Command {
	var span duration
	var limits limitFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "edge --limit LIMIT…",
		Short: "Find the most that can pass in any minute",
		Long: `Finds the most messages of one user that can pass each limit in any stretch of a given length, wherever it begins. A
simulated adversary asks the engine that also moderates. It waits for the end of a window, and sends whatever the limit
allows. What waits in the queue of a leaky bucket counts when it leaves.` + limitHelp(),
		Example: `  chatguard lab edge --limit 'fixed-window messages=15 every=60s' --limit 'token-bucket burst=3 refill=4s'
  chatguard lab edge --limit 'daily-window messages=300' --span 48h --json`,
		Args:                  noArguments,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := needLimits(cmd, limits.limits); err != nil {
				return err
			}
			return edge(cmd, time.Duration(span), limits.limits, asJSON)
		},
	}
	cmd.Flags().Var(&limits, "limit", "a limit to try; may be repeated")
	spanFlag(cmd, &span)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// edge finds and prints the largest number of messages that can pass each limit within span.
func edge(cmd *cobra.Command, span time.Duration, limits []chatguard.Limit, asJSON bool) error {
	var lanes []edgeLane
	err := eachLimit(cmd, limits, func(ctx context.Context, l chatguard.Limit) error {
		most, err := lab.RunEdge(ctx, span, l)
		lanes = append(lanes, edgeLane{lab.Text(l), most})
		return err
	})
	switch {
	case err != nil:
		return err
	case asJSON:
		return printJSON(cmd.OutOrStdout(), map[string]any{"span": span.String(), "lanes": lanes})
	}
	return printEdges(cmd.OutOrStdout(), span, lanes)
}

func printEdges(out io.Writer, span time.Duration, lanes []edgeLane) error {
	most, width := int64(0), len("limit")
	for _, l := range lanes {
		most, width = max(most, l.Most), max(width, len(l.Limit))
	}
	fmt.Fprintf(out, "%-*s  most in any %s\n", width, "limit", durations.Format(span))
	for _, l := range lanes {
		if _, err := fmt.Fprintf(out, "%-*s  %10d  %s\n", width, l.Limit, l.Most, bar(l.Most, most, barWidth)); err != nil {
			return err
		}
	}
	return nil
}
