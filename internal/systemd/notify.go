// Package systemd speaks the protocols with which systemd starts and supervises a service: it
// notifies systemd (sd_notify(3)), feeds its watchdog, and accepts a listener from it
// (sd_listen_fds(3)). It knows nothing about the service.
//
// A process that systemd didn't start has none of the environment variables of these protocols. All
// functions except SocketUnit then do nothing.
package systemd

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/chatguard/chatguard/internal/hostile"
)

// Notifier tells systemd about this process. A nil Notifier tells nobody. It is safe for concurrent
// use. Get one from NewNotifier.
type Notifier struct {
	socket   *net.UnixAddr
	interval time.Duration // within which systemd's watchdog expects a pulse; 0 means no watchdog
	invalid  string        // WATCHDOG_USEC if it isn't a number of microseconds

	mu     sync.Mutex
	log    *slog.Logger
	failed bool // a failure has been logged
}

// NewNotifier returns the Notifier for the socket in NOTIFY_SOCKET, or nil if there is none. It
// removes the protocol's variables from the environment, so that no child process speaks for this
// one.
func NewNotifier() *Notifier {
	name := os.Getenv("NOTIFY_SOCKET")
	interval, pid := os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")
	for _, variable := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		os.Unsetenv(variable)
	}
	if name == "" {
		return nil
	}
	n := &Notifier{socket: &net.UnixAddr{Name: name, Net: "unixgram"}, log: slog.New(slog.DiscardHandler)}
	if interval == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return n
	}
	usec, err := strconv.ParseInt(interval, 10, 64)
	if err != nil || usec <= 0 || usec > int64(1<<63-1)/int64(time.Microsecond) {
		n.invalid = interval
		return n
	}
	n.interval = time.Duration(usec) * time.Microsecond
	return n
}

// LogTo sets the log for problems. Before that, they are not logged.
func (n *Notifier) LogTo(log *slog.Logger) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.log, n.failed = log, false
	if n.invalid != "" {
		log.Warn("WATCHDOG_USEC is no number of microseconds: systemd will miss the watchdog's pulse", "value", hostile.VisibleLine(n.invalid))
	}
}

// Ready tells systemd that the service has started, or that a reload is over.
func (n *Notifier) Ready() { n.send("READY=1") }

// Reloading tells systemd that a reload begins. Call Ready when it is over.
func (n *Notifier) Reloading() {
	n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(monotonic().Microseconds(), 10))
}

// Stopping tells systemd that the service begins to stop.
func (n *Notifier) Stopping() { n.send("STOPPING=1") }

// Status sets the line that `systemctl status` shows.
func (n *Notifier) Status(text string) { n.send("STATUS=" + hostile.VisibleLine(text)) }

// Failed sets the line that `systemctl status` shows after the process has ended with err. It does
// nothing if err is nil.
func (n *Notifier) Failed(err error) {
	if err == nil {
		return
	}
	state := "STATUS=" + hostile.VisibleLine(err.Error())
	if number := syscall.Errno(0); errors.As(err, &number) {
		state += "\nERRNO=" + strconv.Itoa(int(number))
	}
	n.send(state)
}

// extension is how much time Extend asks for at once. It asks again after a third of it.
const extension = 30 * time.Second

// Extend asks systemd to wait longer than its timeouts for the service to start or stop. It repeats
// that until stop is called or limit has passed.
func (n *Notifier) Extend(limit time.Duration) (stop func()) {
	if n == nil {
		return func() {}
	}
	var asking sync.WaitGroup
	ended := make(chan struct{})
	asking.Go(func() {
		again := time.NewTicker(extension / 3)
		defer again.Stop()
		for end := time.Now().Add(limit); time.Now().Before(end); {
			n.send("EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(extension.Microseconds(), 10))
			select {
			case <-again.C:
			case <-ended:
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(ended); asking.Wait() })
}

// sendTime is how long a notification may wait for a systemd that doesn't read.
const sendTime = time.Second

// send sends a notification. The first failure is logged, because the service itself is fine.
func (n *Notifier) send(state string) {
	if n == nil {
		return
	}
	err := n.sendTo(state)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil && !n.failed {
		n.log.Warn("systemd can't be notified; chatguard runs on, but a unit of Type=notify will time out: use Type=exec, or start it with systemctl",
			"socket", hostile.VisibleLine(n.socket.Name), "error", err)
		n.failed = true
	}
}

// sendTo connects each time, because systemd may have replaced the socket.
func (n *Notifier) sendTo(state string) error {
	if !strings.HasPrefix(n.socket.Name, "/") && !strings.HasPrefix(n.socket.Name, "@") {
		return fmt.Errorf("NOTIFY_SOCKET is neither a path nor an abstract socket")
	}
	conn, err := net.DialUnix("unixgram", nil, n.socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	return err
}
