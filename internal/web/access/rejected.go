package access

import (
	"crypto/sha256"
	"maps"
	"sync"
	"time"
)

const (
	// RejectedTime is how long a wrong secret is remembered. In this time, the same secret uses up
	// only one attempt. An address regains attempts faster than that, so repeating one secret never
	// blocks the address.
	RejectedTime = 5 * time.Minute
	// maxRejected is the maximum number of remembered secrets. Each further secret uses up an
	// attempt each time it is sent.
	maxRejected = 1000
)

// rejectedSecrets holds recently refused secrets, each with the address that sent it. For example,
// a program whose token was revoked sends the same secret again and again. The zero value is empty.
// It is safe for concurrent use.
type rejectedSecrets struct {
	mu    sync.Mutex
	until map[secretHash]time.Time
}

// secretHash is the stored form of a secret. It makes a look-up take equally long for any guess.
type secretHash [sha256.Size]byte

func hashSecret(address, secret string) secretHash {
	return sha256.Sum256([]byte(address + " " + secret))
}

// has reports whether the address has sent this secret recently.
func (s *rejectedSecrets) has(address, secret string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[hashSecret(address, secret)])
}

func (s *rejectedSecrets) remember(address, secret string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.until) >= maxRejected {
		maps.DeleteFunc(s.until, func(_ secretHash, until time.Time) bool { return !now.Before(until) })
	}
	if len(s.until) >= maxRejected {
		return
	}
	if s.until == nil {
		s.until = map[secretHash]time.Time{}
	}
	s.until[hashSecret(address, secret)] = now.Add(RejectedTime)
}
