//go:build deploy

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// podman runs containers, with a storage of its own.
type podman struct {
	*testing.T
	root string
}

// newPodman returns a podman with the image "chatguard", built from the Dockerfile and the
// release's program.
func newPodman(t *testing.T) *podman {
	t.Helper()
	p := &podman{t, t.TempDir()}
	must(t, os.Mkdir(filepath.Join(p.root, "devices"), 0o700))
	context := t.TempDir()
	program := filepath.Join(unpacked(t, "linux", runtime.GOARCH), "chatguard")
	copyFile(t, program, filepath.Join(context, "chatguard"), 0o755)
	const data = "container/data/README"
	copyFile(t, data, filepath.Join(context, "packaging", data), 0o644)
	p.must("build", "--isolation", "chroot", "--format", "docker", "--target", "release",
		"--build-arg", "VERSION=1.2.3", "--file", "../Dockerfile", "--tag", "chatguard", context)
	return p
}

// enclosed runs a command with mounts of its own. crun gives the standard streams of a container to
// the container's user, and most are /dev/null: so here, that is another file than this machine's.
// crun refuses systems with both versions of control groups: so here, the second one isn't visible.
const enclosed = `set -e
mount -t tmpfs tmpfs "$0"
mknod -m 666 "$0/null" c 1 3
mount --bind "$0/null" /dev/null
! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
exec "$@"`

// command returns a command of podman, which needs root. The caller connects its output. Its input
// is a pipe, and not this machine's /dev/null.
func (p *podman) command(args ...string) *exec.Cmd {
	args = append([]string{"--mount", "sh", "-c", enclosed, filepath.Join(p.root, "devices"),
		"podman", "--root", filepath.Join(p.root, "root"), "--runroot", filepath.Join(p.root, "run"),
		"--storage-driver", "vfs"}, args...)
	command := exec.Command("unshare", args...)
	command.Stdin = strings.NewReader("")
	return command
}

// must runs a command of podman and returns its output.
func (p *podman) must(args ...string) string {
	p.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.Fatalf("podman %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// refused runs a command of podman that must fail with a text.
func (p *podman) refused(text string, args ...string) {
	p.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), text) {
		p.Errorf("podman %s: %v, want an error with %q\n%s", strings.Join(args, " "), err, text, out)
	}
}

// hardened are the options of each container: those of compose.yaml, and the network of this
// machine. The limits are small, because podman would set higher ones than a sandbox allows.
var hardened = []string{
	"--read-only", "--read-only-tmpfs=false", "--cap-drop", "ALL",
	"--security-opt", "no-new-privileges", "--network", "host", "--cgroups", "disabled",
	"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
}

// runArguments returns the arguments that run a container of the image.
func runArguments(options []string, command ...string) []string {
	args := append(append([]string{"run"}, hardened...), options...)
	return append(append(args, "chatguard"), command...)
}

// start starts a container in the background. It is removed at the end of the test.
func (p *podman) start(name string, options []string, command ...string) {
	p.Helper()
	p.must(runArguments(append(options, "--detach", "--name", name), command...)...)
	p.Cleanup(func() {
		if p.Failed() {
			out, _ := p.command("logs", name).CombinedOutput()
			p.Logf("%s wrote:\n%s", name, out)
		}
		p.must("rm", "--force", "--time", "10", name)
	})
}

// signals is a buffer that signals each write.
type signals struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{} // with one place
}

func (s *signals) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
	return s.text.Write(b)
}

func (s *signals) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor follows a container's output until it contains a text that many times, and returns the
// output.
func (p *podman) waitFor(name, text string, times int) string {
	p.Helper()
	out := &signals{news: make(chan struct{}, 1)}
	follow := p.command("logs", "--follow", name)
	follow.Stdout, follow.Stderr = out, out
	must(p, follow.Start())
	ended := make(chan error, 1)
	go func() { ended <- follow.Wait() }()
	for {
		select {
		case <-out.news:
			if strings.Count(out.String(), text) >= times {
				_ = follow.Process.Kill() // it may have ended
				<-ended
				return out.String()
			}
		case <-ended:
			if strings.Count(out.String(), text) < times {
				p.Fatalf("%s ended before it wrote %q %d times:\n%s", name, text, times, out)
			}
			return out.String()
		}
	}
}
