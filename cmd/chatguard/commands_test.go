//go:build !race

package main

import (
	"os"
	"regexp"
	"slices"
	"testing"
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
