package twitch

import (
	"context"
	"time"
)

// Twitch takes 20 JOINs per 10 s from one account and ignores the rest. It counts when they arrive, which differs a little from when they were sent.
const (
	joinBurst  = 20
	joinPeriod = 11 * time.Second
)

// How long after asking to be let into a channel to ask again, where Twitch gave no sign that we are in: the first time it may just have been too busy.
const (
	joinSoon  = 15 * time.Second
	joinAgain = time.Minute
)

// noAnswer is the problem with a channel that Twitch doesn't let us into without saying why.
const noAnswer = "Twitch doesn't let us in; look whether a channel of this name exists"

// pacer keeps to at most burst events in any period. It outlives connections, because Twitch counts by account.
type pacer struct {
	period time.Duration
	recent []time.Time // the last burst events, in a ring
	oldest int
}

func newPacer(burst int, period time.Duration) *pacer {
	return &pacer{period: period, recent: make([]time.Time, burst)}
}

// wait is how long it is until the next event may be.
func (p *pacer) wait(now time.Time) time.Duration {
	if oldest := p.recent[p.oldest]; !oldest.IsZero() {
		return max(0, oldest.Add(p.period).Sub(now))
	}
	return 0
}

// take notes an event.
func (p *pacer) take(now time.Time) {
	p.recent[p.oldest] = now
	p.oldest = (p.oldest + 1) % len(p.recent)
}

// joinTries is how often we asked to be let into a channel, and when last.
type joinTries struct {
	times int
	last  time.Time
}

// next is when to ask again. Where Twitch said why it doesn't let us in, there is no hurry.
func (a joinTries) next(problem string) time.Time {
	if a.times == 1 && problem == "" {
		return a.last.Add(joinSoon)
	}
	return a.last.Add(joinAgain)
}

// keepJoined lets us into the channels that are wanted and out of those that no longer are, until the context or the connection ends. It has a
// goroutine of its own, so that nothing else waits for the pace of joining.
func (s *session) keepJoined(ctx context.Context) error {
	select {
	case <-s.welcome:
	case <-ctx.Done():
		return ctx.Err()
	}
	asked := make(map[string]joinTries)
	for {
		channels, left, changed := s.irc.wanted()
		if err := s.part(left, asked); err != nil {
			return err
		}
		wait, err := s.joinNext(channels, asked)
		if err != nil {
			return err
		}
		select {
		case <-time.After(wait):
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// part leaves channels, where we asked to be let in.
func (s *session) part(channels []string, asked map[string]joinTries) error {
	for _, login := range channels {
		if asked[login].times == 0 {
			continue
		}
		delete(asked, login)
		if err := s.write("PART #" + login); err != nil {
			return err
		}
	}
	return nil
}

// joinNext asks to be let into one channel, if that is due, and returns how long it is until there may be something to do again.
func (s *session) joinNext(channels []Channel, asked map[string]joinTries) (time.Duration, error) {
	now := time.Now()
	next, wait := due(channels, asked, now)
	if next.Login == "" {
		return wait, nil
	}
	if wait := s.pace.wait(now); wait > 0 {
		return wait, nil
	}
	if asked[next.Login].times > 1 && next.Problem == "" {
		s.irc.shutOut(next.Login, noAnswer)
	}
	s.pace.take(now)
	asked[next.Login] = joinTries{asked[next.Login].times + 1, now}
	return 0, s.write("JOIN #" + next.Login)
}

// due returns the channel to ask for next: one that was never asked for, or else one where that was in vain for long. Without any, it returns how
// long it is until there may be one.
func due(channels []Channel, asked map[string]joinTries, now time.Time) (next Channel, wait time.Duration) {
	wait = joinAgain
	for _, c := range channels {
		a := asked[c.Login]
		switch left := a.next(c.Problem).Sub(now); {
		case a.times == 0:
			return c, 0
		case c.Joined:
		case left > 0:
			wait = min(wait, left)
		case next.Login == "":
			next = c
		}
	}
	return next, wait
}
