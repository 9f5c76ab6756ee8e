package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manager is the side of systemd: the socket at which it receives notifications.
type manager struct {
	*testing.T
	conn *net.UnixConn
	path string
	got  []string // every assignment received so far
}

func newManager(t *testing.T) *manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
	}); err != nil {
		t.Fatal(err)
	}
	return &manager{T: t, conn: conn, path: path}
}

// receive returns the assignments of the next notification, and the sender.
func (m *manager) receive() (assignments []string, pid int) {
	m.Helper()
	// The timeout only matters if the program is broken.
	if err := m.conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		m.Fatal(err)
	}
	text, beside := make([]byte, 4096), make([]byte, 128)
	n, besides, _, _, err := m.conn.ReadMsgUnix(text, beside)
	if err != nil {
		m.Fatalf("%v; received so far: %q", err, m.got)
	}
	messages, err := syscall.ParseSocketControlMessage(beside[:besides])
	if err != nil || len(messages) != 1 {
		m.Fatalf("%d credentials, %v", len(messages), err)
	}
	sender, err := syscall.ParseUnixCredentials(&messages[0])
	if err != nil {
		m.Fatal(err)
	}
	assignments = strings.Split(string(text[:n]), "\n")
	m.got = append(m.got, assignments...)
	return assignments, int(sender.Pid)
}

// await waits for a notification that begins with an assignment, and returns its other assignments.
func (m *manager) await(p *process, begin string) (others []string) {
	m.Helper()
	for {
		assignments, pid := m.receive()
		if pid != p.Process.Pid {
			m.Errorf("%q comes from process %d, want %d", assignments, pid, p.Process.Pid)
		}
		if assignments[0] == begin {
			return assignments[1:]
		}
	}
}

// reloaded waits until the process has told that a reload began, and that it is over.
func (m *manager) reloaded(p *process) {
	m.Helper()
	var usec int64
	others := m.await(p, "RELOADING=1")
	if len(others) != 1 {
		m.Fatalf("RELOADING=1 comes with %q", others)
	}
	if _, err := fmt.Sscanf(others[0], "MONOTONIC_USEC=%d", &usec); err != nil || usec <= 0 {
		m.Errorf("RELOADING=1 comes with %q, %v", others, err)
	}
	m.await(p, "READY=1")
}

// fetchPage checks that the dashboard answers.
func fetchPage(t *testing.T, address string) {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s, %v", address, answer.Status, err)
	}
}

// TestService_Notifies checks what systemd learns in a service's life.
func TestService_Notifies(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	_, configuration := startTwitch(t, "")
	p := start(t, configuration, "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=200000")
	m.await(p, "EXTEND_TIMEOUT_USEC=30000000")
	m.await(p, "READY=1")
	fetchPage(t, p.address)
	m.await(p, "WATCHDOG=1")
	m.await(p, "STATUS=observing in 1 channel")

	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.reloaded(p)
	reload := exec.Command(os.Args[0], "reload", "--config", configuration)
	reload.Env = append(os.Environ(), asCommand+"=1")
	if out, err := reload.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.reloaded(p)
	m.await(p, "WATCHDOG=1")

	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.await(p, "STOPPING=1")
	m.await(p, "EXTEND_TIMEOUT_USEC=30000000")
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// TestService_StatusNamesTrouble checks that the status says why an enforcing policy only observes.
func TestService_StatusNamesTrouble(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	_, configuration := startTwitch(t, "[policy]\nmode = \"enforce\"\n")
	p := start(t, configuration, "NOTIFY_SOCKET="+m.path)
	m.await(p, "STATUS=observing in 1 channel; Token missing")
	p.stop(t)
	for _, got := range m.got {
		if strings.HasPrefix(got, "WATCHDOG") {
			t.Errorf("without a watchdog, systemd is told %s", got)
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

// activate returns the command that runs chatguard with a file as systemd's only socket.
func activate(configuration string, file *os.File) *exec.Cmd {
	// LISTEN_PID is the number of the process, which exec keeps.
	command := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0], "run", "--config", configuration)
	command.ExtraFiles = []*os.File{file}
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
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	address := "http://" + listener.Addr().String() + "/"
	_, configuration := startTwitch(t, "")
	for range 2 {
		answered := make(chan struct{})
		go func() { defer close(answered); fetchPage(t, address) }() // maybe before the start
		p := startCommand(t, activate(configuration, file), oneSocket, ourSocket)
		if p.address != address {
			t.Errorf("the dashboard is at %s, want %s", p.address, address)
		}
		<-answered
		reload := exec.Command(os.Args[0], "reload", "--config", configuration)
		reload.Env = append(os.Environ(), asCommand+"=1")
		if out, err := reload.Output(); err != nil || !strings.HasSuffix(string(out), ": nothing has changed\n") {
			t.Errorf("reload says %q, %v", out, err)
		}
		p.stop(t)
	}
}

// socketFile returns the file of a socket of this network at an address.
func socketFile(t *testing.T, network, address string) *os.File {
	t.Helper()
	var socket interface{ File() (*os.File, error) }
	switch network {
	case "udp":
		conn, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		socket = conn.(*net.UDPConn)
	case "unix":
		listener, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		socket = listener.(*net.UnixListener)
	default:
		listener, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		socket = listener.(*net.TCPListener)
	}
	file, err := socket.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// connectionFile returns the file of a TCP connection.
func connectionFile(t *testing.T) *os.File {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		return bound.(*syscall.SockaddrInet4).Port
	}(open)
	text, err := os.Open("service_linux_test.go")
	if err != nil {
		t.Fatal(err)
	}
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
			m := newManager(t)
			_, configuration := startTwitch(t, "")
			run := activate(configuration, c.file)
			// The timeout only matters if a wrong socket is served.
			defer time.AfterFunc(30*time.Second, func() { run.Process.Kill() }).Stop()
			run.Env = append(os.Environ(), append([]string{asCommand + "=1", "NOTIFY_SOCKET=" + m.path, oneSocket, ourSocket}, c.env...)...)
			out, err := run.CombinedOutput()
			if string(out) != "chatguard: "+c.want+"\n" || run.ProcessState.ExitCode() != exitUsage {
				t.Errorf("%v: %swant %s", err, out, c.want)
			}
			m.await(&process{Cmd: run}, "STATUS="+c.want)
		})
	}
}

// TestService_SocketUnitHoldsPort checks that a start by hand names the socket unit that has the
// port. The only part of systemd is an imitation of systemctl.
func TestService_SocketUnitHoldsPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	for state, want := range map[string]string{
		"active":   "chatguard: " + address + " is in use by systemd, for chatguard.socket: run `systemctl start chatguard`, or stop chatguard.socket, or set [web] listen to another port\n",
		"inactive": "chatguard: " + address + " is in use by another program: stop that one, or set [web] listen to another port\n",
	} {
		folder := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\nprintf 'ActiveState=%s\\nListen=[::1]:8080 (Stream)\\nListen=%s (Stream)\\n'\n", state, address)
		if err := os.WriteFile(filepath.Join(folder, "systemctl"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		_, configuration := startTwitch(t, "")
		run := exec.Command(os.Args[0], "run", "--config", configuration)
		run.Env = append(os.Environ(), asCommand+"=1", "CHATGUARD_WEB_LISTEN="+address, "PATH="+folder+":"+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		if string(out) != want || run.ProcessState.ExitCode() != exitFailed {
			t.Errorf("%s: %v: %s, want %s", state, err, out, want)
		}
	}
}
