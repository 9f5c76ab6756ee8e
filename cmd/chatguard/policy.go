package main

import (
	"cmp"
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

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/control"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
)

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show or export the policy in force, or discard moderators' changes",
		Long: `A channel's policy is the configuration's, with moderators' changes from the dashboard or chat on top.
Works whether or not chatguard is running.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(newPolicyDiscardCommand(), newPolicyPart("show", "Show the policy in force and where it comes from", `Prints the policy as TOML, below a list of what differs from the configuration, with author and time.`, showPolicy),
		newPolicyPart("export", "Print the policy in force as TOML, ready for the configuration", `Prints the policy as a configuration has it. In the file, timezone stands above the first table, and the rest takes the place of [policy], [[limit]] and
[penalties]. A channel with a table of its own has them there as [channel.NAME.policy], [[channel.NAME.limit]] and [channel.NAME.penalties].`, exportPolicy))
	return cmd
}

// policyPart prints a part of a channel's policy.
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
	cmd.Flags().StringVar(&channel, "channel", "", "login or ID of the channel; may be left out if there is only one")
	cmd.RegisterFlagCompletionFunc("channel", completeNames(&path, knownChannels)) // fails only for an unknown flag
	return cmd
}

// channelPolicy is a channel's policy in force. The revision is empty if there is no live change.
type channelPolicy struct {
	control.LiveChange
	name string // the channel's login, or its ID if the login is unknown
}

// policyOf returns a channel's policy from the configuration and the live changes. word is the name
// of the channel argument in the command's help.
func policyOf(ctx context.Context, c config.Config, word, channel string) (p channelPolicy, err error) {
	revisions, logins, err := persist.ReadPolicies(ctx, c.Database)
	if _, missing := os.Stat(c.Database); errors.Is(missing, fs.ErrNotExist) {
		err = nil // nothing has been changed yet
	}
	if err != nil {
		return p, err
	}
	changed := func(id string) int {
		return slices.IndexFunc(revisions, func(r journal.Revision) bool { return r.ChannelID == id })
	}
	login, id := "", channel
	if logins[channel] != "" || changed(channel) < 0 {
		if login, err = oneChannel(c, logins, word, channel); err != nil {
			return p, err
		}
		id = idOf(c, logins, login)
	}
	var revision journal.Revision
	if i := changed(id); i >= 0 {
		revision = revisions[i]
	}
	p.name = cmp.Or(login, id)
	p.LiveChange, err = app.Resolve(c, login, id, revision)
	return p, err
}

// idOf returns the ID of the channel with a login, or the login if the ID is not known yet.
func idOf(c config.Config, logins map[string]string, login string) string {
	for id, known := range logins {
		if known == login {
			return id
		}
	}
	if slices.Contains(c.Check.Channels, login) {
		return app.RoomID(login)
	}
	return login
}

// oneChannel returns the login of the named channel. word is the name of the channel argument in
// the command's help.
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
		return "", app.ErrNoChannel(c)
	case named == "":
		return "", usageError{fmt.Errorf("%s: say which (%s)", word, strings.Join(known, ", "))}
	}
	return "", usageError{fmt.Errorf("%s: %q isn't moderated (known: %s)", word, named, strings.Join(known, ", "))}
}
