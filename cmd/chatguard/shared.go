package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/node"
	"github.com/chatguard/chatguard/redisstore"
	"github.com/chatguard/chatguard/shared"
)

func newSharedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shared",
		Short: "Copy users into the store that nodes share, export them, and delete them",
		Long: `Works on the users' state in the store that nodes share, the Valkey or Redis that [shared] in the configuration names. The
policy's limits decide which rows it has: for each user in each channel, for each user in all channels, and for each
channel as a whole. In the store, export needs the right +scan, and forget needs +scan and +pttl.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSharedSeedCommand(), newSharedExportCommand(), newSharedForgetCommand())
	return cmd
}

// withShared calls do with the configuration at path. A signal ends its context.
func withShared(cmd *cobra.Command, path string, do func(context.Context, config.Config) error) error {
	cfg, err := loadConfig(path)
	if err != nil {
		return err
	}
	ctx, stop := newStopContext(cmd.Context(), 0)
	defer stop()
	err = do(ctx, cfg)
	if text, ok := strings.CutPrefix(fmt.Sprint(err), "redisstore: "); ok {
		return errors.New(text)
	}
	return err
}

// withStore calls do with the configuration at path and its shared store.
func withStore(cmd *cobra.Command, path string, do func(context.Context, config.Config, *redisstore.Store) error) error {
	return withShared(cmd, path, func(ctx context.Context, cfg config.Config) error {
		store, err := node.OpenStoreUp(ctx, cfg)
		if err != nil {
			return err
		}
		defer store.Close() // fails only if it is already closed
		return do(ctx, cfg, store)
	})
}

func newSharedSeedCommand() *cobra.Command {
	var path string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "seed",
		Short: "Copy the users of the database into the shared store",
		Long: `Copies the state of all users from the database into the shared store: usage, strikes, overrides and grants. Users then
keep their usage when a node starts to share limits. Rows that the store already has aren't changed, so you can repeat the
command, and seed from several nodes. State that no longer has an effect isn't copied.

Set [shared] in the configuration, stop chatguard, run this, and start chatguard again. The database isn't changed.`,
		Example: `  chatguard shared seed --dry-run
  chatguard shared seed`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withShared(cmd, path, func(ctx context.Context, cfg config.Config) error {
				log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
				done, err := app.Seed(ctx, app.Options{Config: cfg, Log: log, Build: build()}, dryRun)
				if err != nil && done.Written > 0 {
					return fmt.Errorf("%w; %s were copied: repeat the command", err, count(int64(done.Written), "row"))
				}
				if err != nil {
					return err
				}
				return printSeeded(cmd.OutOrStdout(), done, dryRun)
			})
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count what would be copied")
	return cmd
}

// printSeeded prints what was copied.
func printSeeded(out io.Writer, done shared.Seeded, dryRun bool) error {
	verb := "Copied"
	if dryRun {
		verb = "Would copy"
	}
	_, err := fmt.Fprintf(out, "%s %s; the store already has %d.\n", verb, count(int64(done.Written), "row"), done.Kept)
	return err
}

// exportedRow is a row as `chatguard shared export` prints it.
type exportedRow struct {
	ChannelID string          `json:"channel_id,omitempty"`
	UserID    string          `json:"user_id,omitempty"`
	Row       *limits.RowText `json:"row,omitempty"`
	// Problem is why the row can't be read.
	Problem string `json:"problem,omitempty"`
}

func newSharedExportCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "export [USER]",
		Short: "Print rows of the shared store as JSON lines",
		Long: `Prints the rows of the shared store, or those of the user with the ID USER, as JSON lines. A row has the usage of each limit
with the parameters under which it was spent, the strikes, the override and the grants. A row without a user is for a channel as a
whole, a row without a channel is for a user in all channels, and a row without both is for everyone in all channels. Room
and user IDs from a chat's server begin with "check:".`,
		Example: `  chatguard shared export 12345
  chatguard shared export check:anna
  chatguard shared export > rows.jsonl`,
		Args: optional(oneUser),
		RunE: func(cmd *cobra.Command, args []string) error {
			user := ""
			if len(args) > 0 {
				user = args[0]
			}
			return withStore(cmd, path, func(ctx context.Context, cfg config.Config, store *redisstore.Store) error {
				exported, err := exportRows(ctx, store, user, cmd.OutOrStdout())
				if err == nil && exported == 0 && user != "" {
					return noRows(cfg, user)
				}
				return err
			})
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// noRows returns the error for a user who has no rows, with a hint if the ID is a server's.
func noRows(cfg config.Config, user string) error {
	problem := "the shared store has no rows of " + user
	if len(cfg.Check.Channels) > 0 && !strings.HasPrefix(user, app.RoomSpace) {
		problem += fmt.Sprintf(": IDs of a server's users begin with %q (%[1]s%s)", app.RoomSpace, user)
	}
	return errors.New(problem)
}

// exportRows prints rows, and returns how many.
func exportRows(ctx context.Context, store *redisstore.Store, user string, w io.Writer) (exported int, err error) {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for row, err := range store.Rows(ctx, user) {
		if err != nil {
			return exported, errors.Join(err, out.Flush())
		}
		line := exportedRow{ChannelID: row.ChannelID, UserID: row.UserID}
		if text, err := limits.DescribeRow(row.Now); err == nil {
			line.Row = &text
		} else {
			line.Problem = err.Error()
		}
		if err := lines.Encode(line); err != nil {
			return exported, err
		}
		exported++
	}
	return exported, out.Flush()
}

func newSharedForgetCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "forget USER",
		Short: "Delete a user's rows from the shared store",
		Long: `Empties all rows of the user with the ID USER in the shared store: usage, strikes, override and grants, in all channels.
Running nodes are notified, and the user's next message counts as that of a new user. An empty row remains under the
user's ID until the old row would have expired, or for a week if it had an override. The nodes' journals keep the user's
throttled messages for the configured "retention". IDs from a chat's server begin with "check:".`,
		Example: `  chatguard shared forget 12345
  chatguard shared forget check:anna`,
		Args: oneUser,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd, path, func(ctx context.Context, cfg config.Config, store *redisstore.Store) error {
				deleted, err := store.Delete(ctx, args[0])
				switch {
				case err != nil:
					return err
				case deleted == 0:
					return noRows(cfg, args[0])
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "Deleted %s of %s.\n", count(int64(deleted), "row"), args[0])
				return err
			})
		},
	}
	addConfigFlag(cmd, &path)
	return cmd
}
