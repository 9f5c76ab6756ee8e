package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

// mostKeys is how many changed keys are shown before the others are only counted.
const mostKeys = 20

func newPolicyDiscardCommand() *cobra.Command {
	var path string
	var yes bool
	cmd := &cobra.Command{
		Use:   "discard [CHANNEL]",
		Short: "Throw live changes away: back to the configuration",
		Long: `Throws away what moderators have changed of a channel's policy, in the dashboard or in chat: that of the configuration holds
again. Shows the changes, and asks first. The history keeps them, and who threw them away.

CHANNEL is a login or an ID, and can be left out if there is one channel. Works while chatguard runs, which does it at once,
and without, also if chatguard can't use the changes.`,
		Example: `  chatguard policy discard
  chatguard policy discard gardenhour --yes`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArgument("CHANNEL", "a CHANNEL")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			return discardPolicy(cmd, cfg, strings.Join(args, ""), yes)
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}

// discardPolicy throws a channel's live changes away, once a person has said yes, and says what they were.
func discardPolicy(cmd *cobra.Command, cfg config.Config, channel string, yes bool) error {
	p, err := policyOf(cmd.Context(), cfg, "CHANNEL", channel)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if p.revision.IsEmpty() {
		_, err := fmt.Fprintf(out, "#%s: nothing is changed live, and the policy is that of the configuration.\n", p.login)
		return err
	}
	if err := showDiscarded(out, p); err != nil {
		return err
	}
	if !yes && !confirmed(cmd.InOrStdin(), out, "Throw these changes away, and go back to the configuration? [y/N] ") {
		return errors.New("nothing was thrown away: answer y, or add --yes")
	}
	lines, err := discard(cmd.Context(), cfg, p.revision.ChannelID)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Thrown away: revision %d by %s. #%s has the policy of the configuration again%s\n", p.revision.Number, printable(p.revision.Author),
		p.login, strings.Join(lines, "\n"))
	return err
}

// showDiscarded shows the live changes of a channel.
func showDiscarded(out io.Writer, p channelPolicy) error {
	fmt.Fprintf(out, "#%s: revision %d by %s, %s\n", p.login, p.revision.Number, printable(p.revision.Author), moment(p.revision.At))
	if p.unusable != nil {
		fmt.Fprintf(out, "  can't be used: %s\n", printable(p.unusable.Error()))
	}
	shown := p.revision.Changes[:min(len(p.revision.Changes), mostKeys)]
	for _, c := range shown {
		fmt.Fprintf(out, "  %s: %s (was %s)\n", printable(c.Key), printable(valueOf(c.To)), printable(valueOf(c.From)))
	}
	if more := len(p.revision.Changes) - len(shown); more > 0 {
		fmt.Fprintf(out, "  and %d more keys\n", more)
	}
	return nil
}

// confirmed asks a plain question. Nothing but a yes is one.
func confirmed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question)
	answers := bufio.NewScanner(in)
	answered := answers.Scan()
	if !answered || !isTerminalReader(in) {
		fmt.Fprintln(out) // nobody has pressed Enter
	}
	answer := strings.ToLower(strings.TrimSpace(answers.Text()))
	return answered && (answer == "y" || answer == "yes")
}

// isTerminalReader reports whether a person types there.
func isTerminalReader(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && isTerminal(file)
}

// discard throws a channel's live changes away: the chatguard that owns the database does it, or else this process.
func discard(ctx context.Context, cfg config.Config, channelID string) (lines []string, err error) {
	var owned *persist.OwnedError
	if errors.As(persist.CheckOwner(cfg.Database), &owned) {
		return askOwner(ctx, owned, request{Do: doDiscard, Channel: channelID})
	}
	quiet := &persist.Options{Logger: slog.New(slog.DiscardHandler)}
	r, err := persist.DiscardPolicy(ctx, cfg.Database, channelID, owner, quiet)
	return []string{fmt.Sprintf(", from the next start on (revision %d).", r.Number)}, err
}

// discardLogged goes back to the configuration's policy of a channel, in the owner's name, and says how that went.
func (a *app) discardLogged(ctx context.Context, channelID string) ([]string, error) {
	r, saved, err := a.web.Discard(ctx, channelID, owner)
	if err != nil {
		return nil, err
	}
	a.log.Info("threw live changes away, and the configuration's policy holds", "channel", channelID, "revision", r.Number, "author", owner)
	done := fmt.Sprintf(", as of now (revision %d).", r.Number)
	if !saved {
		done += " The database is in trouble: until it is well, a restart undoes this."
	}
	return []string{done}, nil
}
