//go:build !race

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestGitignore_WrittenFiles runs chatguard in a clone. The files that it writes contain tokens and
// chat, so `git add -A` must leave them out.
func TestGitignore_WrittenFiles(t *testing.T) {
	t.Parallel()
	server, configuration := startTwitch(t, "")
	folder := filepath.Dir(configuration)
	rules, err := os.ReadFile("../../.gitignore")
	must(t, err)
	write := func(name string, contents []byte) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(folder, name), contents, 0o600))
	}
	command := func(in string, args ...string) {
		t.Helper()
		c := commandLine(t, args...)
		c.Dir = filepath.Join(folder, in)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("chatguard %s: %v\n%s", args, err, out)
		}
	}
	runGit(t, folder, "init", "--quiet")
	write(".gitignore", rules)
	write("fresh/.gitkeep", nil)
	command("fresh", "init", "--channel", "gardenhour", "--timezone", "UTC")
	// stored as by `chatguard login`
	p := start(t, configuration, "CHATGUARD_TWITCH_TOKEN="+server.Token())
	command("", "backup", "chatguard-backup.db")
	command("", "export", "chatguard.jsonl.gz")
	command("", "export", "chatguard.jsonl")
	if err := p.Process.Kill(); err != nil { // leaves the database's write-ahead log
		t.Fatal(err)
	}
	p.Wait()
	inUse := []string{"chatguard.db", "chatguard.db-wal", "chatguard.db-shm", "chatguard.db.lock", "chatguard.db.token", "chatguard.db.token.lock", "chatguard.db.textkey"}
	written := listFiles(t, folder)
	for _, name := range []string{ // left by a crash, a migration, an import, a restore and builds
		"chatguard.db.v1", "chatguard.db.before-import", "chatguard.db.before-import.2", "chatguard.db.before-restore", "chatguard.db.restoring", "chatguard.toml.before-restore", "chatguard.db.copying.chatguard-part", "backup.age", "chatguard-backup.db.chatguard-part", "chatguard-backup.db.chatguard-part-journal", "chatguard.jsonl.gz.chatguard-part",
		"chatguard.db.token.123.new", "chatguard.toml.123.new", "chatguard", "chatguard.exe", "dist/chatguard_linux_amd64.tar.gz", "chatguard.test", "testdata/rapid/TestX/TestX.fail",
		"internal/x/testdata/rapid/TestX/TestX.fail", "bench/testdata/rapid/TestX/TestX.fail", "examples/x/testdata/rapid/TestX/TestX.fail",
	} {
		write(name, nil)
	}
	for _, name := range append(inUse, "chatguard.toml", "fresh/chatguard.toml", "chatguard-backup.db", "chatguard.jsonl", "chatguard.jsonl.gz") {
		if !slices.Contains(written, name) {
			t.Errorf("chatguard wrote no %s: %q", name, written)
		}
	}
	runGit(t, folder, "add", "--all")
	if added := runGit(t, folder, "ls-files"); added != ".gitignore\nfresh/.gitkeep" {
		t.Errorf("git add -A takes\n%s", added)
	}
}

// TestGitignore_TrackedFiles checks that no source file is ignored, because changes to it would be
// lost.
func TestGitignore_TrackedFiles(t *testing.T) {
	if _, err := os.Stat("../../.git"); err != nil {
		return // a copy without its repository tracks nothing
	}
	if ignored := runGit(t, "../..", "ls-files", "--cached", "--ignored", "--exclude-standard"); ignored != "" {
		t.Errorf("tracked, and ignored:\n%s", ignored)
	}
}

// listFiles returns the files below a folder, except for git's.
func listFiles(t testing.TB, folder string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git":
			return filepath.SkipDir
		case !entry.IsDir():
			name, err := filepath.Rel(folder, path)
			names = append(names, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	must(t, err)
	return names
}

// runGit runs git without this machine's settings and returns its output.
func runGit(t testing.TB, folder string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "safe.directory=*", "-C", folder}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
