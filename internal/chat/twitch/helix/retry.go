package helix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
	"github.com/chatguard/chatguard/internal/hostile"
)

// Limits on retries. Further retries would be useless, because by then everyone has read the
// message.
const (
	maxTries    = 5
	retryMin    = 250 * time.Millisecond
	retryMax    = 5 * time.Second
	longestHold = 90 * time.Second // Twitch's budget refills within 80 s

	// sanctionTimeout is how long Twitch may take to answer a timeout, ban, unban or warning. After
	// that, requests of this kind are held in the channel. Otherwise, hanging ones would take the
	// places of other penalties, such as deletions.
	sanctionTimeout = 5 * time.Second
)

// errHangs is the cause of the end of a request that Twitch didn't answer within sanctionTimeout.
var errHangs = errors.New("no answer in time")

// do sends a request, and retries if that can help. It returns an error if Twitch doesn't answer,
// or if Request.Trouble returns one for the answer, for example for a refused token. The caller
// interprets any other answer.
func (h *Client) do(ctx context.Context, r request) (api.Answer, error) {
	renewed := h.Refused == nil
	var before error // error of the previous try
	unsure := false  // an earlier try may have been carried out
	for try := 1; ; try++ {
		a, token, trouble := h.try(ctx, r, try)
		if a.Unsure = unsure; unsure {
			trouble = twitch.Unsure(trouble)
		}
		unsure = unsure || token != "" && errors.Is(trouble, chat.ErrUnanswered)
		if !renewed && token != "" && errors.Is(trouble, twitch.ErrToken) {
			if trouble = h.renew(ctx, r, token); trouble == nil {
				renewed = true
				continue
			}
		}
		switch {
		case trouble == nil:
			return a, nil
		case ctx.Err() != nil && unsure:
			return api.Answer{}, twitch.Unanswered(r.unfinishedError(ctx.Err(), trouble, before))
		case ctx.Err() != nil:
			return api.Answer{}, r.unfinishedError(ctx.Err(), trouble, before)
		case !api.IsTemporary(trouble) || r.once || h.Once || try >= maxTries:
			return a, trouble
		}
		twitch.LoggerOr(h.Logger).Info("twitch helix: trying again", "try", try, "trouble", hostile.Detail(trouble.Error()))
		if err := h.waitAfter(ctx, a, trouble, try); err != nil {
			return api.Answer{}, r.unfinishedError(err, err, trouble)
		}
		before = trouble
	}
}

// unfinishedError returns the error for a request that was given up because its context ended. The
// error names the cause: the budget if this try was waiting for it, or else the error of the
// previous try, if any.
func (r request) unfinishedError(ended, trouble, before error) error {
	switch {
	case errors.Is(trouble, errNoRoom):
		return trouble
	case before != nil:
		return fmt.Errorf("%w; given up (%w)", before, ended)
	}
	return fmt.Errorf("%s: Twitch didn't answer in time (%w)", r.Op, ended)
}

// try sends a request once the budget has room for it. It returns the token that was sent, or "" if
// nothing was sent.
func (h *Client) try(ctx context.Context, r request, try int) (a api.Answer, sentWith string, trouble error) {
	if err := h.waitForTurn(ctx, r); err != nil {
		return api.Answer{}, "", fmt.Errorf("%s: %w", r.Op, err)
	}
	token, err := h.token(ctx)
	if err != nil {
		return api.Answer{}, "", fmt.Errorf("%s: %w", r.Op, err)
	}
	until, err := chat.Permitted(ctx)
	if err != nil {
		return api.Answer{}, "", fmt.Errorf("%s: %w", r.Op, err)
	}
	sending := ctx
	if !until.IsZero() {
		var cancel context.CancelFunc
		sending, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	if r.limit.kind != "" {
		var cancel context.CancelFunc
		sending, cancel = context.WithTimeoutCause(sending, sanctionTimeout, errHangs)
		defer cancel()
	}
	chat.NoteRequest(ctx)
	a, err = h.send(sending, r, token)
	trouble = r.Trouble(a, err)
	if ctx.Err() == nil { // otherwise the failure may be the caller's, not Twitch's
		h.health.note(a, err, trouble, h.now())
	}
	if err == nil {
		trouble = cmp.Or(trouble, h.budget.note(ctx, a, try, h.now()))
	}
	isLast := try >= maxTries || errors.Is(context.Cause(sending), errHangs)
	return a, token, h.limits.note(r, a, trouble, isLast, h.now())
}

// waitForTurn waits until the budget has room for a request, and counts the request. If Twitch
// accepts no more requests of its kind in the channel, it returns an error at once.
func (h *Client) waitForTurn(ctx context.Context, r request) error {
	if r.isNeedless() {
		return errNeedless
	}
	if err := h.limits.check(ctx, r, h.now()); err != nil {
		return err
	}
	if err := h.waitForBudget(ctx, r); err != nil {
		return err
	}
	return h.limits.spend(ctx, r, h.now()) // as late as possible, because Twitch counts by arrival
}

// renew asks Refused to replace a token that Twitch refused.
func (h *Client) renew(ctx context.Context, r request, token string) error {
	if err := h.Refused(ctx, token); err != nil {
		return fmt.Errorf("%s: %w", r.Op, missingTokenError(err))
	}
	return nil
}

// missingTokenError returns the error for a missing token, either temporary or permanent.
func missingTokenError(err error) error {
	if errors.Is(err, twitch.ErrUnavailable) || errors.Is(err, twitch.ErrToken) {
		return err
	}
	return fmt.Errorf("%w (%w)", twitch.ErrToken, err)
}

func (h *Client) token(ctx context.Context) (string, error) {
	if h.Token == nil {
		return "", fmt.Errorf("%w (there is none)", twitch.ErrToken)
	}
	token, err := h.Token(ctx)
	if err != nil {
		return "", missingTokenError(err)
	}
	if token, err = twitch.BareToken(token); err != nil {
		return "", missingTokenError(err)
	}
	return token, nil
}

// waitAfter waits before the next try. Meanwhile, the caller's place is free for another penalty.
// If the budget is empty, waitAfter returns at once, because waitForBudget then delays all
// requests.
func (h *Client) waitAfter(ctx context.Context, a api.Answer, trouble error, try int) error {
	if a.BudgetEmpty() {
		return nil
	}
	return chat.Idle(ctx, trouble, func() error { return h.Clock.Sleep(ctx, retryWait(try)) })
}

// retryWait returns how long to wait after a failed try.
func retryWait(try int) time.Duration { return twitch.Backoff(try-1, retryMin, retryMax) }

// refillWait returns how long to wait after an answer until the budget is full. Both the budget's
// reset time and the time of the answer are by Twitch's clock, because this machine's clock may be
// wrong.
func refillWait(a api.Answer, try int) time.Duration {
	wait := retryWait(try)
	reset, err := strconv.ParseInt(a.Header.Get("Ratelimit-Reset"), 10, 64)
	if err != nil {
		return wait
	}
	answered, err := http.ParseTime(a.Header.Get("Date"))
	if err != nil {
		return wait // without the time of the answer, the reset time can't be used
	}
	return min(max(wait, time.Unix(reset, 0).Sub(answered)), longestHold)
}

// ask sends a request and decodes its answer into v.
func (h *Client) ask(ctx context.Context, r request, v any) error {
	a, err := h.do(ctx, r)
	if err != nil {
		return err
	}
	if !a.OK() {
		return r.Refused(twitch.ErrRejected, a)
	}
	return r.Decode(a, v)
}

// maxPages is the maximum number of pages that askAll requests.
const maxPages = 100

// askAll sends a request for a list, page by page, and calls do for each item until do returns
// true.
func askAll[T any](ctx context.Context, h *Client, r request, path string, query url.Values, do func(item T) (found bool)) error {
	for range maxPages {
		var page struct {
			Data       []T `json:"data"`
			Pagination struct {
				Cursor string `json:"cursor"`
			} `json:"pagination"`
		}
		r.URL = path + "?" + query.Encode()
		if err := h.ask(ctx, r, &page); err != nil {
			return err
		}
		for _, item := range page.Data {
			if do(item) {
				return nil
			}
		}
		if page.Pagination.Cursor == "" {
			return nil
		}
		query.Set("after", page.Pagination.Cursor)
	}
	return fmt.Errorf("%s: %w (its list never ends)", r.Op, twitch.ErrRejected)
}
