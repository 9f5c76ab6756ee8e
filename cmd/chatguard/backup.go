package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newBackupCommand() *cobra.Command {
	return writeCommand(&cobra.Command{
		Use:   "backup [flags] FILE",
		Short: "Copy the database, also while chatguard runs",
		Long: `Copies the whole database, as it is at one moment, to FILE: a database itself, which can take the place of the
original. Works while chatguard runs, and never holds it up. FILE appears when it is whole, or not at all.

FILE holds chat text and sign-ins, so only its owner can read it.`,
		Example: `  chatguard backup chatguard-backup.db
  chatguard backup --force /mnt/usb/chatguard.db`,
		Args: cobra.MatchAll(oneFile("a FILE to write"), noStream),
	}, planBackup)
}

// noStream refuses the - that other commands take.
func noStream(cmd *cobra.Command, files []string) error {
	if files[0] == "-" {
		return usageError{errors.New(cmd.CommandPath() + " needs a file; `chatguard export -` writes to standard output")}
	}
	return nil
}

func planBackup(j copyJob) copyWork {
	return copyWork{
		state:      func() string { return "copied " + byteCount(j.opts.Progress.Bytes()) },
		unfinished: notWritten(j.file),
		do: func(ctx context.Context) (string, error) {
			made, err := persist.Backup(ctx, j.cfg.Database, j.file, j.opts)
			return wrote(made, byteCount(made.Bytes)), err
		},
	}
}
