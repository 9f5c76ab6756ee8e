package web

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// wrongKept is how long a wrong secret is remembered. It fails once in so long, which is less often than an address may fail.
	wrongKept = 5 * time.Minute
	// maxWrong bounds those remembered at one time. Those beyond it count each time.
	maxWrong = 1000
)

// wrongSecrets are those that were refused lately, each from one address: a program whose token was revoked sends the same one again and again.
// The zero value has none. It is safe for concurrent use.
type wrongSecrets struct {
	mu    sync.Mutex
	until map[secretHash]time.Time
}

// secretHash is what is kept of a secret, so that looking it up takes no longer for a good guess than for a bad one.
type secretHash [sha256.Size]byte

func hashFrom(address, secret string) secretHash {
	return sha256.Sum256([]byte(address + " " + secret))
}

// has reports whether the address has sent this secret lately.
func (s *wrongSecrets) has(address, secret string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[hashFrom(address, secret)])
}

func (s *wrongSecrets) remember(address, secret string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.until) >= maxWrong {
		for hash, until := range s.until {
			if !now.Before(until) {
				delete(s.until, hash)
			}
		}
	}
	if len(s.until) >= maxWrong {
		return
	}
	if s.until == nil {
		s.until = map[secretHash]time.Time{}
	}
	s.until[hashFrom(address, secret)] = now.Add(wrongKept)
}
