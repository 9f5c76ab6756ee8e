package httpguard

import (
	"errors"
	"sync"
)

// ErrInFlight says that a user has reached the maximum number of requests that are served at once.
var ErrInFlight = errors.New("httpguard: too many requests of the user are in progress")

// inFlight counts the requests of each user that are being served.
type inFlight struct {
	most int // maximum of a user

	mu sync.Mutex
	of map[string]int // by user ID
}

// enter counts a request, or returns ErrInFlight if there are too many.
func (f *inFlight) enter(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[id] >= f.most {
		return ErrInFlight
	}
	f.of[id]++
	return nil
}

// leave undoes enter.
func (f *inFlight) leave(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[id]--; f.of[id] == 0 {
		delete(f.of, id)
	}
}
