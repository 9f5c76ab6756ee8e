//go:build unix && !race

package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/persist/sqlite"
)

// nobodysID is the ID of a user without any permissions.
const nobodysID = 65534

func init() {
	becomeNobody = func() error {
		if os.Getuid() != 0 {
			return nil
		}
		return errors.Join(syscall.Setgid(nobodysID), syscall.Setuid(nobodysID))
	}
}

// makeReadable makes the scene's configuration readable for every user.
func (s *scene) makeReadable() {
	s.Helper()
	folder := filepath.Dir(s.configuration)
	for name, mode := range map[string]os.FileMode{filepath.Dir(folder): 0o755, folder: 0o755, s.configuration: 0o644} {
		must(s, os.Chmod(name, mode))
	}
}

// TestDoctor_TriesFolder checks that the doctor creates a file in the database's folder, because
// only that shows whether it can.
func TestDoctor_TriesFolder(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.makeReadable()
	folder := filepath.Dir(s.configuration)
	must(t, os.Chmod(folder, 0o555))
	t.Cleanup(func() { os.Chmod(folder, 0o755) })
	out, _, code := s.withEnv(asNobody+"=1").runWithInput("", "doctor")
	want := fmt.Sprintf("problem  database       %s can't be created: its folder %s can't be written (permission denied)\n"+
		"                        make the folder writable for this user, or set another database\n", s.database(), folder)
	if code != exitFailed || !strings.Contains(out, want) {
		t.Errorf("the doctor ends with %d, and says\n%s\nwant\n%s", code, out, want)
	}
	must(t, os.Chmod(folder, 0o755))
	if out, _, _ := s.runWithInput("", "doctor"); !strings.Contains(out, "note     database       "+s.database()+" doesn't exist yet: `chatguard run` creates it\n") {
		t.Errorf("in a folder that takes files the doctor says\n%s", out)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.doctor")); len(left) > 0 || err != nil {
		t.Errorf("the doctor leaves %q, %v", left, err)
	}
}

// TestRun_RefuseRoot checks that root creates no database that the folder's owner can't use.
func TestRun_RefuseRoot(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cfg := config.Config{Database: filepath.Join(folder, "chatguard.db")}
	owner := strconv.Itoa(os.Getuid())
	if os.Getuid() == 0 {
		if err := refuseRoot(cfg, true); err != nil {
			t.Errorf("in root's own folder: %v", err)
		}
		owner = strconv.Itoa(nobodysID)
		must(t, os.Chown(folder, nobodysID, nobodysID))
	}
	if known, err := user.LookupId(owner); err == nil {
		owner = known.Username
	}
	err := refuseRoot(cfg, true)
	if want := "run `sudo -u " + owner + " chatguard run`, or `systemctl start chatguard`"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := refuseRoot(cfg, false); err != nil {
		t.Errorf("another user: %v", err)
	}
	without := cfg
	without.NoDatabase = true
	if err := refuseRoot(without, true); err != nil {
		t.Errorf("without a database: %v", err)
	}
	must(t, os.WriteFile(cfg.Database, nil, 0o600))
	if err := refuseRoot(cfg, true); err != nil {
		t.Errorf("a database that exists: %v", err)
	}
}

// TestRun_ByRoot checks that such a start creates nothing.
func TestRun_ByRoot(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	folder := filepath.Dir(s.configuration)
	if os.Getuid() != 0 { // a user's own start isn't refused
		s.start()
		s.stop()
		return
	}
	must(t, os.Chown(folder, nobodysID, nobodysID))
	if line := s.checkRefused("run"); !strings.HasPrefix(line, "root would create the database "+s.database()) {
		t.Errorf("run says %s", line)
	}
	if left, err := filepath.Glob(s.database() + "*"); len(left) > 0 || err != nil {
		t.Errorf("left are %q, %v", left, err)
	}
}

// TestStatus_DiskFull checks that a question that can't be written names the fix.
func TestStatus_DiskFull(t *testing.T) {
	t.Parallel()
	owned := &sqlite.OwnedError{Path: "/data/chatguard.db", PID: 4}
	full := fmt.Errorf("can't be asked: %w", &os.PathError{Op: "write", Path: "/data/x", Err: syscall.ENOSPC})
	if got, want := explainDiskFull(owned, full).Error(), "chatguard (process 4) can't be asked, because the disk of /data/chatguard.db is full: free some space"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if other := errors.New("other"); explainDiskFull(owned, other) != other {
		t.Error("another error is changed")
	}
}
