//go:build unix

package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/persist/persisttest"
)

func init() { childRoles["full"] = copyToAFullDisk }

// copyToAFullDisk runs in a process that can't write more than 64 KiB to a file, and prints the
// results of its copies.
func copyToAFullDisk(ctx context.Context, path string) error {
	few := syscall.Rlimit{Cur: 1 << 16, Max: 1 << 16}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &few); err != nil {
		return err
	}
	for _, kind := range []string{"backup", "export"} {
		_, err := copiers[kind](ctx, path, filepath.Join(filepath.Dir(path), "target", kind), nil)
		line, _ := json.Marshal(fmt.Sprint(err))
		fmt.Println(string(line))
	}
	return nil
}

func TestCopies_FullDisk(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, manyLines(t, 5000))
	folder := filepath.Join(filepath.Dir(path), "target")
	must(t, os.Mkdir(folder, 0o700))
	c := persisttest.StartChild(t, "full", path)
	for _, kind := range []string{"backup", "export"} {
		var line string
		must(t, json.Unmarshal([]byte(c.Next(t)), &line))
		if target := filepath.Join(folder, kind); !strings.HasPrefix(line, target) || strings.Contains(line, "\n") {
			t.Errorf("%s says %q, want one line about %s", kind, line, target)
		}
	}
	must(t, c.Wait())
	persisttest.AssertEmpty(t, folder)
}
