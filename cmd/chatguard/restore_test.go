//go:build !race

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	t.Parallel()
	s := newScene(t, threeMessages)
	s.env = append(s.env, passphraseVariable+"=secret")
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
	for _, name := range []string{there.database(), there.database() + ".token"} {
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
	s.run("restore", kept)
	if r := s.export(); len(r.timeline) != 4 || len(r.journal) != 1 {
		t.Errorf("what was there before has %d messages", len(r.timeline))
	}
	s.start()
	s.sayExcess("anna")
	s.stop()
}

// TestRestore_DamagedDatabase restores over a damaged database, which chatguard refuses.
func TestRestore_DamagedDatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	s.exhaustLimit("anna")
	s.stop()
	copied := filepath.Join(t.TempDir(), "copy.db")
	s.run("backup", copied)
	s.overwrite(0, []byte("damaged"))
	s.checkRefused("run")
	s.run("restore", copied)
	s.start()
	s.sayExcess("anna")
	s.stop()
}

// TestRestore_Killed kills a restore once it has made a file. The next command finds the old
// database or the new one, and no half of either. The tests of package restore kill it at each
// step.
func TestRestore_Killed(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.start()
	copied := filepath.Join(t.TempDir(), "copy.db")
	s.run("backup", copied)
	s.exhaustLimit("anna")
	s.stop()
	whole := filepath.Join(t.TempDir(), "whole.db")
	s.run("backup", whole)
	for _, suffix := range []string{".chatguard-part", ".restoring", ".before-restore"} {
		for killed := false; !killed; { // a restore may end before its kill
			s.run("restore", whole)
			removeKept(t, s.database())
			killed = killAtFile(t, s.chatguard("restore", copied), s.database()+suffix)
			if !killed {
				removeKept(t, s.database())
			}
		}
		if r := s.export(); len(r.timeline) != 0 && len(r.timeline) != 4 {
			t.Errorf("killed at %s: there are %d messages", suffix, len(r.timeline))
		}
		if _, err := os.Stat(s.database() + ".restoring"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("killed at %s: the marker is left, %v", suffix, err)
		}
		removeKept(t, s.database())
	}
}

// removeKept removes what a restore has kept, if anything.
func removeKept(t *testing.T, database string) {
	t.Helper()
	if err := os.Remove(database + ".before-restore"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
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

// killAtFile runs a command and kills it when a file appears. It returns false if the command has
// ended before, as it should.
func killAtFile(t *testing.T, command *exec.Cmd, file string) (killed bool) {
	t.Helper()
	var said bytes.Buffer
	command.Stderr = &said
	must(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	look := time.NewTicker(100 * time.Microsecond)
	defer look.Stop()
	for {
		var err error
		select {
		case err = <-ended:
		case <-look.C:
			if _, missing := os.Stat(file); missing != nil {
				continue
			}
			command.Process.Kill() // fails if it has ended
			err = <-ended
		}
		if err != nil && said.Len() > 0 {
			t.Fatalf("%v: %s", err, &said)
		}
		return err != nil
	}
}
