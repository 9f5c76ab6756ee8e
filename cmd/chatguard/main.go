// Command chatguard moderates a chat. It applies a policy's limits to every chatter, acts on excess
// messages, stores its data in SQLite, and serves a dashboard. The files of this package define the
// commands, their flags and their output. Package internal/app does the work.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/inconshreveable/mousetrap"
	"github.com/spf13/cobra"

	// Certificates of public authorities, for systems that have none, such as a container image.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/chatguard/chatguard/internal/config"
)

func main() {
	code := execute(context.Background(), os.Args[1:])
	if code != 0 && mousetrap.StartedByExplorer() {
		keepWindow(os.Stdin, os.Stderr)
	}
	os.Exit(code)
}

// keepWindow waits until a person has read the error. On Windows, the window of a program that was
// started by a double-click closes when the program ends.
func keepWindow(in io.Reader, out io.Writer) {
	fmt.Fprintln(out, "\nPress Enter to close this window.")
	bufio.NewReader(in).ReadString('\n') // at the end of the input nobody can press Enter
}

// execute runs a command line and returns the exit code. It prints an error as one line.
func execute(ctx context.Context, args []string) int {
	cobra.MousetrapHelpText = "" // a double-click on Windows is as good as a command
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	printLine(os.Stderr, "chatguard: %v", err)
	var usage usageError
	var badConfig *config.Error
	if errors.As(err, &usage) || errors.As(err, &badConfig) {
		return exitUsage
	}
	var coded *exitError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitFailed
}
