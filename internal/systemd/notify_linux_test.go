package systemd

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/chatguard/chatguard/internal/systemd/systemdtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// manager receives notifications at an abstract socket, as some containers do.
type manager struct{ *systemdtest.Manager }

// newManager sets the environment as systemd does, and returns the Notifier of this process.
func newManager(t *testing.T, log *slog.Logger, env ...string) (manager, *Notifier) {
	t.Helper()
	name := "@chatguard-test-" + rand.Text()
	m := manager{systemdtest.Listen(t, name)}
	for _, setting := range append([]string{"NOTIFY_SOCKET=" + name}, env...) {
		key, value, _ := strings.Cut(setting, "=")
		t.Setenv(key, value)
	}
	n := NewNotifier()
	n.LogTo(log)
	for _, variable := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		if value, ok := os.LookupEnv(variable); ok {
			t.Errorf("children inherit %s=%s", variable, value)
		}
	}
	return m, n
}

func (m manager) want(want string) {
	m.Helper()
	if got := m.Next().Text; got != want {
		m.Errorf("systemd is told %q, want %q", got, want)
	}
}

var quiet = slog.New(slog.DiscardHandler)

func TestNotifier_Notifications(t *testing.T) {
	m, n := newManager(t, quiet)
	n.Status("two\nlines\x1b[31m")
	m.want("STATUS=two; lines[31m")
	n.Ready()
	m.want("READY=1")
	n.Stopping()
	m.want("STOPPING=1")
	n.Failed(nil)
	n.Failed(&os.PathError{Op: "open", Path: "chatguard.db", Err: syscall.EACCES})
	m.want("STATUS=open chatguard.db: permission denied\nERRNO=" + strconv.Itoa(int(syscall.EACCES)))
	before := monotonic()
	n.Reloading()
	usec, ok := strings.CutPrefix(m.Next().Text, "RELOADING=1\nMONOTONIC_USEC=")
	if at, err := strconv.ParseInt(usec, 10, 64); !ok || err != nil || at < before.Microseconds() || at > monotonic().Microseconds() {
		t.Errorf("the reload begins at %q, %v", usec, err)
	}
	stop := n.Extend(time.Hour)
	m.want("EXTEND_TIMEOUT_USEC=30000000")
	stop()
	stop()
	n.Extend(0)() // too late
	n.Ready()
	m.want("READY=1")
}

// TestNotifier_WithoutSystemd checks that a process that systemd didn't start tells nobody.
func TestNotifier_WithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "1000")
	n := NewNotifier()
	n.LogTo(quiet)
	if n != nil {
		t.Fatalf("there is a notifier: %+v", n)
	}
	n.Ready()
	n.Extend(time.Hour)()
	n.Supervise(t.Context(), nil, nil)
}

// TestNotifier_BadEnvironment checks that a wrong variable is a warning, and that the service runs.
func TestNotifier_BadEnvironment(t *testing.T) {
	for _, env := range []string{"WATCHDOG_USEC=soon", "WATCHDOG_USEC=-1", "WATCHDOG_USEC=9223372036854775807", "NOTIFY_SOCKET=vsock:2:1"} {
		var log bytes.Buffer
		_, n := newManager(t, slog.New(slog.NewTextHandler(&log, nil)), env)
		n.Ready()
		n.Ready()
		variable, _, _ := strings.Cut(env, "=")
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), variable) || n.interval != 0 {
			t.Errorf("%s: %d lines, interval %v:\n%s", env, lines, n.interval, log.String())
		}
		t.Setenv("WATCHDOG_USEC", "")
	}
}

// TestNotifier_OtherProcessWatched checks that only the process in WATCHDOG_PID feeds the watchdog.
func TestNotifier_OtherProcessWatched(t *testing.T) {
	for pid, want := range map[string]time.Duration{"1": 0, strconv.Itoa(os.Getpid()): time.Second, "": time.Second} {
		if _, n := newManager(t, quiet, "WATCHDOG_USEC=1000000", "WATCHDOG_PID="+pid); n.interval != want {
			t.Errorf("for process %q the interval is %v, want %v", pid, n.interval, want)
		}
	}
}

// TestSupervise_Stuck checks that the watchdog isn't fed while something is stuck, that the status
// says so, and that it is fed again afterwards.
func TestSupervise_Stuck(t *testing.T) {
	m, n := newManager(t, quiet, "WATCHDOG_USEC=20000")
	var problem atomic.Value
	problem.Store("")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var supervising sync.WaitGroup
	supervising.Go(func() {
		n.Supervise(ctx, func() string { return "enforcing" }, func(limit time.Duration) string {
			if limit != 10*time.Millisecond {
				t.Errorf("the limit is %v", limit)
			}
			return problem.Load().(string)
		})
	})
	m.want("STATUS=enforcing")
	m.want("WATCHDOG=1")
	problem.Store("judging messages has taken 31s so far")
	m.Await("STATUS=stuck: judging messages has taken 31s so far")
	problem.Store("it still is")
	m.want("STATUS=stuck: it still is") // and no pulse before
	problem.Store("")
	m.want("WATCHDOG=1")
	m.want("STATUS=enforcing")
	stop()
	supervising.Wait()
}

func TestClashes(t *testing.T) {
	for _, c := range []struct {
		taken, address string
		want           bool
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "127.0.0.1:8081", false},
		{"127.0.0.1:8080", "127.0.0.2:8080", false},
		{"[::]:8080", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", ":8080", true},
		{"127.0.0.1:8080", "0.0.0.0:8080", true},
		{"/run/chatguard.sock", "127.0.0.1:8080", false},
	} {
		if got := clashes(c.taken, c.address); got != c.want {
			t.Errorf("%s and %s: %t", c.taken, c.address, got)
		}
	}
}
