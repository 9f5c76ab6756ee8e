//go:build !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/waittest"
)

// move returns the same scene on another machine, which has only the configuration.
func (s *scene) move() *scene {
	s.Helper()
	contents, err := os.ReadFile(s.configuration)
	must(s, err)
	other := s.forTest(s.T)
	other.configuration = filepath.Join(s.TempDir(), "chatguard.toml")
	must(s, os.WriteFile(other.configuration, contents, 0o600))
	return other
}

// TestCopies_WhileChatguardRuns checks that a backup and an export work while chatguard runs, and
// an import doesn't.
func TestCopies_WhileChatguardRuns(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	waittest.Until(t, func() bool { return len(s.export().timeline) == 4 })
	folder := t.TempDir()
	lines, copied := filepath.Join(folder, "chatguard.jsonl"), filepath.Join(folder, "copy.db")
	s.run("export", lines)
	s.run("backup", copied)
	want := fmt.Sprintf("database %s is in use by process %d: stop that first, or set another database", s.database(), s.bot.Process.Pid)
	if line := s.checkRefused("import", "--replace", lines); line != want {
		t.Errorf("import says %q, want %q", line, want)
	}
	s.sayAllowed("berta")
	s.sayExcess("anna") // the running chatguard still works
	s.stop()

	// The export and the backup contain the current state.
	for name, put := range map[string]func(there *scene){
		"export": func(there *scene) { there.run("import", lines) },
		"backup": func(there *scene) {
			must(t, os.Rename(copied, there.database()))
		},
	} {
		there := s.move()
		put(there)
		if r := there.export(); len(r.timeline) != 4 || len(r.journal) != 1 || r.states == 0 || len(r.channels) != 1 {
			t.Errorf("the %s holds %+v", name, r)
		}
	}

	// The owner can restore it as well.
	printed := s.run("import", "--replace", lines)
	if !strings.Contains(printed, "What was there before is in "+s.database()+".before-import\n") {
		t.Errorf("import says %q", printed)
	}
	s.start()
	s.sayExcess("anna")
	s.exhaustLimit("berta")
	s.stop()
}
