//go:build unix

package persist

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard"
)

func init() { childRoles["nobody"] = writeAsNobody }

// nobody is a user without root's rights.
const nobody = 65534

// writeAsNobody opens the database with the rights of an ordinary user. For every line of its input
// it observes a message and flushes. It prints the result.
func writeAsNobody(ctx context.Context, path string) error {
	if os.Getuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	s, err := Open(ctx, path, &Options{Logger: quiet, Now: at(start)})
	if err != nil {
		fmt.Println(err)
		return nil
	}
	defer s.Close()
	g, err := chatguard.New(policy(), &chatguard.Options{Now: at(start), Observer: s.Observe})
	if err != nil {
		return err
	}
	stats, err := s.Restore(ctx, g)
	if err != nil {
		return err
	}
	fmt.Println("restored", stats.Rows)
	for line := bufio.NewScanner(os.Stdin); line.Scan(); {
		if _, err := g.Check(ctx, message(line.Text(), start)); err != nil {
			return err
		}
		s.runTurn(ctx, g)
		fmt.Println(s.Health().State, s.Health().Problem)
	}
	return nil
}

// newChildDatabase returns the path of a filled database that the child may write.
func newChildDatabase(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "chatguard-") // t.TempDir admits only us
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(os.Chmod(folder, 0o700), os.RemoveAll(folder))) })
	path := filepath.Join(folder, "chatguard.db")
	must(t, os.Rename(newFilledDatabase(t), path))
	must(t, os.Chmod(folder, 0o755))
	if os.Getuid() == 0 {
		must(t, errors.Join(os.Chown(folder, nobody, nobody), os.Chown(path, nobody, nobody)))
	}
	return path
}

func wantLine(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("the child says %q, want %q", got, want)
	}
}

func TestReadOnly_FileWrittenLater(t *testing.T) {
	t.Parallel()
	path := newChildDatabase(t)
	must(t, os.Chmod(path, 0o444))
	c := startChild(t, "nobody", path)
	wantLine(t, c.Next(t), "restored 1500")
	for _, user := range []string{"new1", "new2"} {
		wantLine(t, c.Tell(t, user), "failing "+cantWrite)
	}
	must(t, os.Chmod(path, 0o644))
	c.Tell(t, "new3") // finds that the log can't be written yet
	wantLine(t, c.Tell(t, "new4"), "ok ")
	c.Kill(t)
	s := open(t, path, nil)
	s.wantCount(t, 4, "SELECT count(DISTINCT user_id) FROM state WHERE user_id LIKE 'new%'")
}

func TestReadOnly_Folder(t *testing.T) {
	t.Parallel()
	path := newChildDatabase(t)
	folder := filepath.Dir(path)
	must(t, os.Chmod(folder, 0o555))
	refused := startChild(t, "nobody", path)
	if line := refused.Next(t); !strings.Contains(line, path+": its directory can't be written (permission denied): make it writable") {
		t.Errorf("the child says %q", line)
	}
	must(t, refused.Wait())

	// A folder that becomes read-only while chatguard runs, or after it was killed, causes no
	// problem: the files already exist.
	must(t, os.Chmod(folder, 0o755))
	first := startChild(t, "nobody", path)
	first.Next(t)
	first.Tell(t, "new1")
	must(t, os.Chmod(folder, 0o555))
	wantLine(t, first.Tell(t, "new2"), "ok ")
	first.Kill(t)
	second := startChild(t, "nobody", path)
	wantLine(t, second.Next(t), "restored 1504")
	wantLine(t, second.Tell(t, "new3"), "ok ")
	second.Kill(t)
}
