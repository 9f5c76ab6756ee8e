package checkclient

import (
	"sync"
	"time"
)

// outcome is what became of a request.
type outcome uint8

const (
	answered outcome = iota
	failed
	cancelled // by the caller, so it says nothing about chatguard
)

// logInterval is the minimum time between two warnings.
const logInterval = time.Minute

// breaker decides when requests are sent: always, until max of them have failed in a row; then none
// for the time pause; then a single one, the probe, until it ends. The time is a parameter. A
// breaker is safe for concurrent use.
type breaker struct {
	max   int
	pause time.Duration

	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // end of the pause, if there are max failures
	probing  bool
	warnedAt time.Time // zero: never
	warned   bool      // about the current failures
}

// begin reports whether a request may be sent, and whether it is the probe. If ok is true, the
// caller must call end.
func (b *breaker) begin(now time.Time) (ok, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.max {
		return true, false
	}
	if b.probing || now.Before(b.until) {
		return false, false
	}
	b.probing = true
	return true, true
}

// end records the outcome of a request. It reports whether to log that chatguard fails, or that it
// answers again.
func (b *breaker) end(now time.Time, probe bool, o outcome) (tell bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch o {
	case answered:
		tell = b.warned
		b.failures, b.warned = 0, false
	case failed:
		if b.failures++; b.failures == b.max || probe { // requests from before the pause don't extend it
			b.until = now.Add(b.pause)
		}
		if tell = !b.warned && (b.warnedAt.IsZero() || now.Sub(b.warnedAt) >= logInterval); tell {
			b.warned, b.warnedAt = true, now
		}
	}
	return tell
}
