package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
)

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show or export the policy in force, or throw away what moderators have changed",
		Long: `A channel's policy is that of the configuration, with what moderators have changed in the dashboard or in chat over it.
Works while chatguard runs, and without.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newPolicyDiscardCommand(), newPolicyPart("show", "Say what is in force and where it comes from", `Prints the policy as TOML, and above it what differs from the configuration, since when and by whom.`, showPolicy),
		newPolicyPart("export", "Print what is in force as TOML, to be put into the configuration", `Prints the policy as a configuration has it. In the file, timezone stands above the first table, and the rest takes the place of [policy], [[limit]] and
[penalties]. A channel with a table of its own has them there as [channel.NAME.policy], [[channel.NAME.limit]] and [channel.NAME.penalties].`, exportPolicy))
	return cmd
}

// policyPart prints a channel's policy.
type policyPart func(out io.Writer, p channelPolicy) error

func newPolicyPart(use, short, long string, print policyPart) *cobra.Command {
	var path, channel string
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: "  chatguard policy " + use + " --channel gardenhour", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			p, err := policyOf(cmd.Context(), cfg, "--channel", channel)
			if err != nil {
				return err
			}
			return print(cmd.OutOrStdout(), p)
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&channel, "channel", "", "login or ID of the channel; may be left out where there is one")
	return cmd
}

// channelPolicy is a channel's policy in force, and where it comes from.
type channelPolicy struct {
	login    string
	base     chatguard.Policy // the configuration's
	policy   chatguard.Policy // in force
	revision journal.Revision // the last live change; none without Changes
	left     []journal.Change // of it, what no longer fits the configuration
	unusable error            // why it can't be used at all; nil if it can
}

// policyOf finds a channel's policy, in the configuration and among what moderators have changed. The word is where the command line names it.
func policyOf(ctx context.Context, c config.Config, word, channel string) (p channelPolicy, err error) {
	revisions, logins, err := persist.ReadPolicies(ctx, c.Database)
	if _, missing := os.Stat(c.Database); errors.Is(missing, fs.ErrNotExist) {
		err = nil // nobody has changed anything yet
	}
	if err != nil {
		return p, err
	}
	changed := func(id string) int {
		return slices.IndexFunc(revisions, func(r journal.Revision) bool { return r.ChannelID == id })
	}
	if p.login = channel; logins[channel] != "" || changed(channel) < 0 {
		if p.login, err = oneChannel(c, logins, word, channel); err != nil {
			return p, err
		}
	}
	id := p.login
	if slices.Contains(c.Check.Channels, p.login) {
		id = roomID(p.login)
	}
	for known, login := range logins {
		if login == p.login {
			id = known
		}
	}
	p.base = c.PolicyFor(p.login, id)
	if i := changed(id); i >= 0 {
		p.revision = revisions[i]
	}
	p.policy, p.left, p.unusable = p.revision.Apply(p.base)
	return p, nil
}

// oneChannel is the login of the channel that is meant. The word is where the command line names it.
func oneChannel(c config.Config, logins map[string]string, word, named string) (string, error) {
	known := slices.Concat(c.Twitch.Channels, c.Check.Channels)
	switch login, err := config.ChannelName(named); {
	case logins[named] != "":
		return logins[named], nil
	case slices.Contains(c.Check.Channels, named):
		return named, nil
	case named == "" && len(known) == 1:
		return known[0], nil
	case err == nil && (slices.Contains(known, login) || slices.Contains(slices.Collect(maps.Values(logins)), login)):
		return login, nil
	case len(known) == 0:
		return "", errNoChannel(c)
	case named == "":
		return "", usageError{fmt.Errorf("%s: say which (%s)", word, strings.Join(known, ", "))}
	}
	return "", usageError{fmt.Errorf("%s: %q isn't moderated (known: %s)", word, named, strings.Join(known, ", "))}
}

func exportPolicy(out io.Writer, p channelPolicy) error {
	written, err := config.WritePolicy(p.policy)
	if err != nil {
		return err
	}
	_, err = out.Write(written)
	return err
}

func showPolicy(out io.Writer, p channelPolicy) error {
	changes := journal.Diff(p.base, p.policy)
	by := fmt.Sprintf("by %s, %s (revision %d)", printable(p.revision.Author), p.revision.At.Local().Format("Mon 2 Jan 2006, 15:04 MST"), p.revision.Number)
	switch {
	case p.unusable != nil:
		printLine(out, "# #%s: as in the configuration, because what was changed live %s can't be used:", p.login, by)
		printLine(out, "#   %s", p.unusable)
		printLine(out, "# `chatguard policy discard %s` throws it away", p.login)
	case len(changes) == 0:
		printLine(out, "# #%s: as in the configuration", p.login)
	default:
		printLine(out, "# #%s: changed live %s", p.login, by)
	}
	for _, c := range changes {
		printLine(out, "#   %s: %s (in the configuration %s)", c.Key, valueOf(c.To), valueOf(c.From))
	}
	for _, c := range p.left {
		printLine(out, "#   %s: %s no longer fits the configuration, and isn't in force", c.Key, valueOf(c.To))
	}
	fmt.Fprintln(out)
	return exportPolicy(out, p)
}

// valueOf is the value of a changed key in a word.
func valueOf(value any) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprint(value)
}
