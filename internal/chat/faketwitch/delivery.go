package faketwitch

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"time"
)

// Delivery configures faults in the delivery of chat. Each share, from 0 to 1, is the part of
// messages and removals that is affected. The zero value delivers everything normally.
type Delivery struct {
	Seed      uint64  // each seed gives a different sequence of faults
	Duplicate float64 // sent twice
	Shuffle   float64 // sent after the next delivery, or after 1 s if there is none
	Late      float64 // sent later, with the original time
	// LateBy is the maximum delay; the minimum is half of it. 0 means 5 s.
	LateBy     time.Duration
	Garbage    float64 // preceded by unreadable data
	Reconnect  float64 // followed by a reconnect request to the clients
	Disconnect float64 // followed by closing all connections
	// Stall is the share that is followed by permanent silence on all chat connections.
	Stall float64
}

// deliveryState is the state of chat delivery. The Server's mu guards it.
type deliveryState struct {
	how        Delivery
	rng        *rand.Rand    // nil if everything is delivered normally
	held       []func()      // sends held back until the next delivery
	closed     chan struct{} // closed with the server; nil if nothing was delayed
	closeAfter int           // lines until a new connection is closed
}

// mishap contains the faults of one delivery.
type mishap struct {
	twice, held, reconnect, disconnect, stall bool
	late                                      time.Duration // 0 means no delay
	garbage                                   string
}

// SetDelivery sets which faults the next deliveries have.
func (s *Server) SetDelivery(d Delivery) {
	s.mu.Lock()
	s.delivering.how, s.delivering.rng = d, nil
	if d != (Delivery{Seed: d.Seed}) {
		s.delivering.rng = rand.New(rand.NewPCG(d.Seed, 0x9e3779b97f4a7c15))
	}
	s.mu.Unlock()
	s.sendHeld()
}

// CloseAfter closes every chat connection made from now on after n lines from the server. 0 removes
// the limit.
func (s *chatServer) CloseAfter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivering.closeAfter = n
}

// Stall makes the current chat connections silent permanently: they stay open, but nothing is
// written or answered.
func (s *chatServer) Stall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.stalled.Store(true)
	}
}

// dispatch delivers something to the readers of a channel, with any faults. send may be called
// several times, or later.
func (s *Server) dispatch(send func()) {
	s.mu.Lock()
	m := s.delivering.next()
	if m.held {
		s.delivering.held = append(s.delivering.held, send)
	}
	s.mu.Unlock()

	if m.garbage != "" {
		s.Flood([]byte(m.garbage))
		s.SendEventSub(strings.ToValidUTF8(m.garbage, "?"))
	}
	switch {
	case m.held:
		s.schedule(time.Second, s.sendHeld)
	case m.late > 0:
		s.schedule(m.late, send)
	default:
		send()
		s.sendHeld()
	}
	if m.twice {
		send()
	}
	s.disturb(m)
}

// disturb applies the connection faults after a delivery.
func (s *Server) disturb(m mishap) {
	if m.reconnect {
		s.Reconnect()
		s.ReconnectEventSub()
	}
	if m.disconnect {
		s.Disconnect()
		s.DropEventSub()
	}
	if m.stall {
		s.Stall()
	}
}

// sendHeld sends everything that was held back.
func (s *Server) sendHeld() {
	s.mu.Lock()
	held := s.delivering.held
	s.delivering.held = nil
	s.mu.Unlock()
	for _, send := range held {
		send()
	}
}

// schedule calls do after a duration, unless the server has been closed by then.
func (s *Server) schedule(d time.Duration, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.delivering.closed == nil {
		s.delivering.closed = make(chan struct{})
	}
	closed := s.delivering.closed
	s.wait.Go(func() {
		select {
		case <-time.After(d):
			do()
		case <-closed:
		}
	})
}

// end cancels everything that is still to be sent later.
func (d *deliveryState) end() {
	if d.closed != nil {
		close(d.closed)
		d.closed = nil
	}
}

// next draws the faults of the next delivery. It always draws the same number of random values, so
// that changing one share doesn't affect the other kinds of faults.
func (d *deliveryState) next() mishap {
	if d.rng == nil {
		return mishap{}
	}
	due := func(share float64) bool { return d.rng.Float64() < share }
	m := mishap{
		twice: due(d.how.Duplicate), held: due(d.how.Shuffle),
		reconnect: due(d.how.Reconnect), disconnect: due(d.how.Disconnect), stall: due(d.how.Stall),
	}
	atMost := cmp.Or(d.how.LateBy, 5*time.Second)
	if late, less := due(d.how.Late), time.Duration(d.rng.Int64N(int64(atMost/2)+1)); late {
		m.late = atMost - less
	}
	if garbage, n := due(d.how.Garbage), d.rng.IntN(len(garbageLines)); garbage {
		m.garbage = garbageLines[n] + "\r\n"
	}
	return m
}

// garbageLines are lines that can't be read or lack required parts.
var garbageLines = []string{
	"", "\x00\x01\x02\xff\xfe", "@", ":", "PRIVMSG", "CLEARCHAT", "CLEARMSG #", "USERSTATE", "NOTICE", "ROOMSTATE #nowhere", "{\"metadata\":{", "null",
	"@room-id=1;user-id=2 :a!a@a PRIVMSG #nowhere :no ID", "@ban-duration=x;target-user-id=1 :tmi.twitch.tv CLEARCHAT #nowhere :anna",
	"@badges=vip;id=1;room-id=1;user-id=1 :a!a@a PRIVMSG #nowhere :bad badge", strings.Repeat("long ", 10_000),
}
