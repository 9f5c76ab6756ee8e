package twitch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// Twitch's request budget, and how much of it is kept for what must not wait behind moderation.
const (
	budgetSize   = 800
	budgetRefill = 100 * time.Millisecond // 600 a minute, which is less than Twitch promises, but what was measured
	reserve      = 20
)

// budget is our own count of the requests that Twitch takes, so that none is sent that it would refuse. It is a token bucket, kept by a Guard of
// its own. The zero value is a full one.
type budget struct {
	mu        sync.Mutex
	guard     *chatguard.Guard // nil before the first use; guarded by mu, as all below
	turns     [2]chan struct{} // hold a value while a request of that kind is next to be sent: ordinary ones, essential ones
	unusable  int              // how much less than budgetSize Twitch's budget is
	heldUntil time.Time        // nothing is to be sent before: Twitch said that the budget is empty
}

// prepare makes a budget usable. The caller holds mu.
func (b *budget) prepare() error {
	if b.guard != nil {
		return nil
	}
	guard, err := chatguard.New(chatguard.Policy{
		Mode:   chatguard.Enforce,
		Limits: []chatguard.Limit{{Name: "requests", Algorithm: chatguard.TokenBucket, Burst: budgetSize, Refill: budgetRefill}},
	}, nil)
	if err != nil {
		return err
	}
	b.guard, b.turns = guard, [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	return nil
}

// asking is n requests in the Guard's words.
func asking(n int, now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: "helix", User: chatguard.User{ID: "requests"}, SentAt: now, Cost: n}
}

// untouchable is what an ordinary or essential request leaves in the bucket. The caller holds mu.
func (b *budget) untouchable(essential bool) int {
	if essential {
		return b.unusable
	}
	return b.unusable + reserve*(budgetSize-b.unusable)/budgetSize
}

// turn returns what a request holds a value in while it is next to be sent. Those that wait for it get it in the order of their arrival.
func (b *budget) turn(essential bool) (chan struct{}, error) {
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

// spend counts a request, or returns how long to wait before trying that again.
func (b *budget) spend(ctx context.Context, essential bool, now time.Time) (wait time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if wait := b.heldUntil.Sub(now); wait > 0 {
		return wait, nil
	}
	v, err := b.guard.Peek(asking(1+b.untouchable(essential), now))
	if err != nil || !v.Allowed {
		return v.RetryAfter, err
	}
	_, err = b.guard.Check(ctx, asking(1, now))
	return 0, err
}

// holds is how many requests are left, those that none may touch included. The caller holds mu.
func (b *budget) holds(now time.Time) (int, error) {
	if err := b.prepare(); err != nil {
		return 0, err
	}
	v, err := b.guard.Peek(asking(1, now))
	if v.Allowed {
		return v.Remaining + 1, err
	}
	return v.Remaining, err
}

// lower makes the budget as small as Twitch says that it is.
func (b *budget) lower(ctx context.Context, size, left int, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unusable = budgetSize - min(max(size, 1), budgetSize)
	held, err := b.holds(now)
	if excess := held - b.unusable - max(left, 0); err == nil && excess > 0 {
		_, _, err = b.guard.Take(ctx, asking(excess, now))
	}
	return err
}

// hold lets nobody send before a time.
func (b *budget) hold(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.heldUntil) {
		b.heldUntil = until
	}
}

// held returns until when nothing is to be sent, if that lies ahead.
func (b *budget) held(now time.Time) (until time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heldUntil, b.heldUntil.After(now)
}

// Left returns how many ordinary requests could be sent without waiting within a time from now; 0 is now.
func (h *Helix) Left(within time.Duration) int {
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
	held, err := b.holds(begin)
	if err != nil {
		return 0
	}
	return max(0, held-b.untouchable(false)+int(end.Sub(begin)/budgetRefill))
}

// errNoRoom: a request wasn't sent in time, because the budget had no room for it.
var errNoRoom = errors.New("not sent in time")

// noRoom is the error for a request whose context ended before the budget had room.
func (h *Helix) noRoom(ended error) error {
	why, _ := h.Trouble()
	return fmt.Errorf("%w: %s (%w)", errNoRoom, cmp.Or(why, "the request budget is used up"), ended)
}

// afford waits until the budget has room for a request, and counts it. One that is to be sent at once doesn't wait: where there is no room it is
// ErrBusy.
func (h *Helix) afford(ctx context.Context, r request) error {
	turn, err := h.budget.turn(r.essential)
	if err != nil {
		return err
	}
	if r.once {
		wait, err := h.budget.spend(ctx, r.essential, h.now())
		if err == nil && wait > 0 {
			err = ErrBusy
		}
		return err
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return h.noRoom(ctx.Err())
	}
	for {
		if r.unless != nil && r.unless() {
			return errNeedless
		}
		wait, err := h.budget.spend(ctx, r.essential, h.now())
		if err != nil || wait <= 0 {
			return err
		}
		if err := h.pause(ctx, wait); ctx.Err() != nil {
			return h.noRoom(ctx.Err())
		} else if err != nil {
			return err
		}
	}
}

// heed takes note of what an answer tells about the budget. An empty one is everyone's: nobody sends anything until it is full again.
func (h *Helix) heed(ctx context.Context, a answer, try int) error {
	if a.emptied() {
		h.budget.hold(h.now().Add(a.wait(try)))
	}
	left, err := strconv.Atoi(a.header.Get("Ratelimit-Remaining"))
	if err != nil {
		return nil // not every answer tells
	}
	size, err := strconv.Atoi(a.header.Get("Ratelimit-Limit"))
	if err != nil {
		size = budgetSize
	}
	return h.budget.lower(ctx, size, left, h.now())
}
