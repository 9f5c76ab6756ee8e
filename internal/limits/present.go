package limits

import (
	"sync"
	"sync/atomic"
)

// Present is the time that the messages of a Guard agree on. It distinguishes a late message from a
// clock that was set back: if a row was last used after the present, a clock has gone back since.
// The zero value knows no time yet. It is safe for concurrent use.
type Present struct {
	// onTime is Never minus the earliest time of a message that is on time, for the decisions that
	// need no lock. It is 0 if every decision needs the lock.
	onTime atomic.Int64

	mu sync.Mutex
	agreement
}

// agreement is the present, and the last messages if they contradict it.
type agreement struct {
	time  int64 // 0 before the first message
	doubt doubt
}

// doubt is consecutive messages that are far from the present, all in the same direction.
type doubt struct {
	messages      int
	first, latest int64  // times
	user          string // of the first message
	several       bool   // there are messages of other users
}

const (
	// presentStep is how far ahead of the present a message must be to move it, so that few
	// messages write it.
	presentStep = clockJump / 2

	// The present moves on by more than clockJump if two consecutive messages agree. It moves back
	// if six do, over a time that is shorter for several users. So many late messages hardly ever
	// arrive in order without a message on time between them.
	aheadMessages  = 2
	behindMessages = 6
	behindSeveral  = 10 * nanosPerSecond
	behindAlone    = clockJump
)

// OnTime returns the Request.Latest for a message of that time if the message is on time and there
// is no doubt about the present. Otherwise it returns 0, and Note must be called.
func (p *Present) OnTime(at int64) (latest int64) {
	if start := Never - p.onTime.Load(); uint64(at-start) < clockJump+presentStep {
		return start + 2*clockJump
	}
	return 0
}

// Note records a message of a user, and returns the Request.Latest for it. certain means that the
// message has no time of its own, and at is that of the Guard's clock.
func (p *Present) Note(at int64, user string, certain bool) (latest int64) {
	p.mu.Lock()
	latest = p.agreement.note(at, user, certain)
	p.setOnTime()
	p.mu.Unlock() // without defer, which takes time
	return latest
}

// Peek returns what Note would return, and changes nothing.
func (p *Present) Peek(at int64, user string, certain bool) (latest int64) {
	p.mu.Lock()
	a := p.agreement
	p.mu.Unlock()
	return a.note(at, user, certain)
}

// SetBack tells p that the Guard's clock was set back to a time.
func (p *Present) SetBack(to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to < p.time {
		p.agreement = agreement{time: to}
		p.setOnTime()
	}
}

// setOnTime sets onTime. The caller holds mu.
func (p *Present) setOnTime() {
	start := p.time - clockJump
	if p.doubt.messages > 0 {
		start = Never // the next message may end the doubt
	}
	p.onTime.Store(Never - start)
}

// note is Present.Note without a lock.
func (a *agreement) note(at int64, user string, certain bool) (latest int64) {
	switch {
	case a.time-clockJump <= at && at <= a.time+clockJump && a.time != 0:
		if a.doubt = (doubt{}); at >= a.time+presentStep {
			a.time = at
		}
	case certain:
		*a = agreement{time: at}
	case a.time == 0: // the rows may be restored ones, and the message may be late
		a.time = at
		return Never
	default:
		if a.doubt.add(at, user, a.time); !a.doubt.isProven(a.time) {
			return Never
		}
		*a = agreement{time: a.doubt.latest}
	}
	return a.time + clockJump
}

// add adds a message. If it doesn't continue the messages so far, they are forgotten.
func (d *doubt) add(at int64, user string, present int64) {
	if d.messages == 0 || (d.latest > present) != (at > present) || at < d.latest-clockJump {
		*d = doubt{messages: 1, first: at, latest: at, user: user}
		return
	}
	d.messages++
	d.latest, d.several = max(d.latest, at), d.several || user != d.user
}

// isProven reports whether the present is wrong.
func (d *doubt) isProven(present int64) bool {
	if d.latest > present {
		return d.messages >= aheadMessages
	}
	least := int64(behindAlone)
	if d.several {
		least = behindSeveral
	}
	return d.messages >= behindMessages && d.latest-d.first >= least
}
