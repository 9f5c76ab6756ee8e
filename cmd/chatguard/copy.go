package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist"
)

// copyJob is what backup, export and import are asked to do: something with the database of the configuration and a FILE.
type copyJob struct {
	cmd  *cobra.Command
	cfg  config.Config
	file string
	opts *persist.CopyOptions
}

// copyWork is how they do it.
type copyWork struct {
	state      func() string // how far it is
	unfinished string        // what it says when it is stopped
	do         func(context.Context) (report string, err error)
}

// copyCommand completes a command that has its texts. plan is called before the work begins.
func copyCommand(cmd *cobra.Command, opts *persist.CopyOptions, plan func(copyJob) (copyWork, error)) *cobra.Command {
	var path string
	opts.Progress = new(persist.Progress)
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		cfg, err := loadConfig(path)
		if err != nil {
			return err
		}
		work, err := plan(copyJob{cmd, cfg, files[0], opts})
		if err != nil {
			return err
		}
		var report string
		err = longWork(cmd, work.state, work.unfinished, func(ctx context.Context) (err error) {
			report, err = work.do(ctx)
			return err
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), plainText(report))
		return err
	}
	addConfigFlag(cmd, &path)
	return cmd
}

// writeCommand is a copyCommand that writes FILE.
func writeCommand(cmd *cobra.Command, plan func(copyJob) copyWork) *cobra.Command {
	var opts persist.CopyOptions
	cmd.Flags().BoolVar(&opts.Force, "force", false, "replace FILE where it exists")
	return copyCommand(cmd, &opts, func(j copyJob) (copyWork, error) {
		if isSameFile(j.file, j.cfg.Path) {
			return copyWork{}, fmt.Errorf("%s would write over the configuration %s: name another file", j.file, j.cfg.Path)
		}
		return plan(j), nil
	})
}

// isSameFile says whether both names, or what they link to, are one file.
func isSameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// oneFile refuses a command without its file, or with more than one.
func oneFile(what string) cobra.PositionalArgs { return oneArgument("FILE", what) }

func notWritten(file string) string { return file + " wasn't written" }

// wrote says what was written, and as of when.
func wrote(made persist.Copy, size string) string {
	return fmt.Sprintf("Wrote %s (%s): the database as of %s\n", made.Path, size, moment(made.At))
}
