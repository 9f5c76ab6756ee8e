package helix

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat"
	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/api"
)

// limitKind is a kind of requests that Twitch limits per channel, in addition to the request
// budget. Twitch documents that there are such limits, but not their numbers.
type limitKind string

const (
	sanctionLimit limitKind = "sanctions" // timeouts, bans and unbans
	warningLimit  limitKind = "warnings"
)

// channelLimit is the limit that a request counts against. The zero value means none.
type channelLimit struct {
	kind      limitKind
	channelID string
	what      string // the requests, for people: "timeouts"
}

// Our own pace for the requests of a kind in a channel. In measurements, Twitch accepted 100
// timeouts, bans and unbans within 30 s.
const (
	limitSpan    = 31 * time.Second // a second more, for requests that are slow to arrive
	limitSize    = 98
	limitReserve = 8 // for requests that must not wait behind penalties

	// limitHold is how long the requests of a kind are held after Twitch refused one, or failed to
	// carry one out. Twitch doesn't say when it accepts the next one.
	limitHold = 10 * time.Second
	// probeTime is how long other requests wait for the first request after a hold.
	probeTime = 2 * time.Second
)

// channelLimits counts requests by channel and kind. The zero value is ready to use.
type channelLimits struct {
	mu    sync.Mutex
	guard *chatguard.Guard // nil before the first use. mu guards it and held.
	held  map[channelLimit]hold
}

// hold is a time in which Twitch carries out no requests of a kind in a channel.
type hold struct {
	until time.Time
	busy  bool // Twitch's limit is used up. Otherwise Twitch fails.
}

// check returns a chat.HeldError if Twitch accepts no more requests of the kind in the channel now.
// A request that must not wait behind penalties ignores holds, so that it finds out whether they
// are over.
func (l *channelLimits) check(ctx context.Context, r request, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checkLocked(ctx, r, now)
}

// spend is like check, and counts the request.
func (l *channelLimits) spend(ctx context.Context, r request, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.checkLocked(ctx, r, now); err != nil || r.limit.kind == "" {
		return err
	}
	if h, held := l.held[r.limit.key()]; held && !r.essential {
		l.held[r.limit.key()] = hold{now.Add(probeTime), h.busy}
	}
	_, err := l.guard.Check(ctx, r.limit.message(1, now))
	return err
}

func (l *channelLimits) checkLocked(ctx context.Context, r request, now time.Time) error {
	if r.limit.kind == "" {
		return nil
	}
	if err := l.prepare(); err != nil {
		return err
	}
	cost := 1
	if !r.essential {
		if h := l.held[r.limit.key()]; h.until.After(now) {
			return r.limit.heldError(h, now)
		}
		cost += limitReserve
	}
	v, err := l.guard.Peek(ctx, r.limit.message(cost, now))
	if err == nil && !v.Allowed {
		err = r.limit.heldError(hold{now.Add(v.RetryAfter), true}, now)
	}
	return err
}

// prepare initializes the limits on first use. The caller holds mu.
func (l *channelLimits) prepare() error {
	if l.guard != nil {
		return nil
	}
	limit := chatguard.Limit{Name: "channel", Algorithm: chatguard.SlidingLog, Messages: limitSize, Every: limitSpan}
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, nil)
	if err == nil {
		l.guard, l.held = guard, map[channelLimit]hold{}
	}
	return err
}

// note records how a request ended. It returns the request's error, which is a chat.HeldError if
// Twitch's limit is used up. last means that this is the last try, except for a request that
// ignores holds.
func (l *channelLimits) note(r request, a api.Answer, trouble error, last bool, now time.Time) error {
	if r.limit.kind == "" {
		return trouble
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := hold{now.Add(limitHold), true}
	_, probing := l.held[r.limit.key()]
	switch {
	case errors.Is(trouble, twitch.ErrLimited):
		l.held[r.limit.key()] = h
		return fmt.Errorf("%s: %w (Twitch: %s)", r.Op, r.limit.heldError(h, now), a.Says())
	case errors.Is(trouble, twitch.ErrUnavailable) && (last || probing):
		l.held[r.limit.key()] = hold{h.until, false}
	case trouble == nil:
		delete(l.held, r.limit.key())
	}
	return trouble
}

// key returns the limit as a key. Timeouts, bans and unbans have one limit.
func (l channelLimit) key() channelLimit { return channelLimit{kind: l.kind, channelID: l.channelID} }

// message returns a Message that stands for n requests.
func (l channelLimit) message(n int, now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: l.channelID, User: chatguard.User{ID: string(l.kind)}, SentAt: now, Cost: n}
}

func (l channelLimit) heldError(h hold, now time.Time) *chat.HeldError {
	wait := h.until.Sub(now)
	why := "Twitch accepts no more %s in this channel for %.0f s"
	if !h.busy {
		why = "Twitch failed to carry out %s in this channel; the next one is tried in %.0f s"
	}
	return &chat.HeldError{Why: fmt.Sprintf(why, l.what, math.Ceil(wait.Seconds())), Wait: wait, Busy: h.busy}
}
