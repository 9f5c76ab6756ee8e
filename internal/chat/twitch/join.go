package twitch

import (
	"context"
	"time"
)

// Twitch takes 20 JOINs per 10 s from one account and ignores the rest.
const (
	joinBurst  = 20
	joinPeriod = 10 * time.Second
)

// pacer keeps to at most burst events in any period. It outlives connections, because Twitch counts by account.
type pacer struct {
	period time.Duration
	recent []time.Time // the last burst events, in a ring
	oldest int
}

func newPacer(burst int, period time.Duration) *pacer {
	return &pacer{period: period, recent: make([]time.Time, burst)}
}

// take books the next event at or after now, and returns how long to wait for it.
func (p *pacer) take(now time.Time) time.Duration {
	at := now
	if free := p.recent[p.oldest].Add(p.period); !p.recent[p.oldest].IsZero() && free.After(now) {
		at = free
	}
	p.recent[p.oldest] = at
	p.oldest = (p.oldest + 1) % len(p.recent)
	return at.Sub(now)
}

// join asks to be let into each channel, no faster than Twitch takes it. It has a goroutine of its own, so that nothing else waits. It ends
// with ctx, or with the connection.
func (s *session) join(ctx context.Context) {
	for _, channel := range s.channels {
		if wait := s.pace.take(s.irc.now()); wait > 0 {
			if s.irc.pause(ctx, wait) != nil {
				return
			}
		}
		if err := s.write("JOIN #" + channel); err != nil {
			s.conn.Close() // the reader then says what happened
			return
		}
	}
}
