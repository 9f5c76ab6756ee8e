package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/web"
)

func newRunCommand() *cobra.Command {
	var path string
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Moderate the channels of the configuration",
		Long: `Connects to the channels of the configuration, holds their chatters to its policy, and serves the dashboard. Servers of
other chats ask it by POST /api/v1/check; where only those are named, in check.channels, it connects to nothing.

The bot's account is the one that ` + "`chatguard login`" + ` was done with (or CHATGUARD_TWITCH_TOKEN holds an access token of).
Without one, and in channels where it is no moderator, chatguard only observes; the dashboard says what to do. A login
while it runs is taken up.

A signal SIGHUP, or ` + "`chatguard reload`" + `, takes up what has changed in the file. SIGTERM or Ctrl-C ends it.

While the database is in trouble (disk full, locked, damaged) chat goes on in memory, the dashboard says so, and what
waits is written once it is well. A database that can't even be opened is left as it is; --no-database goes without, and
then another sign-in link needs another start.

In a terminal it prints a link that signs in to the dashboard; elsewhere, as under systemd, where what it prints is a log,
` + "`chatguard signin`" + ` does.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFrom(cmd, path, o) },
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&o.noDatabase, "no-database", false, "keep everything in memory, and nothing after the end")
	return cmd
}

type runOptions struct {
	noDatabase bool
}

// runFrom moderates by the configuration at path, until a signal ends it.
func runFrom(cmd *cobra.Command, path string, o runOptions) error {
	cfg, err := loadConfig(path)
	if err != nil {
		return err
	}
	if o.noDatabase {
		if err := persist.CheckOwner(cfg.Database); err != nil {
			return err // two bots would act on each message
		}
		cfg.NoDatabase = true
	}
	if err := cmp.Or(cfg.CheckServed(), readyToRun(cfg)); err != nil {
		return err
	}
	a, err := newApp(cmd.Context(), cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if errors.Is(err, web.ErrInUse) && !o.noDatabase {
		err = cmp.Or(persist.CheckOwner(cfg.Database), err) // most often it is chatguard itself
	}
	if err != nil {
		return err
	}
	defer a.close()
	// Whoever is told that it runs may stop it.
	ctx, stop := untilStopped(cmd.Context(), 0)
	defer stop()
	notified, ignore := notifications()
	defer ignore()
	if err := errors.Join(a.printRooms(cmd.OutOrStdout()), a.printDashboard(cmd.Context(), cmd.OutOrStdout())); err != nil {
		return err
	}
	var reloading sync.WaitGroup
	defer reloading.Wait()
	defer stop()
	reloading.Go(func() { a.heed(ctx, notified, func() (config.Config, error) { return loadConfig(path) }) })
	return a.run(ctx)
}

// readyToRun refuses a configuration that is right in itself and still moderates nothing.
func readyToRun(c config.Config) error {
	switch {
	case len(c.Twitch.Channels) > 0:
	case len(c.Check.Channels) > 0:
		return nil // whoever asks does what they can
	default:
		return errNoChannel(c)
	}
	if err := fitTransport(c, c.Twitch.Transport); err != nil {
		return err
	}
	if key, problem := unfit(c.Policy); problem != "" {
		return &config.Error{File: c.Path, Key: key, Problem: problem}
	}
	_, strangers := unlisted(c)
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		if c.IsChecked(name) || slices.Contains(strangers, name) {
			continue
		}
		if key, problem := unfit(c.Channels[name]); problem != "" {
			return &config.Error{File: c.Path, Key: "channel." + name + "." + key, Problem: problem}
		}
	}
	return nil
}

// errNoChannel is for a configuration without any channel.
func errNoChannel(c config.Config) error {
	return &config.Error{File: c.Path, Key: "twitch.channels",
		Problem: "is empty: name the channel to moderate, or in check.channels the chats of a server of your own"}
}

// fitTransport refuses more channels than a transport carries.
func fitTransport(c config.Config, transport string) error {
	if n := len(c.Twitch.Channels); transport == config.TransportEventSub && n > twitch.MaxEventChannels {
		return &config.Error{File: c.Path, Key: "twitch.channels", Problem: fmt.Sprintf(
			"names %d, but EventSub carries %d: name fewer, or set twitch.transport to irc", n, twitch.MaxEventChannels)}
	}
	return nil
}

// hasToken reports whether there is a token to begin with, in the environment or from a login. Whether Twitch takes it, a running chatguard finds out.
func hasToken(c config.Config) bool {
	_, err := os.Stat(c.TokenFile())
	return c.Twitch.Token != "" || c.Twitch.RefreshToken != "" || err == nil
}

// unfit says which key of a valid policy asks for what a chat bot can't do, and why; the problem is empty where there is none.
func unfit(p chatguard.Policy) (key, problem string) {
	if len(p.Penalties.Ladder) == 0 {
		return "penalties.ladder", `is empty: name at least one penalty, such as "delete"`
	}
	for _, rung := range p.Penalties.Ladder {
		if rung.Action == chatguard.Drop {
			return "penalties.ladder", `has "drop", which only a chat server can: use "delete"`
		}
	}
	return "", ""
}
