package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
)

func newRunCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Moderate the channels of the configuration",
		Long: `Connects to the channels of the configuration, holds their chatters to its policy, and serves the dashboard.

The bot's access token comes from the environment: CHATGUARD_TWITCH_TOKEN. Without one chatguard reads
anonymously and can only observe.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFrom(cmd, path) },
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// runFrom moderates by the configuration at path, until a signal ends it.
func runFrom(cmd *cobra.Command, path string) error {
	cfg, err := loadConfig(path)
	if err != nil {
		return err
	}
	if err := readyToRun(cfg); err != nil {
		return err
	}
	a, err := newApp(cmd.Context(), cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	defer a.close()
	if err := a.printLink(cmd.Context(), cmd.OutOrStdout()); err != nil {
		return err
	}
	ctx, stop := untilStopped(cmd.Context(), 0)
	defer stop()
	return a.run(ctx)
}

// readyToRun refuses a configuration that is right in itself and still moderates nothing.
func readyToRun(c config.Config) error {
	switch {
	case len(c.Twitch.Channels) == 0:
		return &config.Error{File: c.Path, Key: "twitch.channels", Problem: "is empty: name the channel to moderate"}
	case c.Policy.Mode == chatguard.Enforce && c.Twitch.Token == "":
		return &config.Error{
			File: c.Path, Key: "policy.mode",
			Problem: `is "enforce", which needs a token: set CHATGUARD_TWITCH_TOKEN to the bot's access token, or the mode to "observe"`,
		}
	}
	for _, rung := range c.Policy.Penalties.Ladder {
		if rung.Action == chatguard.Drop {
			return badLadder(c, `has "drop", which only a chat server can: use "delete"`)
		}
	}
	if len(c.Policy.Penalties.Ladder) == 0 {
		return badLadder(c, `is empty: name at least one penalty, such as "delete"`)
	}
	return nil
}

func badLadder(c config.Config, problem string) error {
	return &config.Error{File: c.Path, Key: "penalties.ladder", Problem: problem}
}
