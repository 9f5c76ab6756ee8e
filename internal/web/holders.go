package web

import (
	"context"
	"net/http"
	"time"

	"github.com/chatguard/chatguard/internal/journal"
)

// lookUpTime is how long the Store may take to tell whose session or token it is.
const lookUpTime = time.Second

// holders are those who have a session, or those who have a token.
type holders struct {
	ask     func(ctx context.Context, secret string) (who journal.Holder, ok bool, err error) // the Store
	nobody  func() error                                                                      // the problem of a secret that is nobody's
	trouble string                                                                            // what is said where the Store can't tell
	known   known
}

// of returns whose secret it is, or nobody's problem when it is no more. Trouble with the Store signs nobody out: who was known before it began
// stays in.
func (h *holders) of(ctx context.Context, secret string, now time.Time) (journal.Holder, error) {
	who, isKnown := h.known.holder(secret, now)
	if isKnown && h.known.isPausing(now) {
		return who, nil
	}
	limited, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	endings := h.known.endings()
	told, ok, err := h.ask(limited, secret)
	switch {
	case err != nil && ctx.Err() == nil && isKnown:
		h.known.pause(now)
		return who, nil
	case err != nil:
		return journal.Holder{}, refuse(http.StatusServiceUnavailable, "%s", h.trouble).because(err)
	case !ok:
		h.known.forgetKnown(secret)
		return journal.Holder{}, h.nobody()
	}
	h.known.remember(secret, told, now, endings)
	return told, nil
}
