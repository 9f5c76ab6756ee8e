package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/internal/persist"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
	"github.com/chatguard/chatguard/internal/request"
)

func newForgetCommand() *cobra.Command {
	var yes bool
	cmd := configCommand(&cobra.Command{
		Use:   "forget USER",
		Short: "Delete everything about a user",
		Long: `Deletes everything about a user from the database, in all channels: usage, strikes, override and grants, throttled messages,
times of messages, name, notes, and the audit log's entries about the user. The command first shows how many rows it will
delete, and asks for confirmation. It then rewrites the database file, so that no deleted data remains in it. The user's
next message counts as that of a new user.

USER is the user's ID, or the login under which chatguard last saw the user, with an @ before it or not. If several users
had that login, the command prints their IDs. IDs from a chat's server begin with "check:", which you can leave out.

The command works whether or not chatguard runs. If nodes share limits, it also deletes the rows in the shared store. Run
it on each node, because each has its own database.

It doesn't delete copies in backups, exports, the log, webhook events (sent or not), or files that were set aside beside
the database; it lists those files.`,
		Example: `  chatguard forget anna
  chatguard forget 12345678 --yes`,
		Args: oneUser,
	}, func(cmd *cobra.Command, cfg config.Config, args []string) error {
		return forgetUser(cmd, cfg, args[0], yes)
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "don't ask")
	return cmd
}

// forgetUser deletes a user after a confirmation.
func forgetUser(cmd *cobra.Command, cfg config.Config, user string, yes bool) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	found, err := persist.FindTraces(ctx, cfg.Database, user)
	if err == nil && len(found) == 0 { // pages show the IDs of a server's users without the prefix
		found, err = persist.FindTraces(ctx, cfg.Database, app.RoomSpace+user)
	}
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return fmt.Errorf("the database has nothing about %q: give the login under which chatguard last saw the user, or the ID that the page People shows", user)
	case len(found) > 1:
		return severalUsers(user, found)
	}
	traces := found[0]
	showTraces(out, traces)
	if !yes && !confirm(cmd.InOrStdin(), out, "Delete all of it, for good? [y/N] ") {
		return errors.New("nothing was deleted: answer y, or add --yes")
	}
	if err := forget(ctx, cfg, traces.UserID); err != nil {
		return err
	}
	printLine(out, "Deleted all of it, including anything newer than this list.")
	printLine(out, "Not deleted: copies in backups, exports, the log, and webhook events, sent or not.")
	for _, name := range sqlite.Kept(cfg.Database) {
		printLine(out, "Not deleted: %s.", name)
	}
	return nil
}

// severalUsers returns the error for a login that several users have had.
func severalUsers(user string, found []persist.Traces) error {
	var ids []string
	for _, t := range found {
		id := hostile.Printable(t.UserID)
		if !t.LastSeen.IsZero() {
			id += " (last seen " + moment(t.LastSeen) + ")"
		}
		ids = append(ids, id)
	}
	return fmt.Errorf("several users were called %q: give one of the IDs %s", user, strings.Join(ids, ", "))
}

// traceNames describe, for people, what each table contains about a user.
var traceNames = []struct{ table, name string }{
	{"state", "usage, strikes, overrides and grants"}, {"journal", "throttled messages"}, {"timeline", "times of messages"},
	{"person", "names, by channel"}, {"quarter_hour", "usage by quarter hours"}, {"note", "notes"}, {"audit", "entries in the audit log"},
}

// showTraces shows what the database contains about a user.
func showTraces(out io.Writer, t persist.Traces) {
	who := hostile.Printable(t.UserID)
	if len(t.Logins) > 0 {
		who += " (" + hostile.Printable(strings.Join(t.Logins, ", ")) + ")"
	}
	if !t.LastSeen.IsZero() {
		who += ", last seen " + moment(t.LastSeen)
	}
	printLine(out, "%s:", who)
	for _, part := range traceNames {
		if n := t.Rows[part.table]; n > 0 {
			printLine(out, "  %6d  %s", n, part.name)
		}
	}
}

// forget deletes a user. If a running chatguard owns the database, that process does it.
func forget(ctx context.Context, cfg config.Config, userID string) error {
	var owned *sqlite.OwnedError
	if errors.As(sqlite.CheckOwner(cfg.Database), &owned) {
		_, err := request.Ask(ctx, owned, request.Request{Do: request.Forget, User: userID})
		return err
	}
	if cfg.Shared.Mode != config.ShareOff {
		store, err := node.OpenStoreUp(ctx, cfg)
		if err != nil {
			return err
		}
		defer store.Close() // fails only if it is already closed
		if _, err := store.Delete(ctx, userID); err != nil {
			return err
		}
	}
	return persist.ForgetUser(ctx, cfg.Database, userID, &persist.Options{Logger: slog.New(slog.DiscardHandler)})
}
