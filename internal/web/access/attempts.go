package access

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
	"github.com/chatguard/chatguard/internal/web/problem"
)

// attempts limits guesses at the Site's token, the only secret that a person chooses. An address
// has five attempts at once, then one every 30 s. All addresses of an IPv6 /48 together have four
// times as many. A guess beyond these limits is refused, even if it is right.
type attempts struct {
	// now is a clock that ignores changes of the wall clock.
	now      func() time.Time
	limits   []attemptLimit
	rejected rejectedSecrets

	// mu is held while a guess is compared and counted, so that parallel guesses can't exceed the
	// limit.
	mu sync.Mutex
}

// attemptLimit is a Guard that counts attempts by a part of the address. If the part is empty, the
// limit does not apply.
type attemptLimit struct {
	part  func(netip.Addr) string
	guard *chatguard.Guard
}

// The limit of guesses.
const (
	AttemptBurst  = 5                // at once, per address
	AttemptRefill = 30 * time.Second // until one more is allowed
	blockFactor   = 4                // attempts of a /48, relative to one address
)

func newAttempts(now func() time.Time) (*attempts, error) {
	single, err := newBucket("attempts", AttemptBurst, AttemptRefill)
	if err != nil {
		return nil, err
	}
	block, err := newBucket("attempts-per-block", blockFactor*AttemptBurst, AttemptRefill/blockFactor)
	return &attempts{now: now, limits: []attemptLimit{{httpguard.AddressKey, single}, {httpguard.AddressBlock, block}}}, err
}

func newBucket(name string, burst int, refill time.Duration) (*chatguard.Guard, error) {
	return chatguard.New(chatguard.Policy{
		Limits: []chatguard.Limit{{Name: name, Algorithm: chatguard.TokenBucket, Burst: burst, Refill: refill}},
	}, nil)
}

// try compares a guess with the secret if the address has attempts left. A wrong guess uses up an
// attempt. A wrong guess that the address has sent recently is refused without a comparison and
// uses up no attempt.
func (a *attempts) try(ctx context.Context, addr netip.Addr, guess string, right func(guess string) bool, wrong error) error {
	id, now := httpguard.AddressKey(addr), a.now()
	if a.rejected.has(id, guess, now) {
		return wrong
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.askEach(addr, now, peek); err != nil {
		return err
	}
	if right(guess) {
		return nil
	}
	if err := a.askEach(addr, now, func(l attemptLimit, m chatguard.Message) (chatguard.Verdict, error) { return l.guard.Check(ctx, m) }); err != nil {
		return err
	}
	a.rejected.remember(id, guess, now)
	return wrong
}

// isRight reports whether a guess is the secret and the address has attempts left. It uses up no
// attempt.
func (a *attempts) isRight(addr netip.Addr, guess string, right func(guess string) bool) bool {
	return right(guess) && a.askEach(addr, a.now(), peek) == nil
}

func peek(l attemptLimit, m chatguard.Message) (chatguard.Verdict, error) { return l.guard.Peek(m) }

// askEach calls ask for each limit of an address. If a limit is used up, the error says how long
// the address must wait.
func (a *attempts) askEach(addr netip.Addr, now time.Time, ask func(attemptLimit, chatguard.Message) (chatguard.Verdict, error)) error {
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
	return problem.New(http.StatusTooManyRequests, "Too many wrong tokens from your address. Try again later, or sign in "+
		"with a named token or a link from \"chatguard signin\".").After(wait)
}

// attempt returns the message that stands for one attempt in the Guards.
func attempt(id string, now time.Time) chatguard.Message {
	return chatguard.Message{ChannelID: "sign-in", User: chatguard.User{ID: id}, SentAt: now}
}
