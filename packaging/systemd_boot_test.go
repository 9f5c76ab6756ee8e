//go:build deploy

package packaging

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestUnits_Boot boots a Debian with the package, and runs testdata/systemd/check.sh in it: start,
// reload, watchdog, socket and backup under a real systemd. It needs root.
func TestUnits_Boot(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Minute) // only matters if something hangs
	defer stop()
	root := filepath.Join(t.TempDir(), "debian")
	deb := released(t, "chatguard_*_linux_"+runtime.GOARCH+".deb")
	output(t, exec.CommandContext(ctx, "mmdebstrap", "--variant=minbase",
		"--include=systemd,systemd-sysv,dbus,curl", "--customize-hook=upload "+deb+" /chatguard.deb",
		`--customize-hook=chroot "$1" dpkg --install /chatguard.deb`, "bookworm", root))
	system := filepath.Join(root, "usr/lib/systemd/system")
	copyFile(t, "testdata/systemd/check.sh", filepath.Join(root, "check.sh"), 0o755)
	copyFile(t, "testdata/systemd/check.service", filepath.Join(system, "check.service"), 0o644)
	wants := filepath.Join(system, "multi-user.target.wants")
	must(t, os.MkdirAll(wants, 0o755))
	must(t, os.Symlink("../check.service", filepath.Join(wants, "check.service")))

	boot := exec.CommandContext(ctx, "systemd-nspawn", "--quiet", "--boot", "--register=no",
		"--keep-unit", "--private-network", "--console=pipe", "--directory="+root)
	console, err := boot.CombinedOutput()
	log, unread := os.ReadFile(filepath.Join(root, "check.log"))
	if err != nil || unread != nil {
		t.Fatalf("systemd-nspawn: %v, %v\n%s", err, unread, console)
	}
	if !strings.HasSuffix(string(log), "\npassed\n") {
		t.Errorf("check.sh says\n%s", log)
	}
}
