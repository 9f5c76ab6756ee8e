package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// nameServer is a DNS server on loopback.
type nameServer struct {
	conn net.PacketConn

	mu sync.Mutex
	// answers has the addresses by name. Each look-up takes the next list; the last one stays.
	answers map[string][][]netip.Addr
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	s := &nameServer{conn: conn, answers: map[string][][]netip.Addr{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run()
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

// resolver returns a resolver that asks this server only.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) set(name string, answers [][]netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name] = answers
}

func (s *nameServer) run() {
	buffer := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		s.conn.WriteTo(s.reply(buffer[:n]), from)
	}
}

// reply answers a question for addresses of the family IPv4 (RFC 1035). There are no others.
func (s *nameServer) reply(query []byte) []byte {
	const headerSize, typeA = 12, 1
	var labels []string
	at := headerSize
	for query[at] != 0 {
		size := int(query[at])
		labels = append(labels, string(query[at+1:at+1+size]))
		at += 1 + size
	}
	question := query[headerSize : at+5]
	name := strings.ToLower(strings.Join(labels, ".")) + "."
	addresses, known := s.next(name, binary.BigEndian.Uint16(query[at+1:]) == typeA)
	flags := uint16(0x8400) // an answer with authority
	if !known {
		flags |= 3 // no such name
	}
	reply := binary.BigEndian.AppendUint16(append([]byte{}, query[:2]...), flags)
	reply = binary.BigEndian.AppendUint16(reply, 1)
	reply = binary.BigEndian.AppendUint16(reply, uint16(len(addresses)))
	reply = append(append(reply, 0, 0, 0, 0), question...)
	for _, ip := range addresses {
		reply = append(reply, 0xc0, headerSize, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, ip.AsSlice()...)
	}
	return reply
}

func (s *nameServer) next(name string, isIPv4 bool) (addresses []netip.Addr, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers, known := s.answers[name]
	if !known || !isIPv4 {
		return nil, known
	}
	if len(answers) > 1 {
		s.answers[name] = answers[1:]
	}
	return answers[0], true
}
