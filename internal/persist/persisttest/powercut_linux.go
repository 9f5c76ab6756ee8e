package persisttest

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// acknowledged is the environment variable with the file in which a role notes what it has done.
const acknowledged = "CHATGUARD_ACKNOWLEDGED"

// Acknowledge notes that something is done. From then on, a power cut must not undo it. Roles call
// Acknowledge.
func Acknowledge(what string) error {
	file, err := os.OpenFile(os.Getenv(acknowledged), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(what + "\n")
	return err
}

// Cut is what is left of a folder if the process that writes to it ends just before a system call.
type Cut struct {
	// Name says before which call the process ends, and what is left: all that was written (a
	// kill), or only what was synced (a power cut). A real power cut may leave anything in between.
	Name  string
	Acks  []string // what was acknowledged before
	files map[string]string
}

// Leave makes a folder contain what is left, and nothing else.
func (c *Cut) Leave(t testing.TB, folder string) {
	t.Helper()
	Must(t, os.RemoveAll(folder))
	Must(t, os.Mkdir(folder, 0o700))
	for name, contents := range c.files {
		Must(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		Must(t, os.WriteFile(filepath.Join(folder, name), []byte(contents), 0o600))
	}
}

// watched are the system calls before which the process may end: those that make something durable,
// and those that change names.
func watched() []uint32 {
	calls := []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_LINKAT}
	if runtime.GOARCH == "amd64" {
		calls = append(calls, 82, 86, 87) // rename, link, unlink, which newer architectures lack
	}
	return calls
}

// CutPower runs the test binary in a role on the database at path, and returns all moments at which
// it may end, with what is then left of the database's folder. The process isn't ended. The system
// stops it before each call instead, and the folder is read (seccomp, Linux 5.5 and later).
func CutPower(t testing.TB, role, path string, env ...string) []*Cut {
	t.Helper()
	acks := filepath.Join(t.TempDir(), "acknowledged")
	Must(t, os.WriteFile(acks, nil, 0o600))
	child := exec.Command(os.Args[0], path)
	child.Env = append(append(os.Environ(), ChildRole+"="+role, acknowledged+"="+acks), env...)
	child.Stdout, child.Stderr = os.Stderr, os.Stderr
	d := &disk{folder: filepath.Dir(path), acks: acks, synced: map[inode]string{}}
	d.begin(t)
	listener := startWatched(t, child)
	defer unix.Close(listener)
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%s: %v", role, err)
			}
			d.record(t, "the end")
			return d.cuts
		default:
			d.serve(t, listener)
		}
	}
}

// startWatched starts a process whose watched calls are announced to the listener.
func startWatched(t testing.TB, child *exec.Cmd) (listener int) {
	t.Helper()
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the call's number
	for _, call := range watched() {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the filter is this thread's and the child's; the thread ends with the goroutine
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
			if listener = int(fd); errno != 0 {
				err = errno
			}
		}
		if err == nil {
			err = child.Start()
		}
		result <- err
	}()
	if err := <-result; err != nil {
		t.Fatalf("a process can't be watched (seccomp user notification): %v", err)
	}
	return listener
}

// notification and answer are the kernel's struct seccomp_notif and struct seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	call       int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

// serve waits a moment for a call, records what is left before it, and lets it happen.
func (d *disk) serve(t testing.TB, listener int) {
	t.Helper()
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}, 10); n != 1 {
		return // the process may have ended
	}
	var n notification
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
		return
	}
	d.call(t, n)
	a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
}

// inode identifies a file, even after another file got its number.
type inode struct {
	number uint64
	born   unix.StatxTimestamp
}

// disk is a folder, and what a power cut would leave of it.
type disk struct {
	folder string
	acks   string
	synced map[inode]string // contents
	names  map[string]inode // of the synced folder
	calls  int
	cuts   []*Cut
}

// begin records the folder's present contents as synced.
func (d *disk) begin(t testing.TB) {
	d.names = d.list(t)
	for name, file := range d.names {
		d.synced[file] = d.read(t, name)
	}
}

func (d *disk) list(t testing.TB) map[string]inode {
	names := map[string]inode{}
	Must(t, filepath.WalkDir(d.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		var stat unix.Statx_t
		if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &stat); err != nil {
			return err
		}
		name, err := filepath.Rel(d.folder, path)
		names[name] = inode{stat.Ino, stat.Btime}
		return err
	}))
	return names
}

func (d *disk) read(t testing.TB, name string) string {
	data, err := os.ReadFile(filepath.Join(d.folder, name))
	Must(t, err)
	return string(data)
}

// call records what is left before a call. If the call syncs something, that is durable from then
// on.
func (d *disk) call(t testing.TB, n notification) {
	isSync := n.call == unix.SYS_FSYNC || n.call == unix.SYS_FDATASYNC
	if !isSync {
		d.record(t, "a change of names")
		return
	}
	opened, err := os.Readlink("/proc/" + strconv.Itoa(int(n.pid)) + "/fd/" + strconv.FormatUint(n.args[0], 10))
	Must(t, err)
	opened = strings.TrimSuffix(opened, " (deleted)")
	name, err := filepath.Rel(d.folder, opened)
	if err != nil || strings.HasPrefix(name, "..") {
		return // another folder
	}
	d.record(t, "the sync of "+name)
	if info, err := os.Stat(opened); err == nil && info.IsDir() {
		d.names = d.list(t)
		return
	}
	if file, ok := d.list(t)[name]; ok {
		d.synced[file] = d.read(t, name)
	}
}

// record adds two cuts: a kill and a power cut.
func (d *disk) record(t testing.TB, before string) {
	text, err := os.ReadFile(d.acks)
	Must(t, err)
	acks := strings.Fields(string(text))
	d.calls++
	number := strconv.Itoa(d.calls)
	killed, cut := map[string]string{}, map[string]string{}
	for name := range d.list(t) {
		killed[name] = d.read(t, name)
	}
	for name, file := range d.names {
		cut[name] = d.synced[file] // nothing if it was never synced
	}
	for kind, files := range []map[string]string{killed, cut} {
		c := &Cut{number + ", before " + before + []string{", killed", ", power cut"}[kind], acks, files}
		isKnown := slices.ContainsFunc(d.cuts, func(other *Cut) bool {
			return len(other.Acks) == len(acks) && maps.Equal(other.files, files)
		})
		if !isKnown {
			d.cuts = append(d.cuts, c)
		}
	}
}
