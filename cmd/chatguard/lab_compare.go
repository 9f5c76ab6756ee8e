package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/lab"
)

func newLabCompareCommand() *cobra.Command {
	var span duration
	var limits limitFlag
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare --limit LIMIT… FILE…",
		Short: "Try limits on recorded chat, each of them alone",
		Long: `Judges recorded chat by each limit alone, as if it were enforced for everybody. A FILE is recorded chat as replay reads it;
- is standard input. What waits in the queue of a leaky-bucket counts when it leaves.` + limitHelp(),
		Example: `  chatguard lab compare --limit 'token-bucket burst=3 refill=4s' --limit 'sliding-log messages=15 every=60s' chat.irc.gz
  zcat chat.jsonl.gz | chatguard lab compare --json --span 10s --limit 'leaky-bucket every=2s queue=3' -`,
		Args:                  someArguments("a FILE, or - for standard input"),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := needLimits(cmd, limits.limits); err != nil {
				return err
			}
			c, err := lab.NewComparison(limits.limits, time.Duration(span))
			if err != nil {
				return err
			}
			if err := readChat(cmd, files, c.Add); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"lanes": c.Result()})
			}
			return printCompared(cmd.OutOrStdout(), time.Duration(span), c.Result())
		},
	}
	cmd.Flags().Var(&limits, "limit", "a limit to try; may be repeated")
	spanFlag(cmd, &span)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printCompared(out io.Writer, span time.Duration, lanes []lab.Compared) error {
	width, withoutText := len("limit"), int64(0)
	for _, l := range lanes {
		width, withoutText = max(width, len(l.Limit)), max(withoutText, l.WithoutText)
	}
	fmt.Fprintf(out, "%-*s  %9s  %9s  %9s  %12s  %13s  %9s\n", width, "limit", "allowed", "throttled", "delayed", "longest wait", "longest delay", "of a user")
	for _, l := range lanes {
		fmt.Fprintf(out, "%-*s  %9d  %9d  %9d  %12s  %13s  %9d\n", width, l.Limit, l.Allowed, l.Throttled, l.Delayed,
			milliseconds(l.LongestWaitMS), milliseconds(l.LongestDelayMS), l.MostOfAUser)
	}
	fmt.Fprintf(out, "\nThe longest wait is that of a throttled message, until it would pass. \"Of a user\" is the most of one user in any %s.\n", span)
	if withoutText > 0 {
		fmt.Fprintf(out, "%d messages have no text, or none on record: limits on repeated text don't count them.\n", withoutText)
	}
	fmt.Fprintln(out)
	for _, l := range lanes {
		part := bars(out, l.Allowed, l.Throttled)
		if _, err := fmt.Fprintf(out, "%-*s  %s %.2f %% throttled\n", width, l.Limit, part, percent(l.Throttled, l.Allowed+l.Throttled)); err != nil {
			return err
		}
	}
	return nil
}

// bars returns a bar of two parts: what was allowed, and what was throttled.
func bars(out io.Writer, allowed, throttled int64) string {
	const width = barWidth
	good := int(allowed * width / max(1, allowed+throttled))
	return paint(out, green, strings.Repeat("█", good)) + paint(out, red, strings.Repeat("░", width-good))
}

// percent returns a part of all in percent.
func percent(part, all int64) float64 { return 100 * float64(part) / float64(max(1, all)) }

// milliseconds formats a wait.
func milliseconds(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
