package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/request"
)

// mostKeys is how many changed keys are shown before the rest are only counted.
const mostKeys = 20

func newPolicyDiscardCommand() *cobra.Command {
	var yes bool
	cmd := policyCommand(&cobra.Command{
		Use:   "discard",
		Short: "Discard live changes and go back to the configuration",
		Long: `Discards the changes that moderators have made to a channel's policy in the dashboard or in chat. The configuration's
policy then applies again. The command first shows the changes and asks for confirmation. The history still contains the
changes, and records who discarded them.

If chatguard is running, the command takes effect at once. It also works if chatguard isn't running, or can't use the
changes.`,
		Example: `  chatguard policy discard
  chatguard policy discard gardenhour --yes`,
	}, func(cmd *cobra.Command, cfg config.Config, p channelPolicy) error {
		return discardPolicy(cmd, cfg, p, yes)
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}

// discardPolicy discards a channel's live changes after a confirmation, and prints what they were.
func discardPolicy(cmd *cobra.Command, cfg config.Config, p channelPolicy, yes bool) error {
	out := cmd.OutOrStdout()
	if p.IsEmpty() {
		_, err := fmt.Fprintf(out, "#%s: no live changes; the policy is the configuration's.\n", p.name)
		return err
	}
	showDiscarded(out, p)
	if !yes && !confirm(cmd.InOrStdin(), out, "Discard these changes and go back to the configuration? [y/N] ") {
		return errors.New("nothing was discarded: answer y, or add --yes")
	}
	lines, err := discard(cmd.Context(), cfg, p.ChannelID)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Discarded: revision %d by %s. #%s has the policy of the configuration again%s\n", p.Number, hostile.Printable(p.Author),
		p.name, strings.Join(lines, "\n"))
	return err
}

// showDiscarded shows the live changes of a channel.
func showDiscarded(out io.Writer, p channelPolicy) {
	fmt.Fprintf(out, "#%s: revision %d by %s, %s\n", p.name, p.Number, hostile.Printable(p.Author), moment(p.At))
	if p.Problem != nil {
		fmt.Fprintf(out, "  can't be used: %s\n", hostile.Printable(p.Problem.Error()))
	}
	shown := p.Changes[:min(len(p.Changes), mostKeys)]
	for _, c := range shown {
		fmt.Fprintf(out, "  %s: %s (was %s)\n", hostile.Printable(c.Key), hostile.Printable(journal.ValueText(c.To)), hostile.Printable(journal.ValueText(c.From)))
	}
	if more := len(p.Changes) - len(shown); more > 0 {
		fmt.Fprintf(out, "  and %d more keys\n", more)
	}
}

// discard discards a channel's live changes. If a running chatguard owns the database, that process
// discards them. Otherwise this process does.
func discard(ctx context.Context, cfg config.Config, channelID string) (lines []string, err error) {
	var owned *sqlite.OwnedError
	if errors.As(sqlite.CheckOwner(cfg.Database), &owned) {
		return request.Ask(ctx, owned, request.Request{Do: request.Discard, Channel: channelID})
	}
	quiet := &persist.Options{Logger: slog.New(slog.DiscardHandler)}
	r, err := persist.DiscardPolicy(ctx, cfg.Database, channelID, auth.OwnerName, quiet)
	return []string{fmt.Sprintf(", from the next start on (revision %d).", r.Number)}, err
}
