package twitch

import (
	"cmp"
	"math/rand/v2"
	"time"
)

// Timing sets the timeouts of a connection. A zero field means the default.
type Timing struct {
	Handshake time.Duration // from dialing to the welcome; default 10 s
	Write     time.Duration // for the network to accept a line; default 10 s
	PingAfter time.Duration // silence before a PING; default 60 s
	// PongWithin is how long the server may be silent after a PING before the connection counts as
	// lost; default 10 s.
	PongWithin time.Duration
	// Healthy is how long a connection must last after the welcome so that the delays start at
	// BackoffMin again; default 20 s.
	Healthy    time.Duration
	BackoffMin time.Duration // first delay before reconnecting; default 500 ms
	BackoffMax time.Duration // longest delay; default 1 min
	// QueueWait is how long reading waits for a stuck consumer before messages are dropped; default
	// 1 s.
	QueueWait time.Duration
}

// WithDefaults returns t with zero fields replaced by their defaults.
func (t Timing) WithDefaults() Timing {
	return Timing{
		Handshake:  cmp.Or(t.Handshake, 10*time.Second),
		Write:      cmp.Or(t.Write, 10*time.Second),
		PingAfter:  cmp.Or(t.PingAfter, time.Minute),
		PongWithin: cmp.Or(t.PongWithin, 10*time.Second),
		Healthy:    cmp.Or(t.Healthy, 20*time.Second),
		BackoffMin: cmp.Or(t.BackoffMin, 500*time.Millisecond),
		BackoffMax: cmp.Or(t.BackoffMax, time.Minute),
		QueueWait:  cmp.Or(t.QueueWait, time.Second),
	}
}

// Backoff returns how long to wait after this many consecutive failures. The wait doubles from min
// to max. A random part of up to half is subtracted, so that many clients that lost the same server
// don't return at the same moment.
func Backoff(failures int, min, max time.Duration) time.Duration {
	d := max
	if failures < 32 && min<<failures>>failures == min && min<<failures < max {
		d = min << failures
	}
	return d - rand.N(d/2+1)
}
