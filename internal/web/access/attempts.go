package access

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// attempts limits guesses at the Site's token, the only secret that a person chooses. An address
// has five attempts at once, then one every 30 s. All addresses of an IPv6 /48 together have four
// times as many. A guess beyond these limits is refused, even if it is right.
type attempts struct {
	// now is a clock that ignores changes of the wall clock.
	now      func() time.Time
	limit    *AddressLimit
	rejected rejectedSecrets

	// mu is held while a guess is compared and counted, so that parallel guesses can't exceed the
	// limit.
	mu sync.Mutex
}

// The limit of guesses.
const (
	AttemptBurst  = 5                // at once, per address
	AttemptRefill = 30 * time.Second // until one more is allowed
)

func newAttempts(now func() time.Time) (*attempts, error) {
	limit, err := NewAddressLimit("attempts", AttemptBurst, AttemptRefill, now)
	return &attempts{now: now, limit: limit}, err
}

// try compares a guess with the secret if the address has attempts left. A wrong guess uses up an
// attempt. A wrong guess that the address has sent recently is refused without a comparison and
// uses up no attempt.
func (a *attempts) try(ctx context.Context, addr netip.Addr, guess string, right func(guess string) bool, wrong error) error {
	id, now := connguard.AddressKey(addr), a.now()
	if a.rejected.has(id, guess, now) {
		return wrong
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := errAttempts(a.limit.peek(ctx, addr)); err != nil {
		return err
	}
	if right(guess) {
		return nil
	}
	if err := errAttempts(a.limit.Take(ctx, addr)); err != nil {
		return err
	}
	a.rejected.remember(id, guess, now)
	return wrong
}

// isRight reports whether a guess is the secret and the address has attempts left. It uses up no
// attempt.
func (a *attempts) isRight(ctx context.Context, addr netip.Addr, guess string, right func(guess string) bool) bool {
	return right(guess) && errAttempts(a.limit.peek(ctx, addr)) == nil
}

// errAttempts returns the error for an address that has to wait before the next attempt, or err.
func errAttempts(wait time.Duration, err error) error {
	if err != nil || wait == 0 {
		return err
	}
	return problem.New(http.StatusTooManyRequests, "Too many wrong tokens from your address. Try again later, or sign in "+
		"with a named token or a link from \"chatguard signin\".").After(wait)
}
