package twitchsignin

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/auth"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/person"
	"github.com/chatguard/chatguard/internal/chat/twitch/token"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/web/problem"
)

const (
	// checkEvery is the usual time between two requests to Twitch about a person. A random part of
	// up to checkJitter is subtracted, so that people who signed in together aren't checked
	// together.
	checkEvery  = time.Hour
	checkJitter = 5 * time.Minute
	// trustTime is how long a session lasts while Twitch doesn't answer. doubtTime is the same for
	// a session whose holder's rights may have changed.
	trustTime = 2 * time.Hour
	doubtTime = 2 * time.Minute
	// idleTime is how long an unused session lasts.
	idleTime = 7 * 24 * time.Hour
	// followUp is how long after a change Twitch is asked a second time, because its answers may
	// lag behind.
	followUp = 2 * time.Minute
	// confirmTime is how long a request that uses a right waits for Twitch.
	confirmTime = 5 * time.Second
	// lookEvery is how often Run looks for sessions that are due.
	lookEvery = 10 * time.Second

	retryMin = 5 * time.Second // first wait after a failure
	retryMax = 10 * time.Minute
)

// nextCheck returns when Twitch is asked again after a check.
func nextCheck(now time.Time) time.Time { return now.Add(checkEvery - rand.N(checkJitter)) }

// isOver reports whether the session is too old or unused, or Twitch has not confirmed it for too
// long. After a pause of this machine, Twitch is asked first. The caller holds mu.
func (of *session) isOver(now time.Time) bool {
	switch {
	case now.Sub(of.begun) >= sessionTime, now.Sub(of.used) >= idleTime:
		return true
	case !of.suspected.IsZero():
		return now.Sub(of.suspected) >= doubtTime
	}
	return of.failures > 0 && now.Sub(of.confirmed) >= trustTime
}

// expire ends a session that is over. The caller holds mu.
func (m *Members) expire(of *session) {
	m.opts.Log.Info("a sign-in with Twitch has ended: it is too old or unused, or Twitch has not confirmed it for too long", "login", hostile.Detail(of.account.Login))
	m.remove(of.id)
	m.forgetLocked(of.person)
}

// Run asks Twitch about everyone who is due, until ctx ends. It then waits for requests to Twitch
// in progress. Call it once.
func (m *Members) Run(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for ctx.Err() == nil {
		select {
		case <-look.C:
			m.lookThrough()
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.wait.Wait()
}

// lookThrough ends the sessions that are over, and asks Twitch about those that are due.
func (m *Members) lookThrough() {
	now, served := m.opts.now(), m.opts.Channels()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteServed(served, m.opts.Owners.Names(), now)
	for _, of := range m.sessions {
		switch {
		case of.isOver(now):
			m.expire(of)
		case !now.Before(of.due):
			m.ask(of, now)
		}
	}
}

// ask asks Twitch about a session's holder in the background, unless a request is in progress, or
// the wait after a failure isn't over. A session that is long overdue counts as suspected: this
// machine has slept. The caller holds mu.
func (m *Members) ask(of *session, now time.Time) {
	if of.suspected.IsZero() && now.Sub(of.confirmed) >= trustTime {
		of.suspected, of.changed = now, now
	}
	if of.asked != nil || of.failures > 0 && now.Before(of.due) {
		return
	}
	done := make(chan struct{})
	begun := m.start(func(ctx context.Context) {
		account, channels, err := m.question(ctx, of.person, m.opts.Channels())
		m.learn(of, now, account, channels, err)
		close(done)
	})
	if begun {
		of.asked = done
	}
}

// learn records Twitch's answer to a request. The parameter at is when the request was sent.
func (m *Members) learn(of *session, at time.Time, account person.Account, channels map[string]standing, err error) {
	now := m.opts.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	of.asked = nil
	log := m.opts.Log.With("login", hostile.Detail(of.account.Login), "id", of.account.ID)
	switch {
	case m.running.Err() != nil || m.sessions[of.id] != of:
		return // ended meanwhile
	case isGone(err):
		log.Info("a sign-in with Twitch has ended: Twitch no longer accepts it", "reason", hostile.Detail(err.Error()))
		m.remove(of.id)
		return
	case err != nil:
		of.due = now.Add(twitch.Backoff(of.failures, retryMin, retryMax))
		if of.failures++; of.failures == 1 {
			log.Warn("Twitch doesn't say what a signed-in person may do; asking again", "reason", hostile.Detail(err.Error()))
		}
		return
	case len(channels) == 0 && !m.opts.Owners.Has(account.ID):
		log.Info("a sign-in with Twitch has ended: no longer an owner, a broadcaster or a moderator here")
		m.remove(of.id)
		m.forgetLocked(of.person)
		return
	}
	of.account, of.channels, of.confirmed, of.failures, of.due = account, channels, now, 0, nextCheck(now)
	if !of.suspected.IsZero() {
		of.due = now.Add(followUp)
	}
	if !of.changed.After(at) {
		of.suspected, of.changed = time.Time{}, time.Time{}
	}
}

// isGone reports whether an error means that Twitch no longer accepts a sign-in.
func isGone(err error) bool {
	gone := []error{twitch.ErrToken, twitch.ErrScope, person.ErrOther, token.ErrApplication}
	return slices.ContainsFunc(gone, func(one error) bool { return errors.Is(err, one) })
}

// Confirm returns the holder of a session who wants to use a right. If a change is known, it asks
// Twitch first. It returns an error if Twitch doesn't answer.
func (m *Members) Confirm(ctx context.Context, secret string) (who auth.Identity, ok bool, err error) {
	ctx, stop := context.WithTimeout(ctx, confirmTime)
	defer stop()
	for {
		h, ok := m.look(secret)
		switch {
		case !ok || !h.suspected:
			return h.who, ok, nil
		case h.asked == nil:
			return h.who, true, errUnconfirmed()
		}
		select {
		case <-h.asked:
		case <-ctx.Done():
			return h.who, true, errUnconfirmed()
		}
	}
}

func errUnconfirmed() error {
	return problem.New(http.StatusServiceUnavailable,
		"Twitch does not say whether you still moderate here. Nothing has changed. Try again in a moment.").After(retryMin)
}
