package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newExportCommand() *cobra.Command {
	var path string
	var force bool
	cmd := &cobra.Command{
		Use:   "export [flags] FILE",
		Short: "Write state and journal as JSON lines, also while chatguard runs",
		Long: `Writes what the database holds, as it is at one moment, as JSON lines: what users have spent, the journal, the
timeline, changes of policies, the audit and the channels' names. Sign-ins stay out. "chatguard import" takes it back,
on any machine. Works while chatguard runs, and never holds it up.

A FILE that ends in .gz is compressed; - is standard output. FILE appears when it is whole, or not at all. It holds chat
text, so only its owner can read it.`,
		Example: `  chatguard export chatguard.jsonl.gz
  chatguard export - | grep '"user_id":"7"'`,
		Args: oneFile("a FILE to write, or - for standard output"),
		RunE: func(cmd *cobra.Command, files []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			var progress persist.Progress
			options := &persist.CopyOptions{Force: force, Progress: &progress}
			state := func() string { return "exported " + rowCount(progress.Rows()) }
			if files[0] == "-" {
				return longWork(cmd, state, "what was written is only a part", func(ctx context.Context) error {
					_, err := persist.Export(ctx, cfg.Database, cmd.OutOrStdout(), options)
					return err
				})
			}
			var made persist.Copy
			err = longWork(cmd, state, notWritten(files[0]), func(ctx context.Context) (err error) {
				made, err = persist.ExportFile(ctx, cfg.Database, files[0], options)
				return err
			})
			if err != nil {
				return err
			}
			return printCopy(cmd.OutOrStdout(), made, fmt.Sprintf("%s, %s", rowCount(made.Rows), byteCount(made.Bytes)))
		},
	}
	addConfigFlag(cmd, &path)
	addForceFlag(cmd, &force)
	return cmd
}
