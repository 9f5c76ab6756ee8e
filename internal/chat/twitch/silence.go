package twitch

import (
	"errors"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
)

// target is one user in one channel.
type target struct{ channelID, userID string }

// silence is what keeps a user from writing. The zero value is one that is long over.
type silence struct {
	length time.Duration // 0 for a ban
	from   time.Time
	theirs bool // somebody else gave it
}

// aeon is how long a ban lasts.
const aeon = 100 * 365 * 24 * time.Hour

func (s silence) until() time.Time {
	if s.length == 0 {
		return s.from.Add(aeon)
	}
	return s.from.Add(s.length)
}

// outlasts reports whether the silence holds and goes on for at least as long as one that would be given now.
func (s silence) outlasts(length time.Duration, now time.Time) bool {
	if s.length == 0 || length == 0 {
		return s.length == 0 && s.until().After(now)
	}
	return !s.until().Before(now.Add(length))
}

// dealings are what is known of one user in one channel.
type dealings struct {
	last    silence // that the user was given, as far as is known
	asked   silence // what this Moderator asked for last: what the chat tells of it isn't somebody else's doing
	waiting bool    // for the answer to that
	told    bool    // the chat has told of it
}

// ends is when nothing of it matters any more.
func (d *dealings) ends() time.Time {
	if echo := d.asked.from.Add(inTransit); echo.After(d.last.until()) {
		return echo
	}
	return d.last.until()
}

// asks reports whether a silence that the chat tells of is the one that was asked for: of that length, and given or told at that time.
func (d *dealings) asks(r chat.Removal, now time.Time) bool {
	if d.asked.length != r.Silence || d.asked.from.IsZero() {
		return false
	}
	return d.waiting || now.Sub(d.asked.from) <= inTransit || r.At.Sub(d.asked.from).Abs() <= inTransit
}

const (
	maxDealings = 10_000          // users remembered
	sampled     = 16              // of them are looked at for one to forget
	inTransit   = 5 * time.Second // how long after a silence a message that was sent before it may still be stamped, and the chat may tell of it
)

// Removed takes note of a silence that the chat tells of, so that one that somebody else gave is neither made shorter nor lifted.
func (m *Moderator) Removed(r chat.Removal) {
	if r.UserID == "" || r.Silence == 0 && !r.Banned {
		return
	}
	now, me := m.now(), m.login()
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dealing(target{r.ChannelID, r.UserID})
	ours := d.asks(r, now)
	if r.By != "" && me != "" {
		ours = r.By == me
	}
	d.last = silence{length: r.Silence, from: r.At, theirs: !ours}
	if r.At.IsZero() {
		d.last.from = now
	}
	d.told = d.told || ours
}

// silence gives the author of a message a silence, 0 for a ban, unless they have one that lasts at least as long. One during which they could write
// isn't in force any more: somebody has lifted it.
func (m *Moderator) silence(who target, length time.Duration, sent time.Time, give func(unless func() bool) error) error {
	m.ask(who, silence{length: length, from: m.now()})
	err := give(func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		last := m.dealing(who).last
		return last.outlasts(length, m.now()) && !sent.After(last.from.Add(inTransit))
	})
	m.answered(who, err)
	if errors.Is(err, errNeedless) {
		return nil
	}
	return settled(err)
}

// ask takes note of a silence that is about to be asked for.
func (m *Moderator) ask(who target, s silence) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dealing(who)
	d.asked, d.waiting, d.told = s, true, false
}

// answered takes note of what came of it. Where the chat has told of it, that stands: somebody else may have given another since.
func (m *Moderator) answered(who target, err error) {
	now := m.now() // only now: the request may have waited for the budget
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.dealing(who)
	d.asked.from, d.waiting = now, false
	switch {
	case err == nil && !d.told:
		d.last = d.asked
	case errors.Is(err, errBanned) && !d.last.outlasts(0, now):
		d.last = silence{from: now, theirs: true}
	}
}

// isTheirs reports whether somebody else gave the silence that a user has.
func (m *Moderator) isTheirs(who target) bool {
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.users[who]
	return d != nil && d.last.theirs && d.last.until().After(now)
}

// forget lets a user be as good as unknown.
func (m *Moderator) forget(who target) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.users, who)
}

// dealing returns what is known of a user. When there is no room for another, the one of a few goes of whom nothing matters first. The caller holds mu.
func (m *Moderator) dealing(who target) *dealings {
	if d := m.users[who]; d != nil {
		return d
	}
	if m.users == nil {
		m.users = make(map[target]*dealings)
	}
	if len(m.users) >= maxDealings {
		delete(m.users, m.endsFirst())
	}
	d := &dealings{}
	m.users[who] = d
	return d
}

// endsFirst is the user of whom nothing matters first among a few, which the map's random order picks.
func (m *Moderator) endsFirst() (first target) {
	var until time.Time
	looked := 0
	for who, d := range m.users {
		if looked == 0 || d.ends().Before(until) {
			first, until = who, d.ends()
		}
		if looked++; looked == sampled {
			break
		}
	}
	return first
}
