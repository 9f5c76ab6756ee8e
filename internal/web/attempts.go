package web

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
)

// attempts limits failed sign-ins per address, by a Guard of its own: five at once, then one every 30 s.
type attempts struct {
	guard *chatguard.Guard
	now   func() time.Time
}

func newAttempts(now func() time.Time) (*attempts, error) {
	guard, err := chatguard.New(chatguard.Policy{
		Mode:   chatguard.Enforce,
		Limits: []chatguard.Limit{{Name: "failed-sign-ins", Algorithm: chatguard.TokenBucket, Burst: 5, Refill: 30 * time.Second}},
	}, nil)
	return &attempts{guard, now}, err
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
