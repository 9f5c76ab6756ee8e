//go:build deploy

package packaging

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// dist returns the folder with a release of the working tree: archives, packages, and what else
// `make release` builds. It is built once. For work on one test, CHATGUARD_DIST names the folder of
// an earlier build, such as build/dist.
var dist = sync.OnceValues(func() (string, error) {
	if folder := os.Getenv("CHATGUARD_DIST"); folder != "" {
		return folder, nil
	}
	folder, err := filepath.Abs("../build/dist")
	if err != nil {
		return "", err
	}
	release := exec.Command("sh", "../scripts/release.sh")
	release.Env = append(os.Environ(), "DIST="+folder, "PUBLISH=")
	if out, err := release.CombinedOutput(); err != nil {
		return "", fmt.Errorf("scripts/release.sh: %w\n%s", err, out)
	}
	return folder, nil
})

// released returns the path of the only file in the release that a pattern matches, such as
// chatguard_*_linux_amd64.deb.
func released(t *testing.T, pattern string) string {
	t.Helper()
	folder, err := dist()
	must(t, err)
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("the release has %d files like %s, want 1 (%v)", len(found), pattern, err)
	}
	return found[0]
}

// unpacked returns the folder with the content of the release's archive for Linux or macOS.
func unpacked(t *testing.T, system, arch string) string {
	t.Helper()
	archive := released(t, fmt.Sprintf("chatguard_*_%s_%s.tar.gz", system, arch))
	folder := t.TempDir()
	output(t, exec.Command("tar", "-xzf", archive, "--strip-components=1", "-C", folder))
	return folder
}

// output returns what a command prints. The command must succeed.
func output(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, out)
	}
	return string(out)
}

// readJSON reads a file of the release into v.
func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
