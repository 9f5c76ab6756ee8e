package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newExportCommand() *cobra.Command {
	return writeCommand(&cobra.Command{
		Use:   "export [flags] FILE",
		Short: "Write state and journal as JSON lines, also while chatguard runs",
		Long: `Writes what the database holds, as it is at one moment, as JSON lines: what users have spent, the journal, the
timeline, changes of policies, the audit and the channels' names. Sign-ins stay out. "chatguard import" takes it back,
on any machine. Works while chatguard runs, and never holds it up.

A FILE that ends in .gz is compressed; - is standard output. FILE appears when it is whole, or not at all. It holds chat
text, so only its owner can read it. Don't leave an export standing, as in a pager: until it has ended, the log file
beside a running chatguard's database only grows.`,
		Example: `  chatguard export chatguard.jsonl.gz
  chatguard export - | grep '"user_id":"7"'`,
		Args: oneFile("a FILE to write, or - for standard output"),
	}, planExport)
}

func planExport(j copyJob) copyWork {
	work := copyWork{
		state:      func() string { return "exported " + rowCount(j.opts.Progress.Rows()) },
		unfinished: notWritten(j.file),
		do: func(ctx context.Context) (string, error) {
			made, err := persist.ExportFile(ctx, j.cfg.Database, j.file, j.opts)
			return wrote(made, fmt.Sprintf("%s, %s", rowCount(made.Rows), byteCount(made.Bytes))), err
		},
	}
	if j.file == "-" {
		work.unfinished = "what was written is only a part"
		work.do = func(ctx context.Context) (string, error) {
			_, err := persist.Export(ctx, j.cfg.Database, j.cmd.OutOrStdout(), j.opts)
			return "", err
		}
	}
	return work
}
