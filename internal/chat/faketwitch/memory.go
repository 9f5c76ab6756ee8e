package faketwitch

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// memory is a network within the process. It uses no system resources. It therefore works under a
// simulated clock, which advances only while all goroutines wait. The zero value has no listeners.
type memory struct {
	mu sync.Mutex
	// listeners has the listener of port n+1 at index n. On a real machine, hardly any program
	// listens at such low ports.
	listeners []*memoryListener
	// dialled is the total number of connections. It determines each client's port.
	dialled int
}

// firstClientPort is the first client's port, above the listeners' ports.
const firstClientPort = 10_000

func memoryAddr(port int) *net.TCPAddr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

// listen opens the next port.
func (m *memory) listen() net.Listener {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := &memoryListener{addr: memoryAddr(len(m.listeners) + 1), arriving: make(chan net.Conn), closed: make(chan struct{})}
	m.listeners = append(m.listeners, l)
	return l
}

// dial connects to a listener and waits until it accepts.
func (m *memory) dial(ctx context.Context, address string) (net.Conn, error) {
	l, from := m.find(address)
	if l == nil {
		return nil, fmt.Errorf("fake twitch: nothing listens in memory at %s", address)
	}
	here, there := memoryPair(from, l.addr)
	select {
	case l.arriving <- there:
		return here, nil
	case <-l.closed:
		return nil, fmt.Errorf("fake twitch: %s: %w", address, net.ErrClosed)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns the listener at an address, or nil, and the client's address.
func (m *memory) find(address string) (*memoryListener, net.Addr) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.listeners {
		if l.addr.String() == address {
			m.dialled++
			return l, memoryAddr(firstClientPort + m.dialled)
		}
	}
	return nil, nil
}

// memoryListener accepts connections to one port.
type memoryListener struct {
	addr     net.Addr
	arriving chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.arriving:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return l.addr }
