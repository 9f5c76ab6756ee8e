package main

import (
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/web/static"
)

// moduleLicenses are the licences of chatguard, of Go, of Unicode's data and of the modules in the
// binary.
// scripts/licenses.sh writes them.
//
//go:embed licenses.txt
var moduleLicenses string

func newLicensesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of chatguard and of everything built into it",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return printLicenses(cmd.OutOrStdout()) },
	}
}

// printLicenses prints the licenses of the modules and of the dashboard's libraries.
func printLicenses(out io.Writer) error {
	if _, err := io.WriteString(out, moduleLicenses); err != nil {
		return err
	}
	names, err := fs.Glob(static.Files, "vendor/LICENSE-*")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(static.Files, name)
		if err != nil {
			return err
		}
		library := strings.TrimPrefix(name, "vendor/LICENSE-")
		if _, err := fmt.Fprintf(out, "==== %s, in the dashboard\n\n%s\n\n", library, text); err != nil {
			return err
		}
	}
	return nil
}
