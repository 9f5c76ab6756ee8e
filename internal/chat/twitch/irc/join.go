package irc

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Twitch accepts 20 JOINs per 10 s from one account and ignores the rest. It counts JOINs by their
// time of arrival, which differs slightly from the time of sending.
const (
	joinBurst  = 20
	joinPeriod = 11 * time.Second
)

// Delays before a JOIN is repeated if Twitch didn't react to it. The first is short, because Twitch
// may only have been too busy. If Twitch doesn't react to the second JOIN within joinSoon either,
// we count as shut out.
const (
	joinSoon  = 15 * time.Second
	joinAgain = time.Minute
)

// noAnswer is the problem with a channel that we can't join and for which Twitch gives no reason.
const noAnswer = "Twitch doesn't let us in; check that a channel of this name exists"

// pacer allows at most burst events in any period. It is kept across connections, because Twitch
// counts by account.
type pacer struct {
	period time.Duration
	recent []time.Time // the last burst events, in a ring
	oldest int
}

func newPacer(burst int, period time.Duration) *pacer {
	return &pacer{period: period, recent: make([]time.Time, burst)}
}

// wait returns how long it is until the next event is allowed.
func (p *pacer) wait(now time.Time) time.Duration {
	if oldest := p.recent[p.oldest]; !oldest.IsZero() {
		return max(0, oldest.Add(p.period).Sub(now))
	}
	return 0
}

// take records an event.
func (p *pacer) take(now time.Time) {
	p.recent[p.oldest] = now
	p.oldest = (p.oldest + 1) % len(p.recent)
}

// joinTries is the number of our requests to join a channel, and the time of the last one.
type joinTries struct {
	times int
	last  time.Time
}

// next returns when to ask again: joinSoon after the first request unless Twitch has refused it,
// and otherwise joinAgain after the last request.
func (a joinTries) next(refused bool) time.Time {
	if a.times == 1 && !refused {
		return a.last.Add(joinSoon)
	}
	return a.last.Add(joinAgain)
}

// keepJoined joins wanted channels and parts from the others until the context or the connection
// ends. It has its own goroutine, so that nothing else waits for the pace of joining.
func (s *session) keepJoined(ctx context.Context) error {
	select {
	case <-s.welcome:
	case <-ctx.Done():
		return ctx.Err()
	}
	asked := make(map[string]joinTries)
	for {
		channels, left, changed := s.irc.report.Wanted()
		if err := s.part(left, asked); err != nil {
			return err
		}
		s.noteUnanswered(channels, asked, time.Now())
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

// part leaves the given channels, if we asked to join them.
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

// noteUnanswered reports the channels to which Twitch hasn't let us in although we asked twice.
func (s *session) noteUnanswered(channels []twitch.Channel, asked map[string]joinTries, now time.Time) {
	for _, c := range channels {
		if a := asked[c.Login]; a.times > 1 && now.Sub(a.last) >= joinSoon && !c.Joined && !c.ShutOut {
			s.irc.report.ShutOut(c.Login, twitch.NotAnswered, noAnswer)
		}
	}
}

// joinNext asks to join one channel if that is due. It returns the time until there may be more to
// do.
func (s *session) joinNext(channels []twitch.Channel, asked map[string]joinTries) (time.Duration, error) {
	now := time.Now()
	next, wait := nextDue(channels, asked, now)
	if next.Login == "" {
		return wait, nil
	}
	if wait := s.pace.wait(now); wait > 0 {
		return wait, nil
	}
	s.pace.take(now)
	asked[next.Login] = joinTries{asked[next.Login].times + 1, now}
	return 0, s.write("JOIN #" + next.Login)
}

// nextDue returns the channel to join next. That is a channel that we haven't asked to join. If
// there is none, it is a channel that we asked to join long enough ago without success. If there is
// neither, nextDue returns the time until there may be one.
func nextDue(channels []twitch.Channel, asked map[string]joinTries, now time.Time) (next twitch.Channel, wait time.Duration) {
	wait = joinAgain
	for _, c := range channels {
		a := asked[c.Login]
		switch left := a.next(c.ShutOut).Sub(now); {
		case a.times == 0:
			return c, 0
		case c.Joined:
		case left > 0:
			wait = min(wait, left)
			if overdue := a.last.Add(joinSoon).Sub(now); !c.ShutOut && overdue > 0 {
				wait = min(wait, overdue) // for noteUnanswered
			}
		case next.Login == "":
			next = c
		}
	}
	return next, wait
}
