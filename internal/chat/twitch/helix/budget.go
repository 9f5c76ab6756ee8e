package helix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// Twitch's request budget, and the part of it reserved for requests that must not wait behind
// penalties.
const (
	budgetSize = 800
	// budgetRefill is the time after which the budget grows by one request. That is 600 per minute,
	// the measured rate, although Twitch promises more.
	budgetRefill = 100 * time.Millisecond
	reserve      = 20
)

// budget is our own count of the requests that Twitch accepts. It prevents requests that Twitch
// would refuse. It is a token bucket, implemented by its own Guard. The zero value is a full
// budget.
type budget struct {
	mu sync.Mutex
	// guard is nil before the first use. mu guards it and the fields below.
	guard *chatguard.Guard
	// turns are two locks, one for ordinary and one for essential requests. The request to be sent
	// next holds the lock of its kind.
	turns    [2]chan struct{}
	unusable int // budgetSize minus the size of Twitch's budget
	// heldUntil is the time before which nothing is sent, because Twitch said that the budget is
	// empty.
	heldUntil time.Time
}

// prepare initializes the budget on first use. The caller holds mu.
func (b *budget) prepare() error {
	if b.guard != nil {
		return nil
	}
	guard, err := chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{{Name: "requests", Algorithm: chatguard.TokenBucket, Burst: budgetSize, Refill: budgetRefill}},
	}, nil)
	if err != nil {
		return err
	}
	b.guard, b.turns = guard, [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	return nil
}

// budgetRequest returns a Message that stands for n requests.
func budgetRequest(n int, now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: "helix", User: chatguard.User{ID: "requests"}, SentAt: now, Cost: n}
}

// reservedFor returns how many requests an ordinary or essential request must leave in the bucket.
// The caller holds mu.
func (b *budget) reservedFor(essential bool) int {
	if essential {
		return b.unusable
	}
	return b.unusable + reserve*(budgetSize-b.unusable)/budgetSize
}

// turnLock returns the lock for essential or ordinary requests. Requests acquire it one at a time,
// in order of arrival.
func (b *budget) turnLock(essential bool) (chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.prepare(); err != nil {
		return nil, err
	}
	if essential {
		return b.turns[1], nil
	}
	return b.turns[0], nil
}

// spend counts a request. If there is no room, it returns how long to wait before trying again.
func (b *budget) spend(ctx context.Context, essential bool, now time.Time) (wait time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait := b.heldUntil.Sub(now); wait > 0 {
		return wait, nil
	}
	v, err := b.guard.Peek(ctx, budgetRequest(1+b.reservedFor(essential), now))
	if err != nil || !v.Allowed {
		return v.RetryAfter, err
	}
	_, err = b.guard.Check(ctx, budgetRequest(1, now))
	return 0, err
}

// remaining returns how many requests are left, including reserved ones. The caller holds mu.
func (b *budget) remaining(ctx context.Context, now time.Time) (int, error) {
	if err := b.prepare(); err != nil {
		return 0, err
	}
	v, err := b.guard.Peek(ctx, budgetRequest(1, now))
	if v.Allowed {
		return v.Remaining + 1, err
	}
	return v.Remaining, err
}

// lower reduces the budget to the size and the remaining requests that Twitch reports.
func (b *budget) lower(ctx context.Context, size, left int, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unusable = budgetSize - min(max(size, 1), budgetSize)
	held, err := b.remaining(ctx, now)
	if excess := held - b.unusable - max(left, 0); err == nil && excess > 0 {
		_, _, err = b.guard.CheckUpTo(ctx, budgetRequest(excess, now))
	}
	return err
}

// hold prevents all requests until a time.
func (b *budget) hold(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.heldUntil) {
		b.heldUntil = until
	}
}

// holdEnd returns the time before which no request is sent. ok is false if that time has passed.
func (b *budget) holdEnd(now time.Time) (until time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heldUntil, b.heldUntil.After(now)
}

// Left returns how many ordinary requests the budget has room for within a duration from now; a
// duration of 0 means now.
func (h *Client) Left(within time.Duration) int {
	b, now := &h.budget, h.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	begin, end := now, now.Add(within)
	if b.heldUntil.After(begin) {
		begin = b.heldUntil
	}
	if begin.After(end) {
		return 0
	}
	held, err := b.remaining(context.Background(), begin) // in memory
	if err != nil {
		return 0
	}
	return max(0, held-b.reservedFor(false)+int(end.Sub(begin)/budgetRefill))
}

// errNoRoom means that a request wasn't sent in time because the budget had no room.
var errNoRoom = errors.New("not sent in time")

// noRoomError returns the error for a request whose context ended before the budget had room.
func (h *Client) noRoomError(ended error) error {
	why, _ := h.Trouble()
	return fmt.Errorf("%w: %s (%w)", errNoRoom, cmp.Or(why, "the request budget is used up"), ended)
}

// waitForBudget waits until the budget has room for a request, and counts the request. A request
// with once set doesn't wait. If there is no room for it, the error is ErrBusy.
func (h *Client) waitForBudget(ctx context.Context, r request) error {
	turn, err := h.budget.turnLock(r.essential)
	if err != nil {
		return err
	}
	if r.once {
		wait, err := h.budget.spend(ctx, r.essential, h.now())
		if err == nil && wait > 0 {
			err = twitch.ErrBusy
		}
		return err
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return h.noRoomError(ctx.Err())
	}
	for {
		if r.isNeedless() {
			return errNeedless
		}
		wait, err := h.budget.spend(ctx, r.essential, h.now())
		if err != nil || wait <= 0 {
			return err
		}
		if err := h.Clock.Sleep(ctx, wait); ctx.Err() != nil {
			return h.noRoomError(ctx.Err())
		} else if err != nil {
			return err
		}
	}
}

// note records what an answer says about the budget. If the budget is empty, no request is sent
// until it is full again.
func (b *budget) note(ctx context.Context, a api.Answer, try int, now time.Time) error {
	if a.BudgetEmpty() {
		b.hold(now.Add(refillWait(a, try)))
	}
	left, err := strconv.Atoi(a.Header.Get("Ratelimit-Remaining"))
	if err != nil || a.Status == http.StatusTooManyRequests && !a.BudgetEmpty() {
		return nil // not every answer describes the budget
	}
	size, err := strconv.Atoi(a.Header.Get("Ratelimit-Limit"))
	if err != nil {
		size = budgetSize
	}
	return b.lower(ctx, size, left, now)
}
