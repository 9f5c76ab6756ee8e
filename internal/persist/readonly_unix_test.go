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

// nobody is a user without root's rights, who may write what nobody may write.
const nobody = 65534

// writeAsNobody opens the database with the rights of an ordinary user, and lets somebody speak and flushes for every line of its input. It prints
// how that went.
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
		s.turn(ctx, g)
		fmt.Println(s.Health().State, s.Health().Problem)
	}
	return nil
}

// ofNobody is the path of a filled database that the child may write.
func ofNobody(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "chatguard-") // t.TempDir lets only us in
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(os.Chmod(folder, 0o700), os.RemoveAll(folder))) })
	path := filepath.Join(folder, "chatguard.db")
	must(t, os.Rename(filled(t), path))
	must(t, os.Chmod(folder, 0o755))
	if os.Getuid() == 0 {
		must(t, errors.Join(os.Chown(folder, nobody, nobody), os.Chown(path, nobody, nobody)))
	}
	return path
}

// tell makes the child let somebody speak, and returns what it says of that.
func (c *child) tell(t *testing.T, user string) string {
	t.Helper()
	_, err := fmt.Fprintln(c.in, user)
	must(t, err)
	return c.next(t)
}

func TestReadOnlyFileIsWrittenOnceItCanBe(t *testing.T) {
	path := ofNobody(t)
	must(t, os.Chmod(path, 0o444))
	c := startChild(t, "nobody", path)
	if line := c.next(t); line != "restored 1500" {
		t.Errorf("the child says %q", line)
	}
	for _, user := range []string{"new1", "new2"} {
		if line := c.tell(t, user); line != "failing "+cantWrite {
			t.Errorf("the child says %q", line)
		}
	}
	must(t, os.Chmod(path, 0o644))
	c.tell(t, "new3") // finds that the log beside it can't be written yet
	if line := c.tell(t, "new4"); line != "ok " {
		t.Errorf("the child says %q", line)
	}
	c.kill(t)
	s := open(t, path, nil)
	if n := s.count(t, "SELECT count(DISTINCT user_id) FROM state WHERE user_id LIKE 'new%'"); n != 4 {
		t.Errorf("%d of 4 users are stored", n)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	path := ofNobody(t)
	folder := filepath.Dir(path)
	must(t, os.Chmod(folder, 0o555))
	refused := startChild(t, "nobody", path)
	if line := refused.next(t); !strings.Contains(line, path+": its directory can't be written (permission denied): make it writable") {
		t.Errorf("the child says %q", line)
	}
	must(t, refused.Wait())

	// One that becomes so while chatguard runs, or is so after it was killed, is no trouble: its files are there.
	must(t, os.Chmod(folder, 0o755))
	first := startChild(t, "nobody", path)
	first.next(t)
	first.tell(t, "new1")
	must(t, os.Chmod(folder, 0o555))
	if line := first.tell(t, "new2"); line != "ok " {
		t.Errorf("while running: %q", line)
	}
	first.kill(t)
	second := startChild(t, "nobody", path)
	if line := second.next(t); line != "restored 1504" {
		t.Errorf("after it was killed: %q", line)
	}
	if line := second.tell(t, "new3"); line != "ok " {
		t.Errorf("after it was killed: %q", line)
	}
	second.kill(t)
}
