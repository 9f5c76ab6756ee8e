package twitch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// How often and how patiently a request is tried. A user's message that is still there after this long has been read by everyone.
const (
	maxTries    = 5
	retryMin    = 250 * time.Millisecond
	retryMax    = 5 * time.Second
	longestHold = 90 * time.Second // Twitch's budget refills within a minute
)

// do sends a request until it has an answer that trying again can't change. Refused tokens and missing rights are errors; any other answer is
// the caller's to understand.
func (h *Helix) do(ctx context.Context, r request) (answer, error) {
	for try := 1; ; try++ {
		if err := h.waitForBudget(ctx); err != nil {
			return answer{}, fmt.Errorf("%s: %w", r.op, err)
		}
		token, err := h.token(ctx)
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", r.op, err)
		}
		a, err := h.send(ctx, r, token)
		if ctx.Err() != nil {
			return answer{}, fmt.Errorf("%s: %w", r.op, ctx.Err())
		}
		trouble := r.trouble(a, err)
		if trouble == nil || !passes(trouble) || try == maxTries {
			return a, trouble
		}
		loggerOr(h.Logger).Info("twitch helix: trying again", "try", try, "trouble", oneLine(trouble.Error()))
		if err := h.waitAfter(ctx, a, try); err != nil {
			return answer{}, fmt.Errorf("%s: %w", r.op, err)
		}
	}
}

// trouble is what stands between this answer and the caller.
func (r request) trouble(a answer, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (%w)", r.op, ErrUnavailable, err)
	case a.status == http.StatusTooManyRequests:
		return r.refused(ErrBusy, a)
	case a.status >= 500 || a.status == http.StatusConflict:
		return r.refused(ErrUnavailable, a)
	case a.status == http.StatusUnauthorized:
		return r.refused(ErrToken, a)
	case a.status == http.StatusForbidden:
		return r.refused(ErrNotModerator, a)
	}
	return nil
}

// passes reports whether trying again can help.
func passes(trouble error) bool {
	return errors.Is(trouble, ErrUnavailable) || errors.Is(trouble, ErrBusy)
}

func (h *Helix) token(ctx context.Context) (string, error) {
	if h.Token == nil {
		return "", fmt.Errorf("%w (there is none)", ErrToken)
	}
	token, err := h.Token(ctx)
	if err != nil {
		return "", fmt.Errorf("%w (%w)", ErrToken, err)
	}
	if token, err = bareToken(token); err != nil {
		return "", fmt.Errorf("%w (%w)", ErrToken, err)
	}
	return token, nil
}

// waitAfter waits before the next try. An empty budget is everyone's: all requests are held until it is full again. A 429 while budget is left is
// about one channel, and only this request waits.
func (h *Helix) waitAfter(ctx context.Context, a answer, try int) error {
	wait := backoff(try-1, retryMin, retryMax)
	if a.status != http.StatusTooManyRequests {
		return h.pause(ctx, wait)
	}
	now := h.now()
	if reset, err := strconv.ParseInt(a.header.Get("Ratelimit-Reset"), 10, 64); err == nil {
		wait = min(max(wait, time.Unix(reset, 0).Sub(now)), longestHold)
	}
	if left, err := strconv.Atoi(a.header.Get("Ratelimit-Remaining")); err == nil && left > 0 {
		return h.pause(ctx, wait)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if until := now.Add(wait); until.After(h.heldUntil) {
		h.heldUntil = until
	}
	return nil
}

// waitForBudget waits while another request has found the budget empty.
func (h *Helix) waitForBudget(ctx context.Context) error {
	for {
		h.mu.Lock()
		wait := h.heldUntil.Sub(h.now())
		h.mu.Unlock()
		if wait <= 0 {
			return nil
		}
		if err := h.pause(ctx, wait); err != nil {
			return err
		}
	}
}
