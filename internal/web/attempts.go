package web

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// attempts limits failed sign-ins per address, by a Guard of its own: five at once, then one every 30 s.
type attempts struct {
	guard *chatguard.Guard
	now   func() time.Time

	mu    sync.Mutex
	turns map[string]*turn // by address, of those that are trying
}

// turn is what the attempts of one address take one after the other; in parallel they would all be heard before the first has failed.
type turn struct {
	taken  chan struct{} // holds one value while an attempt is under way
	takers int           // the attempt under way and those that wait
}

func newAttempts(now func() time.Time) (*attempts, error) {
	guard, err := chatguard.New(chatguard.Policy{
		Mode:   chatguard.Enforce,
		Limits: []chatguard.Limit{{Name: "failed-sign-ins", Algorithm: chatguard.TokenBucket, Burst: 5, Refill: 30 * time.Second}},
	}, nil)
	return &attempts{guard: guard, now: now, turns: map[string]*turn{}}, err
}

// begin waits until no other attempt of the address is under way. The caller ends its own with the func returned.
func (a *attempts) begin(ctx context.Context, addr netip.Addr) (end func(), err error) {
	id := a.attempt(addr).User.ID
	a.mu.Lock()
	t := a.turns[id]
	if t == nil {
		t = &turn{taken: make(chan struct{}, 1)}
		a.turns[id] = t
	}
	t.takers++
	a.mu.Unlock()
	leave := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if t.takers--; t.takers == 0 {
			delete(a.turns, id)
		}
	}
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// allow returns a problem when the address has failed too often to be heard now.
func (a *attempts) allow(w http.ResponseWriter, addr netip.Addr) error {
	v, err := a.guard.Peek(a.attempt(addr))
	if err != nil || v.Allowed {
		return err
	}
	seconds := int((v.RetryAfter + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	return refuse(http.StatusTooManyRequests, "Too many failed sign-ins from your address. Try again in %d s.", seconds)
}

// failed counts a failed sign-in.
func (a *attempts) failed(ctx context.Context, addr netip.Addr) error {
	_, err := a.guard.Check(ctx, a.attempt(addr))
	return err
}

// attempt is a sign-in in the Guard's words. Whoever has one IPv6 address has 2^64 of them: those count together.
func (a *attempts) attempt(addr netip.Addr) chatguard.Message {
	id := addr.WithZone("").String()
	if addr.Is6() {
		prefix, _ := addr.WithZone("").Prefix(64) // 64 bits fit every IPv6 address
		id = prefix.String()
	}
	return chatguard.Message{ChannelID: "sign-in", User: chatguard.User{ID: id}, SentAt: a.now()}
}
