package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/app"
)

// The linker sets these in releases and in `make build`. They are empty in other builds.
var stampedVersion, stampedCommit, stampedDate string

// build returns what this binary was built from: what the linker has set, or else what Go has
// recorded.
func build() app.Build {
	b := app.Build{
		Version: stampedVersion, Commit: stampedCommit, Date: stampedDate,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(b.Version, info.Main.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = cmp.Or(b.Commit, s.Value)
		case "vcs.time":
			b.Date = cmp.Or(b.Date, s.Value)
		}
	}
	return b
}

// describeBuild returns a build as one line, without the fields that are unknown.
func describeBuild(b app.Build) string {
	var details []string
	if b.Commit != "" {
		details = append(details, "commit "+b.Commit[:min(12, len(b.Commit))])
	}
	for _, detail := range []string{b.Date, b.Go, b.Platform} {
		if detail != "" {
			details = append(details, detail)
		}
	}
	return fmt.Sprintf("%s (%s)", cmp.Or(b.Version, "unknown"), strings.Join(details, ", "))
}

func newVersionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what it was built from",
		Long: `Prints the version, the commit, the commit's date, the version of Go, and the platform. "chatguard --version" prints the
same line. A build from a folder without a Git repository knows neither commit nor date.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return printBuild(cmd.OutOrStdout(), build(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printBuild prints a build as cobra prints it for --version, or as a JSON object.
func printBuild(out io.Writer, b app.Build, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(b)
	}
	_, err := fmt.Fprintf(out, "chatguard version %s\n", describeBuild(b))
	return err
}
