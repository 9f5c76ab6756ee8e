package twitch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Health is how Helix did when it was asked last.
type Health struct {
	Answered bool   // it has answered at least once
	Failure  string // how the last request failed, in one line for people; empty if it was answered, or if none was sent
}

// health is what keeps a Health. The zero value is of a Helix that was never asked.
type health struct {
	mu sync.Mutex
	Health
}

// note takes note of how an exchange ended. The error is for one that didn't come to its end.
func (h *health) note(a answer, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Answered, h.Failure = h.Answered || err == nil, ""
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // without the address
	}
	switch {
	case err != nil:
		h.Failure = oneLine("Twitch didn't answer: " + err.Error())
	case a.status >= 500 || a.status == http.StatusTooManyRequests || a.status == http.StatusConflict:
		h.Failure = "Twitch answered with " + a.says()
	}
}

// Health returns how Helix did when it was asked last.
func (h *Helix) Health() Health {
	h.health.mu.Lock()
	defer h.health.mu.Unlock()
	return h.health.Health
}

// Trouble returns, for people, why no request is sent for now although Twitch is there, and how the last request failed. Both are empty if nothing is
// wrong.
func (h *Helix) Trouble() (refused, failed string) {
	if until, held := h.budget.held(h.now()); held {
		refused = fmt.Sprintf("Twitch refused requests until %s (status 429)", until.UTC().Format(time.TimeOnly+" MST"))
	}
	return refused, h.Health().Failure
}
