package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

func newReloadCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Let a running chatguard take up a changed configuration",
		Long: `Looks whether the configuration is right, and tells the chatguard that runs by it to take it up: policies, limits, penalties
and channels, without losing a message or what users have spent. Its log says what came of it, and names what needs a
restart. What moderators have changed live stays changed.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			if err := readyToRun(cfg); err != nil {
				return err
			}
			var owned *persist.OwnedError
			if !errors.As(persist.CheckOwner(cfg.Database), &owned) {
				return fmt.Errorf("no chatguard holds the database %s; one that runs with --no-database takes SIGHUP itself", cfg.Database)
			}
			if owned.PID == 0 {
				return fmt.Errorf("it can't be told which process holds the database %s; a chatguard takes SIGHUP itself", cfg.Database)
			}
			if err := tellToReload(owned.PID); err != nil {
				return fmt.Errorf("chatguard (process %d) can't be told: %w; restart it", owned.PID, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "chatguard (process %d) takes up %s; its log says what changed.\n", owned.PID, path)
			return err
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// reloadAsked takes the configuration anew whenever asked brings something, until the context ends. What is wrong with it is logged, and nothing
// has changed then.
func (a *app) reloadAsked(ctx context.Context, asked <-chan os.Signal, load func() (config.Config, error)) {
	for {
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
		cfg, err := load()
		if err == nil {
			err = readyToRun(cfg)
		}
		if err == nil {
			err = a.reload(ctx, cfg)
		}
		if err != nil {
			a.log.Error("the configuration is not taken up, and nothing has changed", "error", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
}

// reload puts another configuration's policies and channels in force. The error is for one that can't be, and then nothing has changed.
func (a *app) reload(ctx context.Context, cfg config.Config) error {
	if err := fitTransport(cfg, a.config.Twitch.Transport); err != nil { // another transport needs a restart
		return err
	}
	a.warnOfStrangers(cfg)
	before := a.policies.Load()
	err := a.web.Rebase(func() error {
		a.policies.Store(&cfg)
		err := a.guard.SetPolicy("", cfg.Policy, a.guard.Now())
		if err == nil {
			err = a.putPoliciesInForce(ctx)
		}
		if err == nil {
			err = a.twitch.reader.SetChannels(cfg.Twitch.Channels)
		}
		if err != nil {
			a.policies.Store(before)
			return errors.Join(err, a.guard.SetPolicy("", before.Policy, a.guard.Now()), a.putPoliciesInForce(ctx))
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.log.Info("took up the configuration", "file", cfg.Path, "channels", slices.Concat(cfg.Twitch.Channels, cfg.Check.Channels))
	if keys := restartKeys(a.config, cfg); len(keys) > 0 {
		a.log.Warn("changed in the configuration, and needs a restart", "keys", strings.Join(keys, ", "))
	}
	return nil
}

// restartKeys are the keys in which two configurations differ that a reload doesn't take up.
func restartKeys(before, after config.Config) (keys []string) {
	for _, key := range config.Differences(before, after) {
		live := slices.ContainsFunc([]string{"timezone", "policy", "limit", "penalties", "channel", "twitch.channels", "check.channels"}, func(part string) bool {
			return key == part || strings.HasPrefix(key, part+".")
		})
		if !live {
			keys = append(keys, key)
		}
	}
	return keys
}
