package persisttest

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// ChildRole is the environment variable that makes a test binary play a role instead of running
// tests. A test sets it to start its binary as a separate process.
const ChildRole = "CHATGUARD_PERSIST_CHILD"

// Main is the TestMain of packages whose test binary also plays roles: it plays the role that
// ChildRole names, or runs the tests. A role gets the database's path.
func Main(m *testing.M, roles map[string]func(ctx context.Context, path string) error) {
	if role := os.Getenv(ChildRole); role != "" {
		if err := roles[role](context.Background(), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if flag.Lookup("rapid.checks") != nil { // in packages with random tests
		if err := flag.Set("rapid.checks", "20"); err != nil {
			// Each check opens databases; the command line may ask for more.
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// Child is a process with a role, and its output.
type Child struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

// StartChild starts the test binary in a role on the database at path. The end of the test kills
// the child, if it is still running.
func StartChild(t testing.TB, role, path string, env ...string) *Child {
	t.Helper()
	c := &Child{Cmd: exec.Command(os.Args[0], path)}
	c.Env = append(append(os.Environ(), ChildRole+"="+role), env...)
	c.Stderr = os.Stderr
	var err error
	c.in, err = c.StdinPipe() // keeps the child's stdin open
	Must(t, err)
	out, err := c.StdoutPipe()
	Must(t, err)
	Must(t, c.Start())
	c.out = bufio.NewScanner(out)
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

// Next returns the child's next line.
func (c *Child) Next(t testing.TB) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the child ended: %v", c.out.Err())
	}
	return c.out.Text()
}

// Tell writes a line to the child, and returns its answer.
func (c *Child) Tell(t testing.TB, line string) string {
	t.Helper()
	_, err := fmt.Fprintln(c.in, line)
	Must(t, err)
	return c.Next(t)
}

// Until reads lines until it has read as many lines of a kind as times says. It then reads as many
// further lines as more says, and returns all lines.
func (c *Child) Until(t testing.TB, kind string, times, more int) (lines []string) {
	t.Helper()
	for times+more > 0 {
		line := c.Next(t)
		lines = append(lines, line)
		switch {
		case times == 0:
			more--
		case strings.HasPrefix(line, kind+" "):
			times--
		}
	}
	return lines
}

// Kill kills the child with SIGKILL and returns the rest of its output.
func (c *Child) Kill(t testing.TB) (rest []string) {
	t.Helper()
	Must(t, c.Process.Kill())
	for c.out.Scan() {
		rest = append(rest, c.out.Text())
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return rest
}
