package web

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

const (
	// believed is how long somebody is believed whom the Store has told of and can't look up any more: for the evening.
	believed = 12 * time.Hour
	// lookUpPause is how long nobody waits for a Store that couldn't look somebody up, as long as those it has told of are enough.
	lookUpPause = 2 * time.Second
	// askedLately is how long the Store isn't asked again about a token that it has just told of: a chat server sends one with each message. With the
	// time that the Store itself may take, a token that is revoked ends within 5 s.
	askedLately = 500 * time.Millisecond
	// maxKnown bounds those known at one time. Those beyond it need the Store.
	maxKnown = 1000
)

// known are the holders of sessions or tokens that the Store has told of, so that who is signed in stays so while its database is in trouble. The
// zero value knows none. It is safe for concurrent use.
type known struct {
	mu      sync.Mutex
	holders map[secretHash]knownHolder
	paused  time.Time // until when the Store isn't asked
	ended   int       // how many sessions have ended: what the Store told before may be of one of them
}

// secretHash is what is kept of a secret, so that looking it up takes no longer for a good guess than for a bad one.
type secretHash [sha256.Size]byte

type knownHolder struct {
	journal.Holder
	told time.Time // when the Store last told of them
}

// holder returns whose secret it is, as far as that is known.
func (k *known) holder(secret string, now time.Time) (who journal.Holder, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, ok := k.holders[sha256.Sum256([]byte(secret))]
	return h.Holder, ok && now.Before(h.told.Add(believed))
}

// lately is holder where the Store has told it a moment ago.
func (k *known) lately(secret string, now time.Time) (who journal.Holder, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h, ok := k.holders[sha256.Sum256([]byte(secret))]
	age := now.Sub(h.told)
	return h.Holder, ok && age >= 0 && age < askedLately
}

// endings is how many sessions have ended so far. Ask before the Store is asked.
func (k *known) endings() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// remember takes note of what the Store has told, unless a session has ended since there were so many endings.
func (k *known) remember(secret string, who journal.Holder, now time.Time, endings int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended != endings {
		return
	}
	if k.holders == nil {
		k.holders = map[secretHash]knownHolder{}
	}
	hash := sha256.Sum256([]byte(secret))
	if _, ok := k.holders[hash]; !ok && !k.makeRoom(now) {
		return
	}
	k.holders[hash] = knownHolder{who, now}
}

// makeRoom forgets what is too old to be believed when there is no room, and reports whether there is some then.
func (k *known) makeRoom(now time.Time) bool {
	if len(k.holders) < maxKnown {
		return true
	}
	for hash, h := range k.holders {
		if !now.Before(h.told.Add(believed)) {
			delete(k.holders, hash)
		}
	}
	return len(k.holders) < maxKnown
}

// forget takes note that somebody has left.
func (k *known) forget(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.holders, sha256.Sum256([]byte(secret)))
	k.ended++
}

// forgetKnown is forget for a secret that the Store doesn't know, which ends nothing where nobody was known by it: whoever sends many of those
// keeps nobody from being remembered.
func (k *known) forgetKnown(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	hash := sha256.Sum256([]byte(secret))
	if _, ok := k.holders[hash]; ok {
		delete(k.holders, hash)
		k.ended++
	}
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
