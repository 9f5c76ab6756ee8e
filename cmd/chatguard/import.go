package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist/transfer"
)

func newImportCommand() *cobra.Command {
	var opts transfer.Options
	cmd := &cobra.Command{
		Use:   "import [flags] FILE",
		Short: "Restore an export while chatguard isn't running",
		Long: `Loads what "chatguard export" wrote into the database of the configuration, all of it or nothing. chatguard then
continues where it was at the export. Stop chatguard first. Sign-ins are not changed.

FILE can be plain or gzip; - is standard input. A database that isn't empty is refused. With --replace,
the export replaces its contents, and a copy is kept next to it as chatguard.db.before-import.`,
		Example: `  chatguard import chatguard.jsonl.gz
  ssh oldmachine chatguard export - | chatguard import -`,
		Args: oneFile("a FILE to read, or - for standard input"),
	}
	cmd.Flags().BoolVar(&opts.Replace, "replace", false, "replace the contents of the database; a copy is kept")
	return transferCommand(cmd, &opts, planImport)
}

func planImport(j transferJob) (transferWork, error) {
	in, name, err := openInput(j.cmd, j.file)
	return transferWork{
		state:      func() string { return "imported " + rowCount(j.opts.Progress.Rows()) },
		unfinished: "nothing was imported",
		do: func(ctx context.Context) (string, error) {
			defer in.Close()
			made, err := transfer.Import(ctx, j.cfg.Database, interruptibleReader(ctx, in), name, j.opts)
			return importReport(made), err
		},
	}, err
}

// openInput opens a file for reading and returns its display name; - is standard input.
func openInput(cmd *cobra.Command, file string) (in io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(cmd.InOrStdin()), "standard input", nil
	}
	const fix = "name a file that `chatguard export` wrote"
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return nil, file, fmt.Errorf("%s is a folder: %s", file, fix)
	}
	if err == nil {
		in, err = os.Open(file)
	}
	switch failed := (*fs.PathError)(nil); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, file, fmt.Errorf("%s doesn't exist: %s", file, fix)
	case errors.As(err, &failed):
		return nil, file, fmt.Errorf("%s can't be read (%w): make it readable for this user, or %s", file, failed.Err, fix)
	}
	return in, file, err
}

// interruptibleReader returns a reader for r that fails once the context ends. A read from a
// terminal or a pipe can't be canceled. The goroutine that reads is therefore abandoned and ends
// with the process.
func interruptibleReader(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}

// importReport returns a report that says what was imported.
func importReport(made transfer.Imported) string {
	report := fmt.Sprintf("Imported %s into %s: as of %s\n", rowCount(made.Rows), made.Path, moment(made.At))
	if made.Kept != "" {
		report += fmt.Sprintf("What was there before is in %s\n", made.Kept)
	}
	return report
}
