package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

// completeNames returns a completion of an argument or a flag with names that depend on the
// configuration at path. If there is no configuration, or the database can't be read, it offers
// nothing. A shell runs it while somebody types, so it prints no errors, and doesn't finish an
// interrupted restore.
func completeNames(path *string, names func(context.Context, config.Config) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cfg, err := readConfig(*path)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := slices.DeleteFunc(names(cmd.Context(), cfg), func(name string) bool { return slices.Contains(args, name) })
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeOne completes the first argument only.
func completeOne(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// knownChannels returns the names of the channels in the configuration, and of those with changes
// in the database.
func knownChannels(ctx context.Context, c config.Config) []string {
	names := slices.Concat(c.Twitch.Channels, c.Check.Channels)
	revisions, logins, _ := persist.ReadPolicies(ctx, c.Database) // there may be no database yet
	for _, r := range revisions {
		if login := logins[r.ChannelID]; login != "" {
			names = append(names, login)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tokenNames returns the names for which there are tokens, sessions or links.
func tokenNames(ctx context.Context, c config.Config) []string {
	tokens, err := persist.OpenTokens(ctx, c.Database, nil)
	if err != nil {
		return nil
	}
	defer tokens.Close() // nothing was written
	names, _ := tokens.Names(ctx)
	return names
}
