package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/request"
)

func newReloadCommand() *cobra.Command {
	return configCommand(&cobra.Command{
		Use:   "reload",
		Short: "Apply a changed configuration without a restart",
		Long: `Checks the configuration, and makes the chatguard that uses its database apply it: policies, limits, penalties and
channels. No messages are lost, and no usage, except that of a limit whose algorithm changes. Moderators' live changes are
kept. Then lists what changed and what needs a restart. If there is an error, nothing changes, and the exit code is 1, or
2 if the configuration is wrong.`,
		Args: noArguments,
	}, func(cmd *cobra.Command, cfg config.Config, _ []string) error {
		if err := app.CheckReady(cfg); err != nil {
			return err
		}
		var owned *sqlite.OwnedError
		if !errors.As(sqlite.CheckOwner(cfg.Database), &owned) {
			return fmt.Errorf("no chatguard uses the database %s: start it with `chatguard run`; or %s", cfg.Database, request.ByHand)
		}
		lines, err := request.Ask(cmd.Context(), owned, request.Request{Do: request.Reload})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "chatguard (process %d) %s\n", owned.PID, strings.Join(lines, "\n"))
		return err
	})
}
