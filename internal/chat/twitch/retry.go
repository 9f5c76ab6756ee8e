package twitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
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
	renewed := h.Refused == nil
	var before error // the trouble of the try before
	for try := 1; ; try++ {
		a, token, trouble := h.try(ctx, r, try)
		if !renewed && token != "" && errors.Is(trouble, ErrToken) {
			if trouble = h.renew(ctx, r, token); trouble == nil {
				renewed = true
				continue
			}
		}
		switch {
		case ctx.Err() != nil:
			return answer{}, r.unfinished(ctx.Err(), trouble, before)
		case trouble == nil || !passes(trouble) || r.once || try >= maxTries:
			return a, trouble
		}
		loggerOr(h.Logger).Info("twitch helix: trying again", "try", try, "trouble", oneLine(trouble.Error()))
		if err := h.waitAfter(ctx, a, try); err != nil {
			return answer{}, r.unfinished(err, err, trouble)
		}
		before = trouble
	}
}

// unfinished is the error for a request that was given up because its context ended. It names what stood in the way: the trouble of the try before, if
// there was one, or what this try waited for.
func (r request) unfinished(ended, trouble, before error) error {
	switch {
	case errors.Is(trouble, errNoRoom):
		return trouble
	case before != nil:
		return fmt.Errorf("%w; given up (%w)", before, ended)
	}
	return fmt.Errorf("%s: Twitch didn't answer in time (%w)", r.op, ended)
}

// try sends a request once the budget has room for it. It returns the token that it was sent with; none where it wasn't sent.
func (h *Helix) try(ctx context.Context, r request, try int) (a answer, sentWith string, trouble error) {
	if err := h.afford(ctx, r); err != nil {
		return answer{}, "", fmt.Errorf("%s: %w", r.op, err)
	}
	token, err := h.token(ctx)
	if err != nil {
		return answer{}, "", fmt.Errorf("%s: %w", r.op, err)
	}
	a, err = h.send(ctx, r, token)
	trouble = r.trouble(a, err)
	if ctx.Err() == nil { // otherwise we were too impatient
		h.health.note(a, err, trouble, h.now())
	}
	if err == nil {
		trouble = cmp.Or(trouble, h.heed(ctx, a, try))
	}
	return a, token, trouble
}

// renew lets whoever keeps the tokens replace one that Twitch refused.
func (h *Helix) renew(ctx context.Context, r request, token string) error {
	if err := h.Refused(ctx, token); err != nil {
		return fmt.Errorf("%s: %w", r.op, noToken(err))
	}
	return nil
}

// noToken is the error where no token can be had: for now, or at all.
func noToken(err error) error {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrToken) {
		return err
	}
	return fmt.Errorf("%w (%w)", ErrToken, err)
}

// trouble is what stands between this answer and the caller.
func (r request) trouble(a answer, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (%w)", r.op, ErrUnavailable, err)
	case a.status == http.StatusTooManyRequests && a.emptied():
		return r.refused(ErrBusy, a)
	case a.status == http.StatusTooManyRequests:
		return r.refused(errBusyThere, a)
	case a.status >= 500 || a.status == http.StatusConflict && !r.lasting:
		return r.refused(ErrUnavailable, a)
	case a.lacksScope():
		return r.refused(ErrScope, a)
	case a.status == http.StatusUnauthorized && strings.Contains(a.says(), "must match"): // the token is another user's than the request
		return r.refused(ErrRejected, a)
	case a.status == http.StatusUnauthorized:
		return r.refused(ErrToken, a)
	case a.status == http.StatusForbidden:
		return r.refused(cmp.Or(r.forbidden, ErrNotModerator), a)
	}
	return nil
}

// lacksScope reports whether Twitch refuses the request because of what the token allows.
func (a answer) lacksScope() bool {
	return (a.status == http.StatusUnauthorized || a.status == http.StatusForbidden) && strings.Contains(strings.ToLower(a.says()), "missing scope")
}

// passes reports whether trying again can help.
func passes(trouble error) bool {
	return errors.Is(trouble, ErrUnavailable) || errors.Is(trouble, ErrBusy) // one about a single channel too
}

func (h *Helix) token(ctx context.Context) (string, error) {
	if h.Token == nil {
		return "", fmt.Errorf("%w (there is none)", ErrToken)
	}
	token, err := h.Token(ctx)
	if err != nil {
		return "", noToken(err)
	}
	if token, err = bareToken(token); err != nil {
		return "", noToken(err)
	}
	return token, nil
}

// waitAfter waits before the next try. Where the budget is empty, that holds the request like any other. A 429 while budget is left is about one
// channel, and only this request waits.
func (h *Helix) waitAfter(ctx context.Context, a answer, try int) error {
	if a.emptied() {
		return nil
	}
	return h.pause(ctx, a.wait(try))
}

// emptied reports whether Twitch refuses a request because the budget is empty.
func (a answer) emptied() bool {
	left, err := strconv.Atoi(a.header.Get("Ratelimit-Remaining"))
	return a.status == http.StatusTooManyRequests && (err != nil || left <= 0)
}

// wait is how long to wait after an answer. When the budget is full again is told by Twitch's clock, and so is the time of the answer: this machine's
// clock may be wrong.
func (a answer) wait(try int) time.Duration {
	wait := backoff(try-1, retryMin, retryMax)
	reset, err := strconv.ParseInt(a.header.Get("Ratelimit-Reset"), 10, 64)
	if err != nil || a.status != http.StatusTooManyRequests {
		return wait
	}
	answered, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return wait // it is tried again, and told again
	}
	return min(max(wait, time.Unix(reset, 0).Sub(answered)), longestHold)
}

// ask sends a request whose answer is worth reading, and reads it into v.
func (h *Helix) ask(ctx context.Context, r request, v any) error {
	a, err := h.do(ctx, r)
	if err != nil {
		return err
	}
	if !a.ok() {
		return r.refused(ErrRejected, a)
	}
	return r.decode(a, v)
}
