package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chatguard/chatguard/internal/config"
)

// The memory is the machine's, or that of the process's control group or a group above it.
func TestMachine_Memory(t *testing.T) {
	const machineMemory = "MemTotal:        8000000 kB\nMemFree: 1 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known":          {map[string]string{}, 0},
		"no groups":                 {map[string]string{"proc/meminfo": machineMemory}, 8_192_000_000},
		"a group without a limit":   {map[string]string{"proc/meminfo": machineMemory, "proc/self/cgroup": "0::/a/b\n", "cgroup/a/memory.max": "max\n"}, 8_192_000_000},
		"a group":                   {map[string]string{"proc/meminfo": machineMemory, "proc/self/cgroup": "0::/a/b\n", "cgroup/a/b/memory.max": "1000000\n"}, 1_000_000},
		"the group above":           {map[string]string{"proc/meminfo": machineMemory, "proc/self/cgroup": "0::/a/b\n", "cgroup/a/memory.max": "3000000\n", "cgroup/a/b/memory.max": "4000000\n"}, 3_000_000},
		"a container sees its root": {map[string]string{"proc/meminfo": machineMemory, "proc/self/cgroup": "0::/\n", "cgroup/memory.max": "3000000\n"}, 3_000_000},
		"groups of version 1": {map[string]string{"proc/meminfo": machineMemory, "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/1\n",
			"cgroup/memory/memory.limit_in_bytes": "2000000\n"}, 2_000_000},
		"no limit in version 1": {map[string]string{"proc/meminfo": machineMemory, "proc/self/cgroup": "4:memory:/\n",
			"cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 8_192_000_000},
	} {
		root := t.TempDir()
		for file, text := range test.files {
			file = filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, ok := machine{filepath.Join(root, "proc"), filepath.Join(root, "cgroup")}.memory()
		if got != test.want || ok != (test.want > 0) {
			t.Errorf("%s: %d, %v, want %d", name, got, ok, test.want)
		}
	}
}

func TestMemoryOf(t *testing.T) {
	cfg := config.Default()
	all, ok := thisMachine.memory()
	if !ok {
		all = int64(usualMemory)
	}
	if got := MemoryOf(cfg); got != max(config.Memory(all/2), config.LeastMemory) {
		t.Errorf("by default %d of %d", got, all)
	}
	cfg.Memory = 1 << 30
	if got := UsersMemoryOf(cfg); got != 1<<29 {
		t.Errorf("of 1 GiB, users may take %d", got)
	}
}
