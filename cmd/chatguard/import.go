package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newImportCommand() *cobra.Command {
	var opts persist.CopyOptions
	cmd := &cobra.Command{
		Use:   "import [flags] FILE",
		Short: "Take back what export wrote, while chatguard doesn't run",
		Long: `Puts what "chatguard export" wrote into the database of the configuration, all of it or nothing. After that chatguard
goes on where it was at the export. Stop chatguard first. Sign-ins stay as they are.

FILE can be plain or gzip; - is standard input. A database that holds something already is refused: with --replace a
copy of it is kept beside it, as chatguard.db.before-import, and the export takes its place.`,
		Example: `  chatguard import chatguard.jsonl.gz
  ssh oldmachine chatguard export - | chatguard import -`,
		Args: oneFile("a FILE to read, or - for standard input"),
	}
	cmd.Flags().BoolVar(&opts.Replace, "replace", false, "replace what the database holds; a copy of that is kept")
	return copyCommand(cmd, &opts, planImport)
}

func planImport(j copyJob) (copyWork, error) {
	in, name, err := openInput(j.cmd, j.file)
	return copyWork{
		state:      func() string { return "imported " + rowCount(j.opts.Progress.Rows()) },
		unfinished: "nothing was imported",
		do: func(ctx context.Context) (string, error) {
			defer in.Close()
			made, err := persist.Import(ctx, j.cfg.Database, interruptible(ctx, in), name, j.opts)
			return imported(made), err
		},
	}, err
}

// openInput opens a file to read, and returns what to call it; - is standard input.
func openInput(cmd *cobra.Command, file string) (in io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(cmd.InOrStdin()), "standard input", nil
	}
	const mend = "name a file that `chatguard export` wrote"
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return nil, file, fmt.Errorf("%s is a folder: %s", file, mend)
	}
	if err == nil {
		in, err = os.Open(file)
	}
	switch failed := (*fs.PathError)(nil); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, file, fmt.Errorf("%s doesn't exist: %s", file, mend)
	case errors.As(err, &failed):
		return nil, file, fmt.Errorf("%s can't be read (%w): make it readable for this user, or %s", file, failed.Err, mend)
	}
	return in, file, err
}

// interruptible is r until the context ends. A read from a terminal or a pipe can't be called off, so the goroutine that waits in one isn't waited
// for: it ends with the process.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}

func imported(made persist.Imported) string {
	report := fmt.Sprintf("Imported %s into %s: as of %s\n", rowCount(made.Rows), made.Path, moment(made.At))
	if made.Kept != "" {
		report += fmt.Sprintf("What was there before is in %s\n", made.Kept)
	}
	return report
}
