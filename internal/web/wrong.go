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
	mu      sync.Mutex
	refused map[secretHash]refused
}

// refused is how a secret was.
type refused struct {
	err   error
	until time.Time
}

func hashFrom(address, secret string) secretHash {
	return sha256.Sum256([]byte(address + " " + secret))
}

// refusal returns the problem that the address was told of this secret lately; nil where it wasn't.
func (s *wrongSecrets) refusal(address, secret string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.refused[hashFrom(address, secret)]; now.Before(known.until) {
		return known.err
	}
	return nil
}

func (s *wrongSecrets) remember(address, secret string, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) >= maxWrong {
		for hash, known := range s.refused {
			if !now.Before(known.until) {
				delete(s.refused, hash)
			}
		}
	}
	if len(s.refused) >= maxWrong {
		return
	}
	if s.refused == nil {
		s.refused = map[secretHash]refused{}
	}
	s.refused[hashFrom(address, secret)] = refused{err, now.Add(wrongKept)}
}
