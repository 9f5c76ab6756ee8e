package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist/transfer"
)

func newBackupCommand() *cobra.Command {
	return writeCommand(&cobra.Command{
		Use:   "backup [flags] FILE",
		Short: "Copy the database, also while chatguard runs",
		Long: `Copies a snapshot of the whole database to FILE. FILE is itself a database and can replace the
original. Works while chatguard runs, and never delays it. FILE appears when it is complete, or not at all.

FILE contains chat text, sign-ins and the secrets of webhooks, so only its owner can read it.`,
		Example: `  chatguard backup chatguard-backup.db
  chatguard backup --force /mnt/usb/chatguard.db`,
		Args: cobra.MatchAll(oneFile("a FILE to write"), refuseStream),
	}, planBackup)
}

// refuseStream refuses the argument "-" that other commands accept.
func refuseStream(cmd *cobra.Command, files []string) error {
	if files[0] == "-" {
		return usageError{errors.New(cmd.CommandPath() + " needs a file; `chatguard export -` writes to standard output")}
	}
	return nil
}

func planBackup(j transferJob) transferWork {
	return transferWork{
		state:      func() string { return "copied " + byteCount(j.opts.Progress.Bytes()) },
		unfinished: notWrittenMessage(j.file),
		do: func(ctx context.Context) (string, error) {
			made, err := transfer.Backup(ctx, j.cfg.Database, j.file, j.opts)
			return copyReport(made, byteCount(made.Bytes)), err
		},
	}
}
