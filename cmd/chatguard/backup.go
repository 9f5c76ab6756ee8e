package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist/transfer"
)

func newBackupCommand() *cobra.Command {
	var b backup
	cmd := writeCommand(&cobra.Command{
		Use:   "backup [flags] FILE",
		Short: "Copy the database, even while chatguard runs",
		Long: `Copies a snapshot of the whole database to FILE. FILE is itself a database; "chatguard restore" goes back to it.
Works while chatguard runs, and never delays it. FILE appears when it is complete, or not at all.

FILE contains chat text, sign-ins and the secrets of webhooks, so only its owner can read it. With --encrypt, FILE also
contains the bot's login, the key of texts and the configuration, and nobody can read it without the passphrase. That
comes from --passphrase-file, from ` + passphraseVariable + `, or from you. FILE is a tar in the age format.

With --folder instead of FILE, the file is named after the current time. If the folder doesn't exist, it is created, for
this user only. With --keep, the oldest backups are then removed.`,
		Example: `  chatguard backup chatguard-backup.db
  chatguard backup --encrypt chatguard-backup.age
  chatguard backup --folder /var/backups/chatguard --keep 14`,
	}, b.plan)
	cmd.Args = b.checkArguments
	cmd.Flags().BoolVar(&b.encrypt, "encrypt", false, "also copy login, key of texts and configuration, and encrypt everything")
	cmd.Flags().StringVar(&b.folder.path, "folder", "", "write to a new file in this folder, instead of FILE")
	cmd.Flags().IntVar(&b.folder.keep, "keep", 0, "with --folder: how many backups to keep there (default: all)")
	b.passphrase.addFlag(cmd)
	return cmd
}

// backup is a call of `chatguard backup`.
type backup struct {
	encrypt    bool
	passphrase passphrase
	folder     backupFolder
}

// checkArguments requires a file or a folder, and flags that fit together.
func (b *backup) checkArguments(cmd *cobra.Command, files []string) error {
	keeps := cmd.Flags().Changed("keep")
	switch {
	case keeps && b.folder.path == "":
		return usageError{errors.New("--keep needs a folder: add --folder")}
	case keeps && b.folder.keep < 1:
		return usageError{fmt.Errorf("--keep is %d: want at least 1", b.folder.keep)}
	case !b.encrypt:
		if err := b.passphrase.refuseUnneeded("without --encrypt, no passphrase is needed"); err != nil {
			return err
		}
	}
	if b.folder.path == "" {
		return cobra.MatchAll(oneFile("a FILE to write"), refuseStream)(cmd, files)
	}
	if len(files) > 0 {
		return usageError{fmt.Errorf("--folder chooses the name of the file: leave out %q", files[0])}
	}
	return nil
}

// refuseStream refuses the argument "-", which other commands accept.
func refuseStream(cmd *cobra.Command, files []string) error {
	if files[0] == "-" {
		return usageError{errors.New(cmd.CommandPath() + " needs a file; `chatguard export -` writes to standard output")}
	}
	return nil
}

func (b *backup) plan(j transferJob) (transferWork, error) {
	copyTo := func(ctx context.Context, target string) (transfer.Copy, error) {
		return transfer.Backup(ctx, j.cfg.Database, target, j.opts)
	}
	ending := ".db"
	if b.encrypt {
		secret, err := b.passphrase.get(j.cmd, true)
		if err != nil {
			return transferWork{}, err
		}
		copyTo = func(ctx context.Context, target string) (transfer.Copy, error) {
			return transfer.BackupComplete(ctx, installationOf(j.cfg), target, secret, j.opts)
		}
		ending = ".age"
	}
	target := j.file
	if b.folder.path != "" {
		target = b.folder.next(time.Now(), ending)
	}
	return transferWork{
		state:      func() string { return "copied " + byteCount(j.opts.Progress.Bytes()) },
		unfinished: notWrittenMessage(target),
		do: func(ctx context.Context) (string, error) {
			if err := b.folder.create(j.cfg.Database); err != nil {
				return "", err
			}
			made, err := copyTo(ctx, target)
			if err != nil {
				return "", err
			}
			removed, err := b.folder.removeOld(ending)
			return b.report(made) + removed, err
		},
	}, nil
}

// report says what was written.
func (b *backup) report(made transfer.Copy) string {
	size := byteCount(made.Bytes)
	if !b.encrypt {
		return copyReport(made, size)
	}
	report := fmt.Sprintf("Wrote %s (%s, encrypted): the database as of %s", made.Path, size, moment(made.At))
	for _, f := range [][2]string{{transfer.ConfigurationName, "configuration"}, {transfer.LoginName, "login"}} {
		if !slices.Contains(made.Files, f[0]) {
			report += "; there is no " + f[1]
		}
	}
	return report + "\n"
}
