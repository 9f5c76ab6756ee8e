//go:build deploy

package packaging

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// installed are files of both packages.
var installed = []string{
	"/usr/bin/chatguard",
	"/etc/chatguard/chatguard.toml",
	"/etc/chatguard/environment",
	"/usr/lib/systemd/system/chatguard.service",
	"/usr/lib/systemd/system/chatguard.socket",
	"/usr/lib/systemd/system/chatguard-backup.service",
	"/usr/lib/systemd/system/chatguard-backup.timer",
	"/usr/lib/sysusers.d/chatguard.conf",
	"/usr/share/bash-completion/completions/chatguard",
	"/usr/share/fish/vendor_completions.d/chatguard.fish",
	"/usr/share/man/man1/chatguard.1.gz",
	"/usr/share/man/man1/chatguard-run.1.gz",
	"/usr/share/doc/chatguard/config.example.toml",
	"/usr/share/doc/chatguard/changelog.gz",
	"/usr/share/doc/chatguard/THIRD-PARTY-LICENSES.txt",
}

// configured are the files that an upgrade leaves as the administrator has changed them.
var configured = []string{"/etc/chatguard/chatguard.toml", "/etc/chatguard/environment"}

// TestDeb_Content checks the files of Debian's package, with owners and modes.
func TestDeb_Content(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		deb := released(t, "chatguard_*_linux_"+arch+".deb")
		said := output(t, exec.Command("dpkg-deb", "--field", deb, "Architecture"))
		if strings.TrimSpace(said) != arch {
			t.Errorf("%s is for %s", deb, said)
		}
		modes := map[string]string{}
		for line := range strings.Lines(output(t, exec.Command("dpkg-deb", "--contents", deb))) {
			fields := strings.Fields(line) // mode, owner, size, date, time, name
			modes[strings.TrimPrefix(fields[5], ".")] = fields[0] + " " + fields[1]
		}
		for _, path := range append(slices.Clone(installed),
			"/usr/share/zsh/vendor-completions/_chatguard", "/usr/share/doc/chatguard/copyright") {
			want := "-rw-r--r-- root/root"
			switch path {
			case "/usr/bin/chatguard":
				want = "-rwxr-xr-x root/root"
			case "/etc/chatguard/environment":
				want = "-rw-r----- root/root"
			}
			if modes[path] != want {
				t.Errorf("%s: %s is %q, want %q", deb, path, modes[path], want)
			}
		}
		conffiles := strings.Fields(output(t, exec.Command("dpkg-deb", "--info", deb, "conffiles")))
		if !slices.Equal(conffiles, configured) {
			t.Errorf("the configuration files of %s are %q", deb, conffiles)
		}
		t.Logf("%s: %.1f MB", arch, float64(size(t, deb))/1e6)
	}
}

// TestDeb_Lintian checks the package against Debian's policy.
func TestDeb_Lintian(t *testing.T) {
	deb := released(t, "chatguard_*_linux_amd64.deb")
	lintian := exec.Command("lintian", "--allow-root", "--fail-on", "error,warning",
		"--display-info", deb)
	out, err := lintian.CombinedOutput()
	if err != nil {
		t.Errorf("lintian: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestRPM_Content checks the files of Fedora's package.
func TestRPM_Content(t *testing.T) {
	for arch, name := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		rpm := released(t, "chatguard_*_linux_"+arch+".rpm")
		if said := output(t, exec.Command("rpm", "-qp", "--queryformat", "%{ARCH}", rpm)); said != name {
			t.Errorf("%s is for %s", rpm, said)
		}
		files := strings.Fields(output(t, exec.Command("rpm", "-qlp", rpm)))
		for _, path := range append(slices.Clone(installed),
			"/usr/share/zsh/site-functions/_chatguard", "/usr/share/licenses/chatguard/LICENSE") {
			if !slices.Contains(files, path) {
				t.Errorf("no %s in %s: %q", path, rpm, files)
			}
		}
		said := strings.Fields(output(t, exec.Command("rpm", "-qp", "--configfiles", rpm)))
		if !slices.Equal(said, configured) {
			t.Errorf("the configuration files of %s are %q", rpm, said)
		}
		t.Logf("%s: %.1f MB", arch, float64(size(t, rpm))/1e6)
	}
}
