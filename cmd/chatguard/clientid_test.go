//go:build !race

package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	withoutID = "[twitch]\nclient_id = \"\"\n# mine\n"
	withID    = "[twitch]\nclient_id = \"abcdefgh\"\n# mine\n"
)

// keepID stores a client ID in a configuration and returns the form's output.
func keepID(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	must(t, (&clientIDForm{out: &out, path: path}).keep("abcdefgh"))
	return out.String()
}

// TestClientIDForm_Keeps checks that a new file replaces the configuration, without a moment in
// which the file is incomplete. The file's mode and links to it are kept.
func TestClientIDForm_Keeps(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, link := filepath.Join(folder, "mine.toml"), filepath.Join(folder, "link.toml")
	must(t, os.WriteFile(path, []byte(withoutID), 0o640))
	must(t, os.Symlink("mine.toml", link))
	before, err := os.Open(path)
	must(t, err)
	defer before.Close()
	if out := keepID(t, link); out != "\nSaved it in "+link+".\n\n" {
		t.Errorf("it says %q", out)
	}
	if old, err := io.ReadAll(before); err != nil || string(old) != withoutID {
		t.Errorf("who reads the old file gets %q, %v", old, err)
	}
	if contents, err := os.ReadFile(path); err != nil || string(contents) != withID {
		t.Errorf("the new one is %q, %v", contents, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if target, err := os.Readlink(link); err != nil || target != "mine.toml" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("in the folder are %v, %v", entries, err)
	}
}

// TestClientIDForm_CannotKeep checks what happens if no file can be created next to the
// configuration. The configuration stays unchanged, and the form prints the line to add.
func TestClientIDForm_CannotKeep(t *testing.T) {
	t.Parallel()
	// the name is so long that no longer one can be created next to it
	path := filepath.Join(t.TempDir(), strings.Repeat("long", 61)+".toml")
	must(t, os.WriteFile(path, []byte(withoutID), 0o600))
	out := keepID(t, path)
	if !strings.Contains(out, "no new file can be created in its folder") || !strings.Contains(out, `Until it has client_id = "abcdefgh" in [twitch]`) {
		t.Errorf("it says %q", out)
	}
	if contents, err := os.ReadFile(path); err != nil || string(contents) != withoutID {
		t.Errorf("the file is %q, %v", contents, err)
	}
}
