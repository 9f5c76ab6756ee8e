package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/policies"
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
	cmd.AddCommand(newPolicyShowCommand(), newPolicyExportCommand(), newPolicyDiscardCommand())
	return cmd
}

// policyCommand completes cmd, a command about one channel's policy. A user may omit CHANNEL if
// there is only one channel.
func policyCommand(cmd *cobra.Command, run func(*cobra.Command, config.Config, channelPolicy) error) *cobra.Command {
	var path string
	cmd.Use += " [CHANNEL]"
	cmd.Long += "\n\nCHANNEL is a login or an ID. It can be omitted if there is only one channel."
	cmd.Args = optional(oneArgument("CHANNEL", "a CHANNEL"))
	cmd.ValidArgsFunction = completeOne(completeNames(&path, knownChannels))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := loadConfig(path)
		if err != nil {
			return err
		}
		p, err := policyOf(cmd.Context(), cfg, strings.Join(args, ""))
		if err != nil {
			return err
		}
		return run(cmd, cfg, p)
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// channelPolicy is a channel's policy in force. The revision is empty if there is no live change.
type channelPolicy struct {
	policies.LiveChange
	name string // the channel's login, or its ID if the login is unknown
}

// policyOf returns a channel's policy from the configuration and the live changes.
func policyOf(ctx context.Context, c config.Config, channel string) (p channelPolicy, err error) {
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
		if login, err = oneChannel(c, logins, channel); err != nil {
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

// oneChannel returns the login of the named channel, or of the only one if named is empty.
func oneChannel(c config.Config, logins map[string]string, named string) (string, error) {
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
		return "", usageError{fmt.Errorf("CHANNEL: say which (%s)", strings.Join(known, ", "))}
	}
	return "", usageError{fmt.Errorf("CHANNEL: %q isn't moderated (known: %s)", named, strings.Join(known, ", "))}
}
