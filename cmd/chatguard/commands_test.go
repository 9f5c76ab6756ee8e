//go:build !race

package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/chatguard/chatguard/limitinfo"
)

// TestCommands_Documented checks that docs/commands.md has a row for each command, and for no
// other.
func TestCommands_Documented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/commands.md")
	must(t, err)
	var rows, commands []string
	for _, row := range regexp.MustCompile("(?m)^\\| `chatguard ([a-z]+)").FindAllSubmatch(page, -1) {
		rows = append(rows, string(row[1]))
	}
	for _, cmd := range newRootCommand().Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "completion" {
			commands = append(commands, cmd.Name())
		}
	}
	slices.Sort(rows)
	slices.Sort(commands)
	if !slices.Equal(rows, commands) {
		t.Errorf("docs/commands.md has rows for %q, but the commands are %q", rows, commands)
	}
}

// TestLimitHelp checks that the help of --limit has each key of a limit that affects a decision.
func TestLimitHelp(t *testing.T) {
	t.Parallel()
	help := limitHelp()
	for _, info := range limitinfo.Algorithms() {
		names := []string{"per", "count_throttled"}
		for _, p := range slices.Concat(info.Parameters, info.TextParameters) {
			names = append(names, p.Name)
		}
		for _, name := range names {
			if !regexp.MustCompile(`\b` + name + `\b[^=]`).MatchString(help) {
				t.Errorf("%s is missing in %s", name, help)
			}
		}
	}
}
