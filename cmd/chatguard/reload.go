package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

func newReloadCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make a running chatguard load its changed configuration",
		Long: `Checks the configuration, and has the chatguard that runs by it load it: policies, limits, penalties and channels, without
losing a message or what users have spent. Waits for the outcome, and says what changed and what needs a restart; with an
error nothing has changed, and the exit code is 1. What moderators have changed live stays changed.`,
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
			lines, err := askOwner(cmd.Context(), owned, request{Do: doReload})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "chatguard (process %d) %s\n", owned.PID, strings.Join(lines, "\n"))
			return err
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// signalTime is how long the signal of a request may take that was found before it came.
const signalTime = 2 * time.Second

// heed does what this process is asked whenever notified brings something, until the context ends: what the requests say, or without any, as after
// a SIGHUP of somebody's, a reload. What goes wrong is logged, and nothing has changed then.
func (a *app) heed(ctx context.Context, notified <-chan os.Signal, load func() (config.Config, error)) {
	waiting := requests{a.store.Path()}
	var early []time.Time // when requests were taken whose own signals are still to come
	for {
		select {
		case <-notified:
		case <-ctx.Done():
			return
		}
		asked, err := waiting.take()
		if err != nil {
			a.log.Error("a request can't be read", "error", err)
		}
		early = slices.DeleteFunc(early, func(at time.Time) bool { return time.Since(at) > signalTime })
		switch {
		case len(asked) > 0:
			for range len(asked) - 1 {
				early = append(early, time.Now())
			}
		case len(early) > 0: // it is a signal of theirs
			early = early[1:]
		case err == nil:
			a.reloadLogged(ctx, load)
		}
		for name, r := range asked {
			if err := waiting.answer(name, a.fulfil(ctx, r, load)); err != nil {
				a.log.Error("a request can't be answered", "request", r.Do, "error", err)
			}
		}
	}
}

// fulfil does what a request asks for.
func (a *app) fulfil(ctx context.Context, r request, load func() (config.Config, error)) (o outcome) {
	var err error
	switch r.Do {
	case doReload:
		o.Lines, err = a.reloadLogged(ctx, load)
	case doDiscard:
		o.Lines, err = a.discardLogged(ctx, r.Channel)
	default:
		err = fmt.Errorf("the chatguard that runs can't %q: restart it, it is older than this one", r.Do)
	}
	if err != nil {
		o.Error = oneLine(err.Error())
	}
	return o
}

// reloadLogged loads the configuration and puts it in force, and logs why where it can't.
func (a *app) reloadLogged(ctx context.Context, load func() (config.Config, error)) (lines []string, err error) {
	cfg, err := load()
	if err == nil {
		err = readyToRun(cfg)
	}
	if err == nil {
		lines, err = a.reload(ctx, cfg)
	}
	if err != nil {
		a.log.Error("the configuration is not taken up, and nothing has changed", "error", oneLine(err.Error()))
		return nil, fmt.Errorf("the configuration was not loaded, and nothing has changed: %w", err)
	}
	return lines, nil
}

// reload puts another configuration's policies and channels in force, and returns the lines that say what changed. The error is for one that can't
// be, and then nothing has changed.
func (a *app) reload(ctx context.Context, cfg config.Config) ([]string, error) {
	if err := fitTransport(cfg, a.config.Twitch.Transport); err != nil { // another transport needs a restart
		return nil, err
	}
	a.warnOf(cfg)
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
		return nil, err
	}
	a.log.Info("took up the configuration", "file", cfg.Path, "channels", slices.Concat(cfg.Twitch.Channels, cfg.Check.Channels))
	restart := restartKeys(a.config, cfg)
	if len(restart) > 0 {
		a.log.Warn("changed in the configuration, and needs a restart", "keys", strings.Join(restart, ", "))
	}
	return reloaded(cfg.Path, config.Differences(*before, cfg), restart, a.overrides()), nil
}

// reloaded says what a reload changed: of the keys that have changed since the last one, those that need no restart; which do; and what stays
// changed live.
func reloaded(path string, changed, restart, live []string) []string {
	now := slices.DeleteFunc(changed, needsRestart)
	lines := []string{fmt.Sprintf("loaded %s: changed %s", path, strings.Join(now, ", "))}
	if len(now) == 0 {
		lines[0] = fmt.Sprintf("loaded %s: nothing has changed that needs no restart", path)
	}
	if len(now) == 0 && len(restart) == 0 {
		lines[0] = fmt.Sprintf("loaded %s: nothing has changed", path)
	}
	if len(restart) > 0 {
		lines = append(lines, "Needs a restart: "+strings.Join(restart, ", "))
	}
	return append(lines, live...)
}

// restartKeys are the keys in which two configurations differ that a reload leaves as they were.
func restartKeys(before, after config.Config) []string {
	return slices.DeleteFunc(config.Differences(before, after), func(key string) bool { return !needsRestart(key) })
}

// needsRestart reports whether a reload leaves a key as it was.
func needsRestart(key string) bool {
	return !slices.ContainsFunc([]string{"timezone", "policy", "limit", "penalties", "channel", "twitch.channels", "check.channels"}, func(part string) bool {
		return key == part || strings.HasPrefix(key, part+".")
	})
}
