//go:build deploy

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// units are the units in the folder systemd.
var units = []string{
	"chatguard.service", "chatguard.socket", "chatguard-backup.service", "chatguard-backup.timer",
}

// systemdRoot returns a folder that systemd-analyze accepts as a system: it has chatguard, a shell,
// our units, and the targets of this machine.
func systemdRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	system := filepath.Join(root, "usr/lib/systemd/system")
	targets, err := filepath.Glob("/usr/lib/systemd/system/*.target")
	if err != nil || len(targets) == 0 {
		t.Fatalf("no targets of systemd: %v", err)
	}
	for _, path := range targets {
		copyFile(t, path, filepath.Join(system, filepath.Base(path)), 0o644)
	}
	for _, name := range units {
		copyFile(t, filepath.Join("systemd", name), filepath.Join(system, name), 0o644)
	}
	for _, program := range []string{"usr/bin/chatguard", "bin/sh"} {
		copyFile(t, "/bin/true", filepath.Join(root, program), 0o755) // nothing runs it
	}
	return root
}

func copyFile(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	contents, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, contents, mode)
	}
	must(t, err)
}

// TestUnits_Verify checks that systemd accepts the units without a warning.
func TestUnits_Verify(t *testing.T) {
	args := append([]string{"verify", "--root=" + systemdRoot(t)}, units...)
	verify := exec.Command("systemd-analyze", args...)
	if out, err := verify.CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// exposure is the line of systemd-analyze security with the result, from 0 (safe) to 10.
var exposure = regexp.MustCompile(`Overall exposure level for \S+: (\S+)`)

// TestUnits_Security checks how much systemd takes away from the services.
func TestUnits_Security(t *testing.T) {
	root := systemdRoot(t)
	for unit, most := range map[string]float64{
		"chatguard.service": 1.2, "chatguard-backup.service": 0.5,
	} {
		out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true",
			"--root="+root, unit).CombinedOutput()
		found := exposure.FindSubmatch(out)
		if err != nil || found == nil {
			t.Fatalf("systemd-analyze security: %v\n%s", err, out)
		}
		t.Logf("exposure of %s: %s", unit, found[1])
		if score, err := strconv.ParseFloat(string(found[1]), 64); err != nil || score > most {
			t.Errorf("%s: exposure %s, want at most %.1f; what is left:\n%s",
				unit, found[1], most, remaining(string(out)))
		}
	}
}

// remaining returns the lines of systemd-analyze security that name what a service may still do.
func remaining(report string) (lines string) {
	for line := range strings.Lines(report) {
		if strings.HasPrefix(line, "✗") {
			lines += line
		}
	}
	return lines
}
