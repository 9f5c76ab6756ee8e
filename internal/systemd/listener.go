package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard/internal/hostile"
)

// firstFD is the file descriptor of the first socket that systemd passes.
const firstFD = 3

// Listener returns the TCP listener that systemd passed to this process, and the name of its socket
// unit. It returns nil if systemd passed none. It removes the protocol's variables from the
// environment, because the listener is for this process only.
//
// The error is one line that names the unit's mistake.
func Listener() (listener *net.TCPListener, unit string, err error) {
	pid, count, names := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_FDNAMES")
	for _, variable := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(variable)
	}
	if pid != strconv.Itoa(os.Getpid()) {
		return nil, "", nil // there is none, or it is another process's
	}
	unit, _, _ = strings.Cut(names, ":")
	if unit = hostile.VisibleLine(unit); unit == "" {
		unit = "the socket unit"
	}
	switch n, err := strconv.Atoi(count); {
	case err != nil || n < 0:
		return nil, unit, fmt.Errorf("LISTEN_FDS is %q: want the number of sockets that systemd passes", hostile.VisibleLine(count))
	case n == 0:
		return nil, "", nil
	case n > 1:
		return nil, unit, fmt.Errorf("systemd passes %d sockets, but the dashboard has one address: leave one ListenStream= in the socket units of this service", n)
	}
	file := os.NewFile(firstFD, unit)
	defer file.Close() // the listener has a copy
	if err := checkSocket(firstFD); err != nil {
		return nil, unit, fmt.Errorf("%s: %w", unit, err)
	}
	general, err := net.FileListener(file)
	if err != nil {
		return nil, unit, fmt.Errorf("%s: systemd's socket can't be used: %w", unit, err)
	}
	if tcp, ok := general.(*net.TCPListener); ok {
		return tcp, unit, nil
	}
	return nil, unit, errors.Join(fmt.Errorf("%s: systemd passes a %s socket: set ListenStream= to an address and a port, such as 127.0.0.1:8080", unit, general.Addr().Network()), general.Close())
}
