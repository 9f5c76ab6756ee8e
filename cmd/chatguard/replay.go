package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/simulate"
)

func newReplayCommand() *cobra.Command {
	var path string
	var asJSON, decisions bool
	cmd := &cobra.Command{
		Use:   "replay [flags] FILE…",
		Short: "Run recorded chat through the limits: who would have been throttled?",
		Long: `Runs recorded chat through the limits of the configuration (or the default ones) and sums up who would have been throttled.

A FILE holds raw Twitch IRC lines or JSON lines, plain or gzip; - is standard input. Messages are judged in the order of
the lines, at the times given there. Unreadable lines are reported and counted, and so are those of channels beyond the
first 10,000. If a FILE has no message that can be read, the exit code is 1. A JSON line:

  {"at": "2026-01-05T12:00:00Z", "channel": "1", "user_id": "7", "login": "anna", "roles": ["vip"], "text": "hi", "cost": 1,
   "message_kind": "bits", "timezone": "Asia/Tokyo"}

"at" can also be milliseconds since 1970; login, roles, text, cost, message_kind and timezone can be left out.`,
		Example: `  chatguard replay --json chat.irc.gz
  zcat chat.jsonl.gz | chatguard replay --decisions -`,
		Args: someArguments("a FILE, or - for standard input"),
		RunE: func(cmd *cobra.Command, files []string) error {
			if asJSON && decisions {
				return usageError{errors.New("--json and --decisions exclude each other")}
			}
			cfg, err := loadConfigIfAny(cmd, path)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			var summary simulate.Summary
			var read atomic.Int64
			state := func() string { return byteCount(read.Load()) + " read" }
			err = runLongWork(cmd, state, "the rest was not read", func(ctx context.Context) (err error) {
				summary, err = replayFiles(ctx, cmd, cfg, files, out, &read, decisions)
				return err
			})
			if (err == nil || errors.Is(err, simulate.ErrNoMessage)) && !decisions {
				err = errors.Join(err, printSummary(out, summary, asJSON))
			}
			return errors.Join(err, out.Flush())
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the summary as one JSON object")
	cmd.Flags().BoolVar(&decisions, "decisions", false, "print the verdict on each message, a JSON line each, instead of the summary")
	return cmd
}

// replayFiles runs files through the limits. It counts their bytes in read.
func replayFiles(
	ctx context.Context, cmd *cobra.Command, cfg config.Config, files []string, out io.Writer, read *atomic.Int64, decisions bool,
) (simulate.Summary, error) {
	// A fixed time makes verdicts and entry IDs reproducible.
	start := func() time.Time { return time.Unix(0, 0) }
	guard, err := chatguard.New(cfg.Policy, &chatguard.Options{Now: start})
	if err != nil {
		return simulate.Summary{}, err
	}
	skipped := skippedLines{out: cmd.ErrOrStderr()}
	options := simulate.ReplayOptions{
		Guard: guard, Parse: parseLine, Skipped: skipped.add,
		Enter: func(m chatguard.Message, line string) error {
			own, ok := cfg.OwnPolicy(irc.ChannelOf(line), m.ChannelID)
			if !ok {
				return nil
			}
			return inner.At(guard, m.SentAt).SetChannelPolicy(m.ChannelID, own)
		},
	}
	if decisions {
		encoder := json.NewEncoder(hostile.EscapeWriter{W: out})
		options.Decided = func(v chatguard.Verdict) error {
			v.Print = chatguard.TextPrint{} // differs in each run
			return encoder.Encode(v)
		}
	}
	r := simulate.NewReplay(options)
	err = readRecords(cmd, files, read, func(name string, record io.Reader) error { return r.Read(ctx, name, record) })
	if err != nil && !errors.Is(err, simulate.ErrNoMessage) {
		return simulate.Summary{}, err
	}
	skipped.sumUp()
	return r.Summary(), err
}

func printSummary(out io.Writer, s simulate.Summary, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(hostile.EscapeWriter{W: out})
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	}
	fmt.Fprintf(out, "%d messages of %d users, %d of them exempt\n", s.Messages, s.Users, s.ExemptMessages)
	fmt.Fprintf(out, "%d messages of %d users would be throttled\n", s.ThrottledMessages, s.ThrottledUsers)
	if s.WithoutText > 0 {
		fmt.Fprintf(out, "%d messages have no text, or none on record: limits on repeated text don't count them\n", s.WithoutText)
	}
	if s.Skipped > 0 {
		fmt.Fprintf(out, "%d lines can't be read\n", s.Skipped)
	}
	if len(s.Top) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "throttled\tmessages\tuser ID\t login")
	for _, u := range s.Top {
		fmt.Fprintf(table, "%d\t%d\t%s\t %s\n", u.Throttled, u.Messages, hostile.Printable(u.UserID), hostile.Printable(u.Login))
	}
	return table.Flush()
}
