package app

import (
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard/internal/config"
)

const (
	// The users take at most 1/usersShare of the memory. The rest is for everything else, and for
	// what the garbage collector hasn't freed yet.
	usersShare = 2
	// usualMemory is assumed if the system doesn't tell how much memory there is.
	usualMemory config.Memory = 4 << 30
)

// MemoryOf returns how much memory chatguard may take: as configured, or half of what there is, but
// at least config.LeastMemory.
func MemoryOf(cfg config.Config) config.Memory {
	if cfg.Memory != config.HalfMemory {
		return cfg.Memory
	}
	all := usualMemory
	if found, ok := thisMachine.memory(); ok {
		all = config.Memory(found)
	}
	return max(all/2, config.LeastMemory)
}

// UsersMemoryOf returns how much memory the users of all channels may take.
func UsersMemoryOf(cfg config.Config) int64 { return int64(MemoryOf(cfg)) / usersShare }

// LimitMemory makes the garbage collector keep this process within its memory, unless the
// environment sets GOMEMLIMIT.
func LimitMemory(cfg config.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(MemoryOf(cfg)))
	}
}

// machine tells how much memory there is. Its fields are folders.
type machine struct{ proc, cgroup string }

var thisMachine = machine{"/proc", "/sys/fs/cgroup"}

// memory returns the memory of the machine, or of the control group that this process is in, if
// that is less. ok is false if the system doesn't tell.
func (m machine) memory() (bytes int64, ok bool) {
	text, err := os.ReadFile(path.Join(m.proc, "meminfo"))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "MemTotal: %d kB", &bytes); err == nil {
			bytes *= 1024
			break
		}
	}
	text, err = os.ReadFile(path.Join(m.proc, "self/cgroup"))
	if err != nil {
		return bytes, bytes > 0
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			bytes = least(bytes, m.cgroup, parts[2], "memory.max")
		case parts[1] == "memory":
			bytes = least(bytes, path.Join(m.cgroup, "memory"), parts[2], "memory.limit_in_bytes")
		}
	}
	return bytes, bytes > 0
}

// least returns the lowest of bytes and the limits in the files called name, in the folder of a
// control group and in those of its parents up to the root. If bytes is 0, only the limits count.
// Inside a container, only the root may be visible.
func least(bytes int64, root, group, name string) int64 {
	for group = path.Join("/", group); ; group = path.Dir(group) {
		text, err := os.ReadFile(path.Join(root, group, name))
		limit, errNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && errNumber == nil && limit > 0 && (limit < bytes || bytes == 0) {
			bytes = limit
		}
		if group == "/" {
			return bytes
		}
	}
}
