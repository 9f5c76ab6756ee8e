package systemd

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"time"
)

// ourSocket is the name of chatguard's socket unit.
const ourSocket = "chatguard.socket"

// askTime is how long systemctl may take.
const askTime = 2 * time.Second

// SocketUnit returns the name of chatguard's socket unit if systemd listens for it at the address.
// Otherwise, or if nobody can tell, it returns "".
func SocketUnit(ctx context.Context, address string) string {
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	out, err := exec.CommandContext(ctx, "systemctl", "show", "--property=ActiveState,Listen", ourSocket).Output()
	if err != nil {
		return "" // there is no systemd
	}
	active, listens := false, false
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "ActiveState":
			active = value == "active"
		case "Listen":
			listens = listens || clashes(strings.TrimSuffix(value, " (Stream)"), address)
		}
	}
	if active && listens {
		return ourSocket
	}
	return ""
}

// clashes reports whether two addresses have the same port, and the same host or a wildcard. It
// doesn't resolve names.
func clashes(taken, address string) bool {
	takenHost, takenPort, err := net.SplitHostPort(taken)
	if err != nil {
		return false
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != takenPort {
		return false
	}
	return host == takenHost || isWildcard(host) || isWildcard(takenHost)
}

// isWildcard reports whether listening on host means all addresses of this machine.
func isWildcard(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }
