//go:build deploy

package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chatguard/chatguard/internal/programtest"
)

// nextVersion is a version above that of every release.
const nextVersion = "99.0.0"

// For testdata/operate.sh: how the package and the archive are installed. The service's user runs
// the package's chatguard, and a user without rights the archive's.
const (
	byPackage = `
config=/etc/chatguard/chatguard.toml
folder=/var/lib/chatguard
chatguard() { setpriv --reuid chatguard --regid chatguard --clear-groups /usr/bin/chatguard "$@"; }
install() {
	dpkg --install /first.deb
	sed -i "s/^channels = \[\]  *# rooms.*/channels = [\"lobby\"]/" "$config"
	sed -i "s/127.0.0.1:8080/127.0.0.1:$port/" "$config"
}
upgrade() { dpkg --install /next.deb; }
remove() {
	dpkg --purge chatguard
	[ ! -e /usr/bin/chatguard ] && [ ! -e "$folder" ]
}
`
	byArchive = `
folder=/home/somebody
config=$folder/chatguard.toml
chatguard() { "$folder/chatguard" "$@"; }
install() {
	[ "$(id -u)" = 1000 ]
	cd "$folder"
	tar -xzf /first.tar.gz --strip-components=1
	chatguard init --check lobby --config "$config"
	printf '\n[web]\nlisten = "127.0.0.1:%s"\n' "$port" >>"$config"
}
upgrade() { command install -m 755 /next "$folder/chatguard"; }
remove() { rm -r "$folder"/*; }
`
)

// TestDeb_Operation runs testdata/operate.sh with the package, in a Debian without Go.
func TestDeb_Operation(t *testing.T) {
	first := released(t, "chatguard_*_linux_amd64.deb")
	folder := t.TempDir()
	content := filepath.Join(folder, "content")
	output(t, exec.Command("dpkg-deb", "--raw-extract", first, content))
	buildNext(t, filepath.Join(content, "usr/bin/chatguard"))
	output(t, exec.Command("sed", "--in-place", "s/^Version: .*/Version: "+nextVersion+"/",
		filepath.Join(content, "DEBIAN/control")))
	must(t, os.Remove(filepath.Join(content, "DEBIAN/md5sums")))
	next := filepath.Join(folder, "next.deb")
	output(t, exec.Command("dpkg-deb", "--root-owner-group", "--build", content, next))
	operate(t, byPackage, "root", map[string]string{"first.deb": first, "next.deb": next})
}

// TestArchive_Operation runs testdata/operate.sh with the archive, in a Debian without Go, by a
// user who isn't root.
func TestArchive_Operation(t *testing.T) {
	next := filepath.Join(t.TempDir(), "next")
	buildNext(t, next)
	first := released(t, "chatguard_*_linux_amd64.tar.gz")
	operate(t, byArchive, "somebody", map[string]string{"first.tar.gz": first, "next": next})
}

// buildNext builds a binary of nextVersion.
func buildNext(t *testing.T, path string) {
	t.Helper()
	build := exec.Command("go", "build", "-trimpath",
		"-ldflags", "-s -w -X main.stampedVersion=v"+nextVersion, "-o", path, "../cmd/chatguard")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output(t, build)
}

// operate runs testdata/operate.sh as a user in a Debian of its own, with files in its root.
func operate(t *testing.T, functions, user string, files map[string]string) {
	t.Helper()
	folder := t.TempDir()
	for name, path := range files {
		copyFile(t, path, filepath.Join(folder, name), 0o755)
	}
	copyFile(t, "testdata/operate.sh", filepath.Join(folder, "operate.sh"), 0o755)
	functions = fmt.Sprintf("port=%d\n", programtest.FreeAddress(t).Port) + functions
	must(t, os.WriteFile(filepath.Join(folder, "functions"), []byte(functions), 0o644))
	said := output(t, exec.Command("mmdebstrap", "--format=null", "--variant=essential",
		"--include=passwd", "--customize-hook=sync-in "+folder+" /",
		`--customize-hook=chroot "$1" useradd --create-home --uid 1000 somebody`,
		`--customize-hook=chroot "$1" setpriv --reuid `+user+` --regid `+user+` --init-groups `+
			`env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin bash /operate.sh /functions`, "bookworm"))
	t.Log(said)
	if !strings.Contains(said, "\npassed\n") {
		t.Error("it didn't end with passed")
	}
}
