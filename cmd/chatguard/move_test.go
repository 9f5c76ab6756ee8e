package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moved returns the same scene on another machine, which has only the configuration.
func (s *scene) moved() *scene {
	s.Helper()
	contents, err := os.ReadFile(s.configuration)
	if err != nil {
		s.Fatal(err)
	}
	other := s.in(s.T)
	other.configuration = filepath.Join(s.TempDir(), "chatguard.toml")
	if err := os.WriteFile(other.configuration, contents, 0o600); err != nil {
		s.Fatal(err)
	}
	return other
}

// TestCopies_WhileChatguardRuns checks that a backup and an export work while chatguard runs, and
// an import doesn't.
func TestCopies_WhileChatguardRuns(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.useUp("anna")
	until(t, func() bool { return len(s.export().timeline) == 4 })
	folder := t.TempDir()
	lines, copied := filepath.Join(folder, "chatguard.jsonl"), filepath.Join(folder, "copy.db")
	s.do("export", lines)
	s.do("backup", copied)
	want := fmt.Sprintf("database %s is in use by process %d: stop that first, or set another database", s.database(), s.bot.Process.Pid)
	if line := s.refused("import", "--replace", lines); line != want {
		t.Errorf("import says %q, want %q", line, want)
	}
	s.fine("berta")
	s.tooMuch("anna") // the running chatguard still works
	s.stop()

	// The export and the backup contain the current state.
	for name, put := range map[string]func(there *scene){
		"export": func(there *scene) { there.do("import", lines) },
		"backup": func(there *scene) {
			if err := os.Rename(copied, there.database()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		there := s.moved()
		put(there)
		if r := there.export(); len(r.timeline) != 4 || len(r.journal) != 1 || r.states == 0 || len(r.channels) != 1 {
			t.Errorf("the %s holds %+v", name, r)
		}
	}

	// The owner can restore it as well.
	printed := s.do("import", "--replace", lines)
	if !strings.Contains(printed, "What was there before is in "+s.database()+".before-import\n") {
		t.Errorf("import says %q", printed)
	}
	s.start()
	s.tooMuch("anna")
	s.useUp("berta")
	s.stop()
}

// TestCopies_MoveToAnotherMachine checks that another machine continues where this one ended, with
// usage and live changes.
func TestCopies_MoveToAnotherMachine(t *testing.T) {
	t.Parallel()
	here := newScene(t, threeMessages)
	here.start()
	here.fine("berta")
	for range 3 {
		here.fine("anna")
	}
	here.tooMuch("anna")
	if !here.change(twoMessages) {
		t.Error("the change isn't saved")
	}
	here.stop()
	lines := filepath.Join(t.TempDir(), "chatguard.jsonl.gz")
	here.do("export", lines)

	there := here.moved()
	there.do("import", lines)
	there.start()
	there.tooMuch("anna")
	there.fine("berta")
	there.tooMuch("berta")
	there.fine("carla")
	there.fine("carla")
	there.tooMuch("carla")
	there.stop()
	r := there.export()
	if len(r.timeline) != 5+6 || len(r.journal) != 4 || len(r.revisions) != 1 || r.audits != 1 {
		t.Errorf("there is %+v", r)
	}
	for i, e := range r.journal[1:] {
		if e.ID <= r.journal[i].ID {
			t.Errorf("entry %d after %d", e.ID, r.journal[i].ID)
		}
	}
}
