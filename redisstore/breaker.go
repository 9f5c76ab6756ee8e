package redisstore

import (
	"context"
	"sync/atomic"
	"time"
)

// probeEvery is the time between two attempts to reach a server that is away.
const probeEvery = 50 * time.Millisecond

// breaker decides whether the store is away, which means that no call was answered for a while. A
// single unanswered call is no outage. All times are nanoseconds since the Store was opened.
type breaker struct {
	limit      int64        // how long there must be no answer
	answered   atomic.Int64 // when the last call was answered
	unanswered atomic.Int64 // when the first unanswered call since then began; 0: none
	away       atomic.Pointer[outage]
	changed    atomic.Int64  // when the store went away or came back
	wentAway   chan struct{} // for watch
	probing    atomic.Bool
	probed     atomic.Int64 // when the last probe began
	inquiring  atomic.Bool  // see inquire
}

// start sets the breaker to the state for a server that isn't connected yet.
func (b *breaker) start(timeout time.Duration, where string) {
	b.limit = int64(2 * timeout)
	b.away.Store(&outage{err: away(where + ": not connected yet: try again soon"), problem: "not connected yet"})
	b.wentAway = make(chan struct{}, 1)
}

// outage is why the store is away.
type outage struct {
	err     error // for callers: wraps shared.ErrAway
	problem string
	lasting bool // a wrong configuration: trying again soon doesn't help
}

// succeed notes an answer to a call.
func (b *breaker) succeed(now int64) {
	b.answered.Store(now)
	if b.unanswered.Load() != 0 {
		b.unanswered.Store(0)
	}
}

// fail notes a call that wasn't answered, and reports whether calls have gone unanswered for too
// long.
func (b *breaker) fail(began, now int64) bool {
	if b.answered.Load() >= began {
		return false
	}
	b.unanswered.CompareAndSwap(0, began)
	first := b.unanswered.Load()
	return first != 0 && now-first >= b.limit
}

// goAway closes the connections, so that nothing waits for them any longer. Only the first of
// several callers does it.
func (s *server) goAway(cause error) {
	out := s.outage(cause)
	if !s.breaker.away.CompareAndSwap(nil, out) {
		return
	}
	s.breaker.changed.Store(s.since())
	s.conns.closeAll()
	s.options.Logger.Warn("redisstore: the shared store is away", "problem", out.problem)
	signal(s.breaker.wentAway)
}

// inquire pings the server in the background after a call was interrupted, unless the server has
// answered since the call began. So a server that hangs is noticed even if no caller waits long
// enough. Only one inquiry runs at a time.
func (s *server) inquire(began int64) {
	if s.breaker.answered.Load() >= began || !s.breaker.inquiring.CompareAndSwap(false, true) {
		return
	}
	s.spawn(func() {
		defer s.breaker.inquiring.Store(false)
		ctx, cancel := withTimeout(s.background, time.Duration(s.breaker.limit))
		defer cancel()
		if _, err := s.request(ctx, ping); err != nil {
			s.failed(ctx, began, err)
		}
	})
}

// outage describes a cause.
func (s *server) outage(cause error) *outage {
	problem, lasting := s.explain.problem(cause)
	return &outage{problem: problem, lasting: lasting, err: away(problem)}
}

// ready returns nil if the store isn't away. Otherwise it probes the server, and returns an error.
func (s *server) ready() error {
	if out := s.breaker.away.Load(); out != nil {
		s.probe()
		return out.err
	}
	return nil
}

// open connects in the background, and sends the error, or nil, to the channel.
func (s *server) open() <-chan error {
	s.breaker.probing.Store(true)
	tried := make(chan error, 1)
	s.spawn(func() {
		err := s.tryConnect()
		s.breaker.probed.Store(s.since())
		s.breaker.probing.Store(false)
		tried <- err
	})
	return tried
}

// tryConnect ends an outage, or notes why it continues.
func (s *server) tryConnect() error {
	if err := s.connect(s.background); err != nil {
		s.breaker.away.Store(s.outage(err))
		return err
	}
	s.breaker.succeed(s.since())
	if compare := s.compare.Load(); compare != nil {
		(*compare)() // first, so that no node changes rows that another one still has to restore
	}
	if s.breaker.away.Swap(nil) != nil {
		s.breaker.changed.Store(s.since())
		s.options.Logger.Info("redisstore: the shared store answers", "address", s.where)
	}
	return nil
}

// probe tries in the background to reach a server that is away: one attempt at a time, and at most
// one per 50 ms, or per second if the outage is lasting.
func (s *server) probe() {
	pause := int64(probeEvery)
	if out := s.breaker.away.Load(); out != nil && out.lasting {
		pause = int64(time.Second)
	}
	last, now := s.breaker.probed.Load(), s.since()
	if now-last < pause || !s.breaker.probed.CompareAndSwap(last, now) || !s.breaker.probing.CompareAndSwap(false, true) {
		return
	}
	s.spawn(func() {
		defer s.breaker.probing.Store(false)
		s.tryConnect()
	})
}

// watch probes each 50 ms whether a server that is away is back.
func (s *server) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if s.breaker.away.Load() != nil {
			s.probe()
			sleep(ctx, probeEvery)
			continue
		}
		select {
		case <-s.breaker.wentAway:
		case <-ctx.Done():
		}
	}
}
