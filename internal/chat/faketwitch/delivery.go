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

// delivery delivers messages and removals to the readers of a channel, over IRC and EventSub. The
// Server's mu guards its state.
type delivery struct {
	*state
	irc    *chatServer
	events *eventSub
	how    Delivery
	rng    *rand.Rand    // nil if everything is delivered normally
	held   []func()      // sends that wait for the next delivery
	ended  chan struct{} // closed with the server; nil if nothing was delayed
}

// mishap contains the faults of one delivery.
type mishap struct {
	twice, held, reconnect, disconnect, stall bool
	late                                      time.Duration // 0 means no delay
	garbage                                   string
}

// SetDelivery sets which faults the next deliveries have.
func (d *delivery) SetDelivery(how Delivery) {
	d.mu.Lock()
	d.how, d.rng = how, nil
	if how != (Delivery{Seed: how.Seed}) {
		d.rng = rand.New(rand.NewPCG(how.Seed, 0x9e3779b97f4a7c15))
	}
	d.mu.Unlock()
	d.sendHeld()
}

// dispatch delivers something to the readers of a channel, with any faults. send may be called
// several times, or later.
func (d *delivery) dispatch(send func()) {
	d.mu.Lock()
	m := d.next()
	if m.held {
		d.held = append(d.held, send)
	}
	d.mu.Unlock()

	if m.garbage != "" {
		d.irc.Flood([]byte(m.garbage))
		d.events.SendEventSub(strings.ToValidUTF8(m.garbage, "?"))
	}
	switch {
	case m.held:
		d.schedule(time.Second, d.sendHeld)
	case m.late > 0:
		d.schedule(m.late, send)
	default:
		send()
		d.sendHeld()
	}
	if m.twice {
		send()
	}
	d.disturb(m)
}

// announce tells the channel's readers what was removed. The caller must not hold mu.
func (d *delivery) announce(r removal) {
	event := r.event(d.events)
	d.dispatch(func() {
		d.irc.write(r.room.login, r.line())
		d.events.notify(event)
	})
}

// announceLift tells the readers of the channel's moderation who may write again. The caller must
// not hold mu.
func (d *delivery) announceLift(l lift) {
	event := l.event(d.events)
	d.dispatch(func() { d.events.notify(event) })
}

// disturb applies the connection faults after a delivery.
func (d *delivery) disturb(m mishap) {
	if m.reconnect {
		d.irc.Reconnect()
		d.events.ReconnectEventSub()
	}
	if m.disconnect {
		d.irc.Disconnect()
		d.events.DropEventSub()
	}
	if m.stall {
		d.irc.Stall()
	}
}

// sendHeld sends everything that waits for this delivery.
func (d *delivery) sendHeld() {
	d.mu.Lock()
	held := d.held
	d.held = nil
	d.mu.Unlock()
	for _, send := range held {
		send()
	}
}

// schedule calls do after a wait, unless the server has been closed by then.
func (d *delivery) schedule(wait time.Duration, do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if d.ended == nil {
		d.ended = make(chan struct{})
	}
	ended := d.ended
	d.wait.Go(func() {
		select {
		case <-time.After(wait):
			do()
		case <-ended:
		}
	})
}

// end cancels everything that is still to be sent later.
func (d *delivery) end() {
	if d.ended != nil {
		close(d.ended)
		d.ended = nil
	}
}

// next draws the faults of the next delivery. It always draws the same number of random values, so
// that changing one share doesn't affect the other kinds of faults.
func (d *delivery) next() mishap {
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
