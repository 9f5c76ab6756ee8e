package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// holds checks that a file has these contents and this mode, and that the folder contains nothing
// else except beside.
func holds(t *testing.T, path, contents string, mode fs.FileMode, beside int) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != contents {
		t.Errorf("the file is %q, %v; want %q", got, err, contents)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != mode {
		t.Errorf("its mode is %v, %v; want %v", info.Mode(), err, mode)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1+beside {
		t.Errorf("in the folder are %v, %v", entries, err)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("old"), nil); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "old", 0o600, 0)
	if err := Write(path, []byte("new"), func(f *os.File) error { return f.Chmod(0o640) }); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new", 0o640, 0)
}

func TestWrite_Link(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new", 0o600, 1)
	if target, err := os.Readlink(link); err != nil || target != "file" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

func TestWrite_Failed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if err := Write(path, []byte("new"), func(*os.File) error { return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	holds(t, path, "old", 0o600, 0)
	if err := Write(filepath.Join(path, "below"), nil, nil); err == nil {
		t.Error("wrote a file below a file")
	}
	if err := Write(filepath.Join(filepath.Dir(path), "none", "file"), nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
	holds(t, path, "old", 0o600, 0)
}

func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Rewrite(path, []byte("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where there is none: %v", err)
	}
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new", 0o644, 0)
	if os.Geteuid() == 0 {
		return // root may write to any file
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := Rewrite(path, []byte("newer")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that can't be written: %v", err)
	}
	holds(t, path, "new", 0o444, 0)
}

// Write removes what a killed process left, but not what another one may be writing now.
func TestWrite_Abandoned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	old := time.Now().Add(-2 * AbandonedAfter)
	for name, at := range map[string]time.Time{".123.new": old, ".45.new": time.Now(), ".mine.new": old, ".6": old} {
		if err := errors.Join(os.WriteFile(path+name, nil, 0o600), os.Chtimes(path+name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(path, []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new", 0o600, 3)
	if _, err := os.Stat(path + ".123.new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a draft is left: %v", err)
	}
}
