//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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
		if err := os.Chmod(name, mode); err != nil {
			s.Fatal(err)
		}
	}
}

// TestDoctor_TriesFolder checks that the doctor creates a file in the database's folder, because
// only that shows whether it can.
func TestDoctor_TriesFolder(t *testing.T) {
	t.Parallel()
	s := newScene(t, threeMessages)
	s.makeReadable()
	folder := filepath.Dir(s.configuration)
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(folder, 0o755) })
	out, _, code := s.withEnv(asNobody+"=1").runWithInput("", "doctor")
	want := fmt.Sprintf("problem  database       %s can't be created: its folder %s can't be written (permission denied)\n"+
		"                        make the folder writable for this user, or set another database\n", s.database(), folder)
	if code != exitFailed || !strings.Contains(out, want) {
		t.Errorf("the doctor ends with %d, and says\n%s\nwant\n%s", code, out, want)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := s.runWithInput("", "doctor"); !strings.Contains(out, "note     database       "+s.database()+" doesn't exist yet: `chatguard run` creates it\n") {
		t.Errorf("in a folder that takes files the doctor says\n%s", out)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.doctor")); len(left) > 0 || err != nil {
		t.Errorf("the doctor leaves %q, %v", left, err)
	}
}
