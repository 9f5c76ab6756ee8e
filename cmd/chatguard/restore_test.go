//go:build !race

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/waittest"
)

// encryptedBackup makes an encrypted backup and returns its path.
func (s *scene) encryptedBackup() string {
	s.Helper()
	file := filepath.Join(s.TempDir(), "backup.age")
	s.run("backup", "--encrypt", file)
	return file
}

// TestRestore_MoveToAnotherMachine makes an encrypted backup of a running chatguard, and restores
// it in an empty folder. There, chatguard needs no environment to continue.
func TestRestore_MoveToAnotherMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("it encrypts on purpose slowly")
	}
	t.Parallel()
	s := newScene(t, threeMessages)
	s.env = append(s.env, passphraseVariable+"=secret words")
	s.start()
	s.exhaustLimit("anna")
	waittest.Until(t, func() bool { return len(s.export().timeline) == 4 })
	file := s.encryptedBackup()
	want := fmt.Sprintf("database %s is in use by process %d: stop that first, or set another database", s.database(), s.bot.Process.Pid)
	if line := s.checkRefused("restore", file); line != want {
		t.Errorf("restore says %q, want %q", line, want)
	}
	s.sayExcess("anna") // the running chatguard still works
	s.stop()

	there := s.move()
	must(t, os.Remove(there.configuration))
	there.run("restore", file)
	for _, name := range []string{there.database(), there.database() + ".token", there.database() + ".textkey"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	there.env = []string{"CHATGUARD_WEB_TOKEN=" + webToken, "CHATGUARD_FLUSH_INTERVAL=20ms"}
	there.start()
	there.sayExcess("anna")
	there.sayAllowed("berta")
	there.stop()
}

// TestRestore_AfterKill restores over the database of a killed chatguard, whose log has data. What
// was there before is complete, and can be restored itself.
func TestRestore_AfterKill(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	copied := filepath.Join(t.TempDir(), "copy.db")
	s.run("backup", copied)
	s.exhaustLimit("anna")
	waittest.Until(t, func() bool { return len(s.export().timeline) == 4 })
	s.kill()
	if log, err := os.Stat(s.database() + "-wal"); err != nil || log.Size() == 0 {
		t.Fatalf("the log has no data: %v, %v", log, err)
	}
	printed := s.run("restore", copied)
	kept := s.database() + ".before-restore"
	if !strings.Contains(printed, "What was there before is in "+kept+"\n") {
		t.Errorf("restore says %q", printed)
	}
	if r := s.export(); len(r.timeline) != 0 {
		t.Errorf("the restored database has %d messages", len(r.timeline))
	}
	const useless = "The database's hashes of texts are useless without their key: "
	if printed := s.run("restore", kept); strings.Contains(printed, useless) {
		t.Errorf("with the key, restore says %q", printed)
	}
	if r := s.export(); len(r.timeline) != 4 || len(r.journal) != 1 {
		t.Errorf("what was there before has %d messages", len(r.timeline))
	}
	must(t, os.Remove(s.database()+".textkey"))
	s.run("backup", "--force", copied)
	if printed := s.run("restore", copied); strings.Count(printed, useless) != 1 {
		t.Errorf("without the key, restore says %q", printed)
	}
	const missing = `level=WARN msg="the key of texts is missing, so the database's hashes of texts are useless: `
	for starts, warnings := range []int{1, 0} {
		s.start()
		s.sayExcess("anna")
		if log := s.bot.log(); strings.Count(log, missing) != warnings {
			t.Errorf("after %d starts, the log says\n%s", starts, log)
		}
		s.stop()
	}
}

// TestRestore_Completed checks that any command completes a restore that was interrupted after its
// files were written.
func TestRestore_Completed(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.run("backup", s.database()+".chatguard-part") // as restore writes it
	s.exhaustLimit("anna")
	s.stop()
	marker := s.database() + ".restoring"
	staged, err := os.ReadFile(s.database() + ".chatguard-part")
	must(t, err)
	target, err := filepath.EvalSymlinks(s.database())
	must(t, err)
	must(t, os.WriteFile(marker, fmt.Appendf(nil, `{"kept_suffix":".before-restore","files":[{"part":1,"target":%q,"sha256":"%x"}]}`, target, sha256.Sum256(staged)), 0o600))
	if r := s.export(); len(r.timeline) != 0 {
		t.Errorf("there are %d messages", len(r.timeline))
	}
	if _, err := os.Stat(marker); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the marker is left: %v", err)
	}
	if _, err := os.Stat(s.database() + ".before-restore"); err != nil {
		t.Error(err)
	}
}
