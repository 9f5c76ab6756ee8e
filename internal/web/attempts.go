package web

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/chatguard/chatguard"
)

// attempts limits, by address, guesses at the one secret that somebody has chosen: the Site's token. An address has five at once, then one every 30 s;
// the addresses of an IPv6 /48 together have four times as many. Beyond that nothing is compared, so that not even the right token gets in from there.
type attempts struct {
	now    func() time.Time
	limits []attemptLimit
	wrong  wrongSecrets
}

// attemptLimit is a Guard that counts by a part of the address; the empty part isn't limited.
type attemptLimit struct {
	part  func(netip.Addr) string
	guard *chatguard.Guard
}

const (
	attemptBurst  = 5
	attemptRefill = 30 * time.Second
	blockFactor   = 4 // of what an address has, for the addresses of a block
)

func newAttempts(now func() time.Time) (*attempts, error) {
	single, err := newBucket("attempts", attemptBurst, attemptRefill)
	if err != nil {
		return nil, err
	}
	block, err := newBucket("attempts-per-block", blockFactor*attemptBurst, attemptRefill/blockFactor)
	return &attempts{now: now, limits: []attemptLimit{{chatguard.AddressKey, single}, {chatguard.AddressBlock, block}}}, err
}

func newBucket(name string, burst int, refill time.Duration) (*chatguard.Guard, error) {
	return chatguard.New(chatguard.Policy{
		Mode:   chatguard.Enforce,
		Limits: []chatguard.Limit{{Name: name, Algorithm: chatguard.TokenBucket, Burst: burst, Refill: refill}},
	}, nil)
}

// try compares a guess from an address with the secret: right does that. A wrong one that the address has sent lately is refused without a comparison,
// and doesn't count again.
func (a *attempts) try(ctx context.Context, addr netip.Addr, guess string, right func(guess string) bool, wrong error) error {
	id, now := chatguard.AddressKey(addr), a.now()
	if a.wrong.has(id, guess, now) {
		return wrong
	}
	giveBack, err := a.spend(ctx, addr, now)
	if err != nil {
		return err
	}
	if right(guess) {
		return giveBack()
	}
	a.wrong.remember(id, guess, now)
	return wrong
}

// spend takes an attempt before it is made: those in parallel count, too. The caller gives back one that was right.
func (a *attempts) spend(ctx context.Context, addr netip.Addr, now time.Time) (giveBack func() error, err error) {
	var spent []func() error
	giveBack = func() error {
		for _, undo := range spent {
			if err := undo(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, l := range a.limits {
		m := attempt(l.part(addr), now)
		if m.User.ID == "" {
			continue
		}
		v, err := l.guard.Check(ctx, m)
		if err != nil {
			return nil, err
		}
		if !v.Allowed {
			if err := giveBack(); err != nil {
				return nil, err
			}
			return nil, errAttempts(v.RetryAfter)
		}
		spent = append(spent, func() error { return l.guard.Refund(m.ChannelID, m.User.ID, v.At, 1, now) })
	}
	return giveBack, nil
}

func errAttempts(wait time.Duration) error {
	return refuse(http.StatusTooManyRequests, "Too many wrong tokens from your address. Try again later, or use a sign-in link (\"chatguard signin\" prints one) "+
		"or a named token, which get in all the same.").after(wait)
}

// attempt is one of an address's in the Guards' words.
func attempt(id string, now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: "sign-in", User: chatguard.User{ID: id}, SentAt: now}
}
