package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist/transfer"
)

func newExportCommand() *cobra.Command {
	return writeCommand(&cobra.Command{
		Use:   "export [flags] FILE",
		Short: "Write state and journal as JSON lines, even while chatguard runs",
		Long: `Writes a snapshot of the database as JSON lines: usage, the journal, the timeline, policy changes, the audit log and the
channels' names. Sign-ins are left out. "chatguard import" restores it, on any machine. Works while chatguard runs, and
never delays it.

A FILE that ends in .gz is compressed; - is standard output. FILE appears when it is complete, or not at all. It holds chat
text, so only its owner can read it. Don't pause an export, for example in a pager: until it ends, the write-ahead
log of a running chatguard's database keeps growing.`,
		Example: `  chatguard export chatguard.jsonl.gz
  chatguard export - | grep '"user_id":"7"'`,
		Args: oneFile("a FILE to write, or - for standard output"),
	}, planExport)
}

func planExport(j transferJob) (transferWork, error) {
	work := transferWork{
		state:      func() string { return "exported " + rowCount(j.opts.Progress.Rows()) },
		unfinished: notWrittenMessage(j.file),
		do: func(ctx context.Context) (string, error) {
			made, err := transfer.ExportFile(ctx, j.cfg.Database, j.file, j.opts)
			return copyReport(made, fmt.Sprintf("%s, %s", rowCount(made.Rows), byteCount(made.Bytes))), err
		},
	}
	if j.file == "-" {
		work.unfinished = "the output is incomplete"
		work.do = func(ctx context.Context) (string, error) {
			_, err := transfer.Export(ctx, j.cfg.Database, j.cmd.OutOrStdout(), j.opts)
			return "", err
		}
	}
	return work, nil
}
