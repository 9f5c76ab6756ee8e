package persist

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard"
)

// childRole names what this binary does in place of testing, when a test has started it as a process of its own.
const childRole = "CHATGUARD_PERSIST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := childRoles[role](context.Background(), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := flag.Set("rapid.checks", "20"); err != nil { // each check opens databases; the command line may ask for more
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

var childRoles = map[string]func(ctx context.Context, path string) error{
	"own":    ownUntilKilled,
	"live":   liveUntilKilled,
	"signin": printSignInCode,
	"import": importUntilKilled,
	"pairs":  writePairsUntilKilled,
}

// child is a process with a role, and what it prints.
type child struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func startChild(t testing.TB, role, path string, env ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], path)}
	c.Env = append(append(os.Environ(), childRole+"="+role), env...)
	c.Stderr = os.Stderr
	var err error
	c.in, err = c.StdinPipe() // open for as long as the test needs the child
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	c.out = bufio.NewScanner(out)
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

// next returns the next line that the child prints.
func (c *child) next(t testing.TB) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the child ended: %v", c.out.Err())
	}
	return c.out.Text()
}

// until reads lines until so many of a kind have come, and then so many more.
func (c *child) until(t testing.TB, kind string, times, more int) (lines []string) {
	t.Helper()
	for times+more > 0 {
		line := c.next(t)
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

// kill ends the child with SIGKILL and returns the lines that it had still printed.
func (c *child) kill(t testing.TB) (rest []string) {
	t.Helper()
	must(t, c.Process.Kill())
	for c.out.Scan() {
		rest = append(rest, c.out.Text())
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	return rest
}

var (
	ctx   = context.Background()
	start = time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	quiet = slog.New(slog.DiscardHandler)
)

// at returns a clock that stands still.
func at(now time.Time) func() time.Time { return func() time.Time { return now } }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func databasePath(t testing.TB) string { return filepath.Join(t.TempDir(), "chatguard.db") }

// open opens a store that the test closes at its end, at the latest.
func open(t testing.TB, path string, opts *Options) *Store {
	t.Helper()
	if opts == nil {
		opts = &Options{Now: at(start)}
	}
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	s, err := Open(ctx, path, opts)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// policy enforces 3 messages at once, one more every 4 s, and 300 a day.
func policy() chatguard.Policy {
	p := chatguard.DefaultPolicy()
	p.Mode = chatguard.Enforce
	return p
}

// guardOf returns a Guard whose verdicts the store observes, with the stored state.
func guardOf(t testing.TB, s *Store, p chatguard.Policy) *chatguard.Guard {
	t.Helper()
	g, _ := restored(t, s, p)
	return g
}

func restored(t testing.TB, s *Store, p chatguard.Policy) (*chatguard.Guard, RestoreStats) {
	t.Helper()
	g, err := chatguard.New(p, &chatguard.Options{Now: s.opts.Now, Observer: s.Observe})
	must(t, err)
	stats, err := s.Restore(ctx, g)
	must(t, err)
	return g, stats
}

// say checks one message of a user in channel c1.
func say(t testing.TB, g *chatguard.Guard, user string, sentAt time.Time) chatguard.Verdict {
	t.Helper()
	v, err := g.Check(ctx, message(user, sentAt))
	must(t, err)
	return v
}

func message(user string, sentAt time.Time) chatguard.Message {
	return chatguard.Message{ID: "m-" + user, ChannelID: "c1", User: chatguard.User{ID: user, Login: "login" + user}, Text: "hi", SentAt: sentAt}
}

// remaining is how many more messages the tightest limit would take from the user.
func remaining(t testing.TB, g *chatguard.Guard, user string, sentAt time.Time) int {
	t.Helper()
	v, err := g.Peek(message(user, sentAt))
	must(t, err)
	return v.Remaining + 1 // the verdict counts the message it is about
}

// dailyOnly is a policy whose one limit is larger than any test, so that what remains tells what was spent.
func dailyOnly() chatguard.Policy {
	p := policy()
	p.Limits = []chatguard.Limit{{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: plenty}}
	return p
}

const plenty = 1_000_000_000

// mustFlush writes what waits, which must work.
func (s *Store) mustFlush(t testing.TB, g *chatguard.Guard) {
	t.Helper()
	_, err := s.flush(ctx, g)
	must(t, err)
}

// exec runs a statement on the store's own writing connection.
func (s *Store) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	_, err := s.db.writer.ExecContext(ctx, statement, args...)
	must(t, err)
}

// count returns a number that a query finds.
func (s *Store) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	return s.db.count(t, query, args...)
}

func (db *database) count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	must(t, db.reader.QueryRowContext(ctx, query, args...).Scan(&n))
	return n
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}
