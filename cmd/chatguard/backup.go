package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newBackupCommand() *cobra.Command {
	var path string
	var force bool
	cmd := &cobra.Command{
		Use:   "backup [flags] FILE",
		Short: "Copy the database, also while chatguard runs",
		Long: `Copies the whole database, as it is at one moment, to FILE: a database itself, which can take the place of the
original. Works while chatguard runs, and never holds it up. FILE appears when it is whole, or not at all.

FILE holds chat text and sign-ins, so only its owner can read it.`,
		Example: `  chatguard backup chatguard-backup.db
  chatguard backup --force /mnt/usb/chatguard.db`,
		Args: oneFile("a FILE to write"),
		RunE: func(cmd *cobra.Command, files []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			var progress persist.Progress
			state := func() string { return "copied " + byteCount(progress.Bytes()) }
			var made persist.Copy
			err = longWork(cmd, state, notWritten(files[0]), func(ctx context.Context) (err error) {
				made, err = persist.Backup(ctx, cfg.Database, files[0], &persist.CopyOptions{Force: force, Progress: &progress})
				return err
			})
			if err != nil {
				return err
			}
			return printCopy(cmd.OutOrStdout(), made, byteCount(made.Bytes))
		},
	}
	addConfigFlag(cmd, &path)
	addForceFlag(cmd, &force)
	return cmd
}

// oneFile refuses a command without its file, or with more than one.
func oneFile(what string) cobra.PositionalArgs {
	return cobra.MatchAll(someArguments(what), func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{fmt.Errorf("%s takes one FILE, but got %q too", cmd.CommandPath(), args[1])}
		}
		return nil
	})
}

func addForceFlag(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false, "replace FILE where it exists")
}

// printCopy says what was written, and as of when.
func printCopy(out io.Writer, made persist.Copy, size string) error {
	_, err := fmt.Fprintf(out, "Wrote %s (%s): the database as of %s\n", made.Path, size, moment(made.At))
	return err
}

func notWritten(file string) string { return file + " wasn't written" }
