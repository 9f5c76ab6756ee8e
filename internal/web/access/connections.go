package access

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/chatguard/chatguard/connguard"
)

// origin is where a connection comes from. Each origin has its own limit. Connections from
// elsewhere therefore never use up those that servers on this machine need for POST /check.
type origin int

const (
	localOrigin origin = iota // this machine, unless it is a trusted proxy
	proxyOrigin               // from trusted proxies
	otherOrigin               // from anywhere else
)

func (o origin) String() string {
	return [...]string{localOrigin: "this machine", proxyOrigin: "trusted proxies", otherOrigin: "elsewhere"}[o]
}

// mostConnections is the maximum number of open connections per origin, including live feeds.
var mostConnections = [...]int{localOrigin: 500, proxyOrigin: 1000, otherOrigin: 500}

// mostOfAddress is the maximum number of connections of otherOrigin per address.
const mostOfAddress = 100

// originOf returns the origin of an address.
func (s Site) originOf(addr netip.Addr) origin {
	switch {
	case slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(addr) }):
		return proxyOrigin
	case addr.IsLoopback():
		return localOrigin
	}
	return otherOrigin
}

// connections counts the open connections. It is safe for concurrent use.
type connections struct {
	site      Site
	most      [3]int // maximum per origin
	ofAddress int    // maximum per address, for otherOrigin

	mu        sync.Mutex
	open      [3]int
	byAddress map[string]int // for otherOrigin, by connguard.AddressKey

	log  *slog.Logger
	full [3]sync.Once // logs the first refused connection
}

func newConnections(site Site) *connections {
	return &connections{site: site, most: mostConnections, ofAddress: mostOfAddress, byAddress: map[string]int{}, log: cmp.Or(site.Log, slog.Default())}
}

// enter counts a connection from an address, if the limits allow it. The caller must call leave
// once.
func (c *connections) enter(addr netip.Addr) (leave func(), ok bool) {
	addr = addr.Unmap()
	origin, key := c.site.originOf(addr), ""
	if origin == otherOrigin {
		key = connguard.AddressKey(addr)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[origin] >= c.most[origin] || key != "" && c.byAddress[key] >= c.ofAddress {
		c.full[origin].Do(func() {
			c.log.Warn("too many connections are open: new ones are closed at once", "from", origin, "address", addr, "open", c.open[origin])
		})
		return nil, false
	}
	c.open[origin]++
	if key != "" {
		c.byAddress[key]++
	}
	return func() { c.leave(origin, key) }, true
}

func (c *connections) leave(origin origin, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[origin]--
	if key == "" {
		return
	}
	if c.byAddress[key]--; c.byAddress[key] == 0 {
		delete(c.byAddress, key)
	}
}

// boundedListener closes connections beyond the limits at once.
type boundedListener struct {
	*net.TCPListener
	connections *connections
}

// Accept returns the next connection within the limits and closes those beyond them.
func (l boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		leave, ok := l.connections.enter(conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr())
		if ok {
			return &boundedConn{TCPConn: conn, leave: sync.OnceFunc(leave)}, nil
		}
		conn.Close() // Waiting here would block connections of other origins, which may have room.
	}
}

// boundedConn frees its place when it is closed.
type boundedConn struct {
	*net.TCPConn
	leave func()
}

func (c *boundedConn) Close() error {
	c.leave()
	return c.TCPConn.Close()
}
