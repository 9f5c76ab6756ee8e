package access

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// proxied is a site behind a proxy on another machine.
var proxied = Site{Listen: "127.0.0.1:0", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}, Log: quiet}

// Each address has a limit, and all addresses together have one. If these limits are reached, this
// machine and the proxies can still connect.
func TestConnections_Origins(t *testing.T) {
	c := newConnections(proxied)
	enter := func(address string, want bool) (leave func()) {
		t.Helper()
		leave, ok := c.enter(netip.MustParseAddr(address))
		if ok != want {
			t.Errorf("%s: %v, want %v", address, ok, want)
		}
		return leave
	}
	var leaves []func()
	for range mostOfAddress {
		leaves = append(leaves, enter("198.51.100.7", true))
		enter("2001:db8::1", true)
	}
	enter("198.51.100.7", false)
	enter("::ffff:198.51.100.7", false)
	enter("2001:db8::ffff", false) // same network
	enter("2001:db8:0:1::1", true)
	leaves[0]()
	enter("198.51.100.7", true)
	for c.open[otherOrigin] < mostConnections[otherOrigin] {
		enter(netip.AddrFrom4([4]byte{203, 0, 113, byte(c.open[otherOrigin])}).String(), true)
	}
	enter("198.51.100.8", false)
	for range mostConnections[proxyOrigin] {
		enter("192.0.2.1", true)
	}
	enter("192.0.2.1", false)
	for range mostConnections[localOrigin] {
		enter("127.0.0.1", true)
	}
	enter("::1", false)
	for _, leave := range leaves[1:] {
		leave()
	}
	enter("203.0.113.9", true)
	if total := mostConnections[0] + mostConnections[1] + mostConnections[2]; total != 2000 {
		t.Errorf("together %d", total)
	}
}

// A connection beyond the limit is closed at once, the log says so once, and a closed connection
// makes room.
func TestBoundedListener_Full(t *testing.T) {
	var log bytes.Buffer
	site := Site{Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&log, nil))}
	listener, err := site.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	listener.(boundedListener).connections.most[localOrigin] = 1
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	dial()
	first := <-accepted
	for range 2 {
		if n, err := dial().Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("a connection beyond the limit reads %d bytes, %v", n, err)
		}
	}
	first.Close()
	first.Close() // a second Close counts once
	open := dial()
	second := <-accepted
	if _, err := io.WriteString(second, "x"); err != nil {
		t.Fatal(err)
	}
	if n, err := open.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("after a connection was closed, the next one reads %d bytes, %v", n, err)
	}
	second.Close()
	listener.Close()
	for range accepted { // wait until nothing logs any more
	}
	if text := log.String(); strings.Count(text, "too many connections are open") != 1 || !strings.Contains(text, `from="this machine"`) {
		t.Errorf("the log says\n%s", text)
	}
}
