package helix

import (
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/hostile"
)

// Health is the result of the last request to Helix.
type Health struct {
	Answered bool // Helix has answered at least once
	// Failure says in one line for people that Twitch didn't answer the last request, or answered
	// that it can't carry it out for now. It is empty otherwise, even if Twitch refused the request
	// for good. It is also empty a minute after the failure.
	Failure string
}

// health maintains a Health. The zero value means that Helix was never asked.
type health struct {
	mu sync.Mutex
	Health
	at time.Time // time of the last request
}

// failureTime is how long a failure is reported. After that, the state of Helix is unknown until
// the next request.
const failureTime = time.Minute

// note records how an exchange ended. err is set if the exchange did not complete. trouble is the
// resulting error of the request, or nil.
func (h *health) note(a api.Answer, err, trouble error, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Answered, h.Failure, h.at = h.Answered || err == nil, "", now
	if of, ok := errors.AsType[*url.Error](err); ok {
		err = of.Err // without the address
	}
	switch {
	case err != nil:
		h.Failure = hostile.Detail("Twitch didn't answer: " + err.Error())
	case api.IsTemporary(trouble) && !errors.Is(trouble, twitch.ErrLimited):
		h.Failure = "Twitch answered with " + a.Says()
	}
}

// Health returns the result of the last request to Helix.
func (h *Client) Health() Health {
	now := h.now()
	h.health.mu.Lock()
	defer h.health.mu.Unlock()
	told := h.health.Health
	if now.Sub(h.health.at) > failureTime {
		told.Failure = ""
	}
	return told
}

// Trouble returns why no request is sent although Twitch is reachable, and how the last request
// failed. Both are texts for people, and empty if nothing is wrong.
func (h *Client) Trouble() (refused, failed string) {
	if until, held := h.budget.holdEnd(h.now()); held {
		refused = fmt.Sprintf("Twitch refused requests until %s (status 429)", until.UTC().Format(time.TimeOnly+" MST"))
	}
	return refused, h.Health().Failure
}
