package access

import (
	"context"
	"net/netip"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
)

// blockFactor is how much all addresses of an IPv6 /48 may do together, relative to one address.
const blockFactor = 4

// AddressLimit limits how often an address may do something. All addresses of an IPv6 /48 together
// may do it four times as often. Create one with NewAddressLimit. It is safe for concurrent use.
type AddressLimit struct {
	parts []addressPart
}

// addressPart is a Guard that counts by a part of the address. If the part is empty, the Guard
// doesn't count.
type addressPart struct {
	of    func(netip.Addr) string
	guard *chatguard.Guard
}

// NewAddressLimit returns a limit that allows each address burst attempts at once, then one more
// every refill.
func NewAddressLimit(name string, burst int, refill time.Duration, now func() time.Time) (*AddressLimit, error) {
	single, err := NewBucketGuard(name, burst, refill, now)
	if err != nil {
		return nil, err
	}
	block, err := NewBucketGuard(name+"-per-block", blockFactor*burst, refill/blockFactor, now)
	return &AddressLimit{[]addressPart{{connguard.AddressKey, single}, {connguard.AddressBlock, block}}}, err
}

// NewBucketGuard returns a Guard with one limit, a token bucket for each user.
func NewBucketGuard(name string, burst int, refill time.Duration, now func() time.Time) (*chatguard.Guard, error) {
	return chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit(name, burst, refill)}}, &chatguard.Options{Now: now})
}

// Take counts an attempt of an address. If the address has none left, it returns how long the
// address must wait.
func (l *AddressLimit) Take(ctx context.Context, addr netip.Addr) (wait time.Duration, err error) {
	return l.ask(ctx, addr, (*chatguard.Guard).Check)
}

// peek is like Take, but counts nothing.
func (l *AddressLimit) peek(ctx context.Context, addr netip.Addr) (wait time.Duration, err error) {
	return l.ask(ctx, addr, (*chatguard.Guard).Peek)
}

// ask asks the Guard of each part of an address, until one refuses.
func (l *AddressLimit) ask(ctx context.Context, addr netip.Addr, ask func(*chatguard.Guard, context.Context, chatguard.Message) (chatguard.Verdict, error)) (wait time.Duration, err error) {
	for _, part := range l.parts {
		id := part.of(addr)
		if id == "" {
			continue
		}
		v, err := ask(part.guard, ctx, chatguard.Message{ChannelID: "sign-in", User: chatguard.User{ID: id}})
		if err != nil || !v.Allowed {
			return v.RetryAfter, err
		}
	}
	return 0, nil
}
