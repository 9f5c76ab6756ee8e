//go:build deploy

package packaging

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUnits_Boot boots a Debian with the units, and runs testdata/systemd/check.sh in it: start,
// reload, watchdog, socket and backup under a real systemd. It needs root.
func TestUnits_Boot(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Minute) // only matters if something hangs
	defer stop()
	root := filepath.Join(t.TempDir(), "debian")
	run(t, exec.CommandContext(ctx, "mmdebstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,curl", "bookworm", root))
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", filepath.Join(root, "usr/bin/chatguard"), "../cmd/chatguard")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	run(t, build)
	system := filepath.Join(root, "usr/lib/systemd/system")
	for _, name := range units {
		copyFile(t, filepath.Join("systemd", name), filepath.Join(system, name), 0o644)
	}
	copyFile(t, "systemd/chatguard.sysusers", filepath.Join(root, "usr/lib/sysusers.d/chatguard.conf"), 0o644)
	copyFile(t, "testdata/systemd/check.sh", filepath.Join(root, "check.sh"), 0o755)
	copyFile(t, "testdata/systemd/check.service", filepath.Join(system, "check.service"), 0o644)
	wants := filepath.Join(system, "multi-user.target.wants")
	if err := os.MkdirAll(wants, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../check.service", filepath.Join(wants, "check.service")); err != nil {
		t.Fatal(err)
	}

	boot := exec.CommandContext(ctx, "systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--private-network",
		"--console=pipe", "--directory="+root)
	console, err := boot.CombinedOutput()
	log, unread := os.ReadFile(filepath.Join(root, "check.log"))
	if err != nil || unread != nil {
		t.Fatalf("systemd-nspawn: %v, %v\n%s", err, unread, console)
	}
	if !strings.HasSuffix(string(log), "\npassed\n") {
		t.Errorf("check.sh says\n%s", log)
	}
}

func run(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}
