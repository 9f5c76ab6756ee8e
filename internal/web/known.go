package web

import (
	"sync"
	"time"
)

const (
	// believed is how long a session is believed that the Store has told and can't look up any more: for the evening.
	believed = 12 * time.Hour
	// lookUpPause is how long nobody waits for a Store that couldn't look a session up, as long as those it has told are enough.
	lookUpPause = 2 * time.Second
	// maxKnown bounds the sessions known at one time. Those beyond it need the Store.
	maxKnown = 1000
)

// known are the sessions that the Store has told of, so that who is signed in stays so while its database is in trouble. The zero value knows
// none. It is safe for concurrent use.
type known struct {
	mu       sync.Mutex
	sessions map[string]knownSession
	paused   time.Time // until when the Store isn't asked
	ended    int       // how many sessions have ended: what the Store told before may be of one of them
}

type knownSession struct {
	name  string
	until time.Time
}

// name returns whose session it is, as far as that is known.
func (k *known) name(session string, now time.Time) (name string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.sessions[session]
	return s.name, ok && now.Before(s.until)
}

// endings is how many sessions have ended so far. Ask before the Store is asked.
func (k *known) endings() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// remember takes note of what the Store has told, unless a session has ended since there were so many endings.
func (k *known) remember(session, name string, now time.Time, endings int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended != endings {
		return
	}
	if k.sessions == nil {
		k.sessions = map[string]knownSession{}
	}
	if _, ok := k.sessions[session]; !ok && !k.makeRoom(now) {
		return
	}
	k.sessions[session] = knownSession{name, now.Add(believed)}
}

// makeRoom forgets what is too old to be believed when there is no room, and reports whether there is some then.
func (k *known) makeRoom(now time.Time) bool {
	if len(k.sessions) < maxKnown {
		return true
	}
	for session, s := range k.sessions {
		if !now.Before(s.until) {
			delete(k.sessions, session)
		}
	}
	return len(k.sessions) < maxKnown
}

func (k *known) forget(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.sessions, session)
	k.ended++
}

// pause keeps everybody who is known from waiting for a Store that is in trouble.
func (k *known) pause(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.paused = now.Add(lookUpPause)
}

func (k *known) isPausing(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return now.Before(k.paused)
}
