package web

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// attempts limits, by address, guesses at the one secret that somebody has chosen: the Site's token. An address has five at once, then one every 30 s;
// the addresses of an IPv6 /48 together have four times as many. Beyond that nothing is compared, so that not even the right token gets in from there.
type attempts struct {
	now    func() time.Time // a clock that doesn't follow the steps of the wall clock
	limits []attemptLimit
	wrong  wrongSecrets

	mu sync.Mutex // held while a guess is compared and counted: guesses in parallel count like others
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

// try compares a guess from an address with the secret, if the address may guess, and counts it if it is wrong. A wrong one that the address has sent lately is
// refused without a comparison, and doesn't count again.
func (a *attempts) try(ctx context.Context, addr netip.Addr, guess string, right func(guess string) bool, wrong error) error {
	id, now := chatguard.AddressKey(addr), a.now()
	if a.wrong.has(id, guess, now) {
		return wrong
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.each(addr, now, peek); err != nil {
		return err
	}
	if right(guess) {
		return nil
	}
	if err := a.each(addr, now, func(l attemptLimit, m chatguard.Message) (chatguard.Verdict, error) { return l.guard.Check(ctx, m) }); err != nil {
		return err
	}
	a.wrong.remember(id, guess, now)
	return wrong
}

// isRight reports whether a guess is the secret and the address may guess. It counts nothing.
func (a *attempts) isRight(addr netip.Addr, guess string, right func(guess string) bool) bool {
	return right(guess) && a.each(addr, a.now(), peek) == nil
}

func peek(l attemptLimit, m chatguard.Message) (chatguard.Verdict, error) { return l.guard.Peek(m) }

// each asks all limits of an address. The error says how long it may not guess.
func (a *attempts) each(addr netip.Addr, now time.Time, ask func(attemptLimit, chatguard.Message) (chatguard.Verdict, error)) error {
	for _, l := range a.limits {
		m := attempt(l.part(addr), now)
		if m.User.ID == "" {
			continue
		}
		v, err := ask(l, m)
		if err != nil {
			return err
		}
		if !v.Allowed {
			return errAttempts(v.RetryAfter)
		}
	}
	return nil
}

func errAttempts(wait time.Duration) error {
	return refuse(http.StatusTooManyRequests, "Too many wrong tokens from your address. Try again later, or use a sign-in link (\"chatguard signin\" prints one) "+
		"or a named token, which get in all the same.").after(wait)
}

// attempt is one of an address's in the Guards' words.
func attempt(id string, now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: "sign-in", User: chatguard.User{ID: id}, SentAt: now}
}
