package faketwitch

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"time"
)

// Delivery is how badly chat is delivered. Each share, from 0 to 1, is that of the messages and removals to which it happens; the zero value
// delivers everything as it should be.
type Delivery struct {
	Seed       uint64        // another seed is another course of events
	Duplicate  float64       // sent twice
	Shuffle    float64       // sent after the next one, or a second later where none follows
	Late       float64       // sent later, with its old time
	LateBy     time.Duration // how much later at most, and half of it at least; 0 means 5 s
	Garbage    float64       // after something that nobody can read
	Reconnect  float64       // before the clients are told to reconnect
	Disconnect float64       // before all connections are closed
	Stall      float64       // before all connections to the chat fall silent for good
}

// delivering is how chat is delivered. The Server's mu guards it.
type delivering struct {
	how        Delivery
	rng        *rand.Rand    // nil where everything is delivered as it should be
	held       []func()      // to be sent after the next
	closed     chan struct{} // closed with the server; nil while nothing waits to be sent later
	closeAfter int           // lines
}

// mishap is what happens to one delivery.
type mishap struct {
	twice, held, reconnect, disconnect, stall bool
	late                                      time.Duration // 0 means that it isn't
	garbage                                   string
}

// SetDelivery makes deliveries from now on go wrong in these ways.
func (s *Server) SetDelivery(d Delivery) {
	s.mu.Lock()
	s.delivering.how, s.delivering.rng = d, nil
	if d != (Delivery{Seed: d.Seed}) {
		s.delivering.rng = rand.New(rand.NewPCG(d.Seed, 0x9e3779b97f4a7c15))
	}
	s.mu.Unlock()
	s.sendHeld()
}

// CloseAfter ends every connection to the chat that is made from now on after n lines of the server's, or with 0 no longer.
func (s *Server) CloseAfter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivering.closeAfter = n
}

// Stall lets the connections to the chat that there are now fall silent for good: they stay open, but nothing is written or answered.
func (s *Server) Stall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.stalled.Store(true)
	}
}

// dispatch delivers something to those who read a channel, with the mishaps that are due. send may be called several times, or later.
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
		s.later(time.Second, s.sendHeld)
	case m.late > 0:
		s.later(m.late, send)
	default:
		send()
		s.sendHeld()
	}
	if m.twice {
		send()
	}
	s.disturb(m)
}

// disturb does to the connections what is due after a delivery.
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

// sendHeld sends what was held back.
func (s *Server) sendHeld() {
	s.mu.Lock()
	held := s.delivering.held
	s.delivering.held = nil
	s.mu.Unlock()
	for _, send := range held {
		send()
	}
}

// later does something after a while, unless the server has been closed by then.
func (s *Server) later(d time.Duration, do func()) {
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

// end lets nothing be sent later any more.
func (d *delivering) end() {
	if d.closed != nil {
		close(d.closed)
		d.closed = nil
	}
}

// next draws what happens to the next delivery. It always draws as often, so that one share doesn't change the course of the others.
func (d *delivering) next() mishap {
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

// garbageLines are lines that nobody can read, or that lack what they should have.
var garbageLines = []string{
	"", "\x00\x01\x02\xff\xfe", "@", ":", "PRIVMSG", "CLEARCHAT", "CLEARMSG #", "USERSTATE", "NOTICE", "ROOMSTATE #nowhere", "{\"metadata\":{", "null",
	"@room-id=1;user-id=2 :a!a@a PRIVMSG #nowhere :no ID", "@ban-duration=x;target-user-id=1 :tmi.twitch.tv CLEARCHAT #nowhere :anna",
	"@badges=vip;id=1;room-id=1;user-id=1 :a!a@a PRIVMSG #nowhere :bad badge", strings.Repeat("long ", 10_000),
}
