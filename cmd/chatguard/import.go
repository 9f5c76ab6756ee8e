package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/persist"
)

func newImportCommand() *cobra.Command {
	var path string
	var replace bool
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
		RunE: func(cmd *cobra.Command, files []string) error {
			cfg, err := loadConfig(path)
			if err != nil {
				return err
			}
			in, name, err := openInput(cmd, files[0])
			if err != nil {
				return err
			}
			defer in.Close()
			var progress persist.Progress
			options := &persist.CopyOptions{Replace: replace, Progress: &progress}
			state := func() string { return "imported " + rowCount(progress.Rows()) }
			var made persist.Imported
			err = longWork(cmd, state, "nothing was imported", func(ctx context.Context) (err error) {
				made, err = persist.Import(ctx, cfg.Database, interruptible(ctx, in), name, options)
				return err
			})
			if err != nil {
				return err
			}
			return printImported(cmd.OutOrStdout(), made)
		},
	}
	addConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&replace, "replace", false, "replace what the database holds; a copy of that is kept")
	return cmd
}

// openInput opens a file to read, and returns what to call it; - is standard input.
func openInput(cmd *cobra.Command, file string) (in io.ReadCloser, name string, err error) {
	if file == "-" {
		return io.NopCloser(cmd.InOrStdin()), "standard input", nil
	}
	in, err = os.Open(file)
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

func printImported(out io.Writer, made persist.Imported) error {
	_, err := fmt.Fprintf(out, "Imported %s into %s: as of %s\n", rowCount(made.Rows), made.Path, moment(made.At))
	if err == nil && made.Kept != "" {
		_, err = fmt.Fprintf(out, "What was there before is in %s\n", made.Kept)
	}
	return err
}
