// Package systemdtest is systemd's side of a service's notifications, for tests.
package systemdtest

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a notification may take. It only matters if the service is broken.
const patience = time.Minute

// Notification is a notification and its sender.
type Notification struct {
	Text string // its lines are assignments
	PID  int
}

// Manager receives the notifications of a service. It always reads, because few datagrams fit into
// a socket's buffer, and a service drops the next one.
type Manager struct {
	testing.TB
	next chan struct{} // is notified of each notification

	mu       sync.Mutex
	received []Notification
	taken    int // how many of them Next has returned
}

// Listen returns a Manager whose socket has this name: a path, or an abstract name with @. It reads
// until the end of the test.
func Listen(t testing.TB, name string) *Manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	m := &Manager{TB: t, next: make(chan struct{}, 1)}
	var reading sync.WaitGroup
	t.Cleanup(func() { conn.Close(); reading.Wait() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
	}); err != nil {
		t.Fatal(err)
	}
	reading.Go(func() { m.read(conn) })
	return m
}

// read receives notifications until the socket is closed.
func (m *Manager) read(conn *net.UnixConn) {
	text, beside := make([]byte, 4096), make([]byte, 128)
	for {
		n, besides, _, _, err := conn.ReadMsgUnix(text, beside)
		if err != nil {
			return
		}
		sender, err := credentials(beside[:besides])
		if err != nil {
			m.Errorf("systemd is told %q: %v", text[:n], err)
			return
		}
		m.mu.Lock()
		m.received = append(m.received, Notification{string(text[:n]), int(sender.Pid)})
		m.mu.Unlock()
		select {
		case m.next <- struct{}{}:
		default: // Next has not looked since the last one
		}
	}
}

// credentials returns who has sent a datagram.
func credentials(control []byte) (*syscall.Ucred, error) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, fmt.Errorf("%d control messages, want the sender's credentials", len(messages))
	}
	return syscall.ParseUnixCredentials(&messages[0])
}

// Received returns all notifications so far.
func (m *Manager) Received() []Notification {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.received[:len(m.received):len(m.received)]
}

// Next waits for the next notification.
func (m *Manager) Next() Notification {
	m.Helper()
	return m.await("something", func(string) bool { return true })
}

// Await waits for a notification whose first line is the given one, and skips others.
func (m *Manager) Await(line string) Notification {
	m.Helper()
	return m.await(line, func(text string) bool {
		first, _, _ := strings.Cut(text, "\n")
		return first == line
	})
}

func (m *Manager) await(what string, is func(text string) bool) Notification {
	m.Helper()
	expired := time.NewTimer(patience)
	defer expired.Stop()
	for {
		for n, ok := m.take(); ok; n, ok = m.take() {
			if is(n.Text) {
				return n
			}
		}
		select {
		case <-m.next:
		case <-expired.C:
			m.Fatalf("systemd isn't told %s within %s; it is told %+v", what, patience, m.Received())
		}
	}
}

// take returns the next notification that has been received, if there is one.
func (m *Manager) take() (n Notification, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken == len(m.received) {
		return n, false
	}
	m.taken++
	return m.received[m.taken-1], true
}
