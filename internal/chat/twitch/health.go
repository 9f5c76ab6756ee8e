package twitch

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// Health is how Helix did when it was asked last.
type Health struct {
	Answered bool   // it has answered at least once
	Failure  string // how the last request failed, in one line for people; empty if it was answered, if none was sent, and after a minute
}

// health is what keeps a Health. The zero value is of a Helix that was never asked.
type health struct {
	mu sync.Mutex
	Health
	at time.Time // of the last request
}

// failureTime is how long a failure is told of. Afterwards nobody knows how Helix is, until it is asked again.
const failureTime = time.Minute

// note takes note of how an exchange ended, and of what that means for the request: nil if there is nothing to complain of. The error is for an exchange
// that didn't come to its end.
func (h *health) note(a answer, err, trouble error, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Answered, h.Failure, h.at = h.Answered || err == nil, "", now
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // without the address
	}
	switch {
	case err != nil:
		h.Failure = oneLine("Twitch didn't answer: " + err.Error())
	case passes(trouble) && !errors.Is(trouble, errBusyThere):
		h.Failure = "Twitch answered with " + a.says()
	}
}

// Health returns how Helix did when it was asked last.
func (h *Helix) Health() Health {
	now := h.now()
	h.health.mu.Lock()
	defer h.health.mu.Unlock()
	told := h.health.Health
	if now.Sub(h.health.at) > failureTime {
		told.Failure = ""
	}
	return told
}

// Trouble returns, for people, why no request is sent for now although Twitch is there, and how the last request failed. Both are empty if nothing is
// wrong.
func (h *Helix) Trouble() (refused, failed string) {
	if until, held := h.budget.held(h.now()); held {
		refused = fmt.Sprintf("Twitch refused requests until %s (status 429)", until.UTC().Format(time.TimeOnly+" MST"))
	}
	return refused, h.Health().Failure
}
