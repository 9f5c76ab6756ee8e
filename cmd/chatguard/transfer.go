package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/persist/transfer"
)

// transferJob is the task of backup, export or import: the configuration's database and a FILE.
type transferJob struct {
	cmd  *cobra.Command
	cfg  config.Config
	file string // empty if a flag names a folder
	opts *transfer.Options
}

// transferWork is how a transferJob is done.
type transferWork struct {
	state      func() string // returns the progress
	unfinished string        // message if it is stopped
	do         func(context.Context) (report string, err error)
}

// transferCommand completes cmd, which so far has only its texts. The command calls plan before the
// work begins.
func transferCommand(cmd *cobra.Command, opts *transfer.Options, plan func(transferJob) (transferWork, error)) *cobra.Command {
	opts.Progress = new(transfer.Progress)
	return configCommand(cmd, func(cmd *cobra.Command, cfg config.Config, files []string) error {
		job := transferJob{cmd: cmd, cfg: cfg, opts: opts}
		if len(files) > 0 {
			job.file = files[0]
		}
		work, err := plan(job)
		if err != nil {
			return err
		}
		var report string
		err = runLongWork(cmd, work.state, work.unfinished, func(ctx context.Context) (err error) {
			report, err = work.do(ctx)
			return err
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), hostile.Visible(report))
		return err
	})
}

// writeCommand returns a transferCommand that writes FILE.
func writeCommand(cmd *cobra.Command, plan func(transferJob) (transferWork, error)) *cobra.Command {
	var opts transfer.Options
	cmd.Flags().BoolVar(&opts.Force, "force", false, "replace FILE if it exists")
	return transferCommand(cmd, &opts, func(j transferJob) (transferWork, error) {
		if isSameFile(j.file, j.cfg.Path) {
			return transferWork{}, fmt.Errorf("%s would overwrite the configuration %s: name another file", j.file, j.cfg.Path)
		}
		return plan(j)
	})
}

// isSameFile reports whether both names refer to the same file, including through links.
func isSameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// oneFile requires exactly one FILE argument.
func oneFile(what string) cobra.PositionalArgs { return oneArgument("FILE", what) }

func notWrittenMessage(file string) string { return file + " wasn't written" }

// copyReport returns a report that says what was written and which moment the data is from.
func copyReport(made transfer.Copy, size string) string {
	return fmt.Sprintf("Wrote %s (%s): the database as of %s\n", made.Path, size, moment(made.At))
}
