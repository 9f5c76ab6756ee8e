package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chatguard/chatguard/internal/systemd/systemdtest"
)

// newManager returns a systemd that waits for notifications at a path.
func newManager(t *testing.T) (m *systemdtest.Manager, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "notify")
	return systemdtest.Listen(t, path), path
}

// awaitReload waits until systemd is told that a reload began, and that it is over.
func awaitReload(t *testing.T, m *systemdtest.Manager) {
	t.Helper()
	var usec int64
	told := m.Await("RELOADING=1").Text
	if _, err := fmt.Sscanf(told, "RELOADING=1\nMONOTONIC_USEC=%d", &usec); err != nil || usec <= 0 {
		t.Errorf("systemd is told %q, %v", told, err)
	}
	m.Await("READY=1")
}

// checkSender checks that all notifications come from a process.
func checkSender(t *testing.T, m *systemdtest.Manager, pid int) {
	t.Helper()
	for _, n := range m.Received() {
		if n.PID != pid {
			t.Errorf("%q comes from process %d, want %d", n.Text, n.PID, pid)
		}
	}
}

// fetchPage checks that the dashboard answers.
func fetchPage(t *testing.T, address string) {
	t.Helper()
	if answer, _ := sendRequest(t, "GET", address, ""); answer.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s", address, answer.Status)
	}
}

// TestService_Notifies checks what systemd learns in a service's life.
func TestService_Notifies(t *testing.T) {
	t.Parallel()
	m, path := newManager(t)
	_, configuration := startTwitch(t, "")
	p := start(t, configuration, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=200000")
	m.Await("EXTEND_TIMEOUT_USEC=30000000")
	m.Await("READY=1")
	fetchPage(t, p.address)
	m.Await("STATUS=observing in 1 channel")
	m.Await("WATCHDOG=1")

	must(t, p.Process.Signal(syscall.SIGHUP))
	awaitReload(t, m)
	runBeside(t, configuration, "reload")
	awaitReload(t, m)
	m.Await("WATCHDOG=1")

	p.stop(t)
	m.Await("STOPPING=1")
	m.Await("EXTEND_TIMEOUT_USEC=30000000")
	checkSender(t, m, p.Process.Pid)
}

// TestService_StatusNamesTrouble checks that the status says why an enforcing policy only observes.
func TestService_StatusNamesTrouble(t *testing.T) {
	t.Parallel()
	m, path := newManager(t)
	_, configuration := startTwitch(t, "[policy]\nmode = \"enforce\"\n")
	p := start(t, configuration, "NOTIFY_SOCKET="+path)
	m.Await("STATUS=observing in 1 channel; Token missing")
	p.stop(t)
	for _, n := range m.Received() {
		if strings.HasPrefix(n.Text, "WATCHDOG") {
			t.Errorf("without a watchdog, systemd is told %s", n.Text)
		}
	}
}

// TestService_NobodyListens checks that chatguard runs if systemd's socket is gone, and warns once.
func TestService_NobodyListens(t *testing.T) {
	t.Parallel()
	_, configuration := startTwitch(t, "")
	p := start(t, configuration, "NOTIFY_SOCKET="+filepath.Join(t.TempDir(), "gone"), "WATCHDOG_USEC=1000", "WATCHDOG_PID=1")
	fetchPage(t, p.address)
	p.stop(t)
	if n := strings.Count(p.log(), "systemd can't be notified"); n != 1 {
		t.Errorf("%d warnings, want one:\n%s", n, p.log())
	}
}

// activate returns the command that runs chatguard with a file as systemd's only socket, until the
// context ends.
func activate(ctx context.Context, configuration string, file *os.File) *exec.Cmd {
	// LISTEN_PID is the number of the process, which exec keeps.
	command := exec.CommandContext(ctx, "sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0], "run", "--config", configuration)
	command.ExtraFiles = []*os.File{file}
	command.Env = append(os.Environ(), asCommand+"=1", oneSocket, ourSocket)
	return command
}

const (
	oneSocket = "LISTEN_FDS=1"
	ourSocket = "LISTEN_FDNAMES=chatguard.socket"
)

// TestService_SocketActivation checks that systemd's address replaces the configured one, and that
// connections between two starts are served.
func TestService_SocketActivation(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	file, err := listener.(socket).File()
	must(t, err)
	defer file.Close()
	address := "http://" + listener.Addr().String() + "/"
	_, configuration := startTwitch(t, "")
	for range 2 {
		answered := make(chan struct{})
		go func() { defer close(answered); fetchPage(t, address) }() // maybe before the start
		p := startCommand(t, activate(t.Context(), configuration, file))
		if p.address != address {
			t.Errorf("the dashboard is at %s, want %s", p.address, address)
		}
		<-answered
		if out := runBeside(t, configuration, "reload"); !strings.HasSuffix(out, ": nothing has changed") {
			t.Errorf("reload says %q", out)
		}
		p.stop(t)
	}
}

// socket is an open socket of package net.
type socket interface {
	File() (*os.File, error)
	Close() error
}

// socketFile returns the file of a socket of this network at an address.
func socketFile(t *testing.T, network, address string) *os.File {
	t.Helper()
	var opened any
	var err error
	if network == "udp" {
		opened, err = net.ListenPacket(network, address)
	} else {
		opened, err = net.Listen(network, address)
	}
	must(t, err)
	return fileOf(t, opened.(socket))
}

// connectionFile returns the file of a TCP connection.
func connectionFile(t *testing.T) *os.File {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	return fileOf(t, conn.(socket))
}

// fileOf returns the file of a socket.
func fileOf(t *testing.T, s socket) *os.File {
	t.Helper()
	defer s.Close()
	file, err := s.File()
	must(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

// TestService_BadSocket checks that a wrong socket is refused with exit code 2, at which systemd
// doesn't try again, and with one line, which is the unit's status, too.
func TestService_BadSocket(t *testing.T) {
	t.Parallel()
	open := socketFile(t, "tcp4", "0.0.0.0:0")
	port := func(f *os.File) int {
		bound, err := syscall.Getsockname(int(f.Fd()))
		must(t, err)
		return bound.(*syscall.SockaddrInet4).Port
	}(open)
	text, err := os.Open("service_linux_test.go")
	must(t, err)
	defer text.Close()
	loopback := socketFile(t, "tcp4", "127.0.0.1:0")
	for name, c := range map[string]struct {
		file *os.File
		env  []string
		want string
	}{
		"no number":  {loopback, []string{"LISTEN_FDS=one"}, `LISTEN_FDS is "one": want the number of sockets that systemd passes`},
		"several":    {loopback, []string{"LISTEN_FDS=2"}, "systemd passes 2 sockets, but the dashboard has one address: leave one ListenStream= in the socket units of this service"},
		"file":       {text, nil, "chatguard.socket: systemd passes something that is no socket: use ListenStream="},
		"datagrams":  {socketFile(t, "udp", "127.0.0.1:0"), nil, "chatguard.socket: systemd passes a datagram socket: use ListenStream="},
		"connection": {connectionFile(t), nil, "chatguard.socket: systemd passes a connection instead of a listener: use Accept=no"},
		"unix":       {socketFile(t, "unix", filepath.Join(t.TempDir(), "s")), nil, "chatguard.socket: systemd passes a unix socket: set ListenStream= to an address and a port, such as 127.0.0.1:8080"},
		"no token":   {open, []string{"CHATGUARD_WEB_INSECURE=true"}, fmt.Sprintf("chatguard.socket: 0.0.0.0:%d is open to other machines: set CHATGUARD_WEB_TOKEN to a long random text, or listen on 127.0.0.1", port)},
		"no TLS": {open, []string{"CHATGUARD_WEB_TOKEN=0123456789abcdef"}, fmt.Sprintf("chatguard.socket: 0.0.0.0:%d is open to other machines: set tls_cert and tls_key, or public_url to a proxy's https address, or listen on 127.0.0.1, "+
			"or set insecure = true in [web]", port)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, path := newManager(t)
			_, configuration := startTwitch(t, "")
			ctx, cancel := context.WithTimeout(t.Context(), maxWait)
			defer cancel()
			run := activate(ctx, configuration, c.file)
			run.Env = append(append(run.Env, "NOTIFY_SOCKET="+path), c.env...)
			out, err := run.CombinedOutput()
			if string(out) != "chatguard: "+c.want+"\n" || run.ProcessState.ExitCode() != exitUsage {
				t.Errorf("%v: %swant %s", err, out, c.want)
			}
			m.Await("STATUS=" + c.want)
			checkSender(t, m, run.Process.Pid)
		})
	}
}

// TestService_SocketUnitHoldsPort checks that a start by hand names the socket unit that has the
// port. The only part of systemd is an imitation of systemctl.
func TestService_SocketUnitHoldsPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	for state, want := range map[string]string{
		"active":   "chatguard: " + address + " is in use by systemd, for chatguard.socket: run `systemctl start chatguard`, or stop chatguard.socket, or set [web] listen to another port\n",
		"inactive": "chatguard: " + address + " is in use by another program: stop that one, or set [web] listen to another port\n",
	} {
		folder := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\nprintf 'ActiveState=%s\\nListen=[::1]:8080 (Stream)\\nListen=%s (Stream)\\n'\n", state, address)
		must(t, os.WriteFile(filepath.Join(folder, "systemctl"), []byte(script), 0o700))
		_, configuration := startTwitch(t, "")
		run := commandLine(t, "run", "--config", configuration)
		run.Env = append(run.Env, "CHATGUARD_WEB_LISTEN="+address, "PATH="+folder+":"+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		if string(out) != want || run.ProcessState.ExitCode() != exitFailed {
			t.Errorf("%s: %v: %s, want %s", state, err, out, want)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(configuration), "chatguard.db")); err == nil {
			t.Error("a database was made for nothing")
		}
	}
}
