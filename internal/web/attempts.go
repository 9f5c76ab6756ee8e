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

// attempts limits failed attempts to come in per address, by a Guard of its own: five at once, then one every 30 s. Beyond that a secret that is
// right is still let in, as long as the address doesn't try too many: those who share it aren't shut out by one who fails.
type attempts struct {
	failures *chatguard.Guard
	lookUps  *chatguard.Guard // of addresses that have failed too often
	now      func() time.Time
	wrong    wrongSecrets

	mu    sync.Mutex
	turns map[string]*turn // by address, of those that are trying
}

// turn is what the attempts of one address take one after the other; in parallel they would all be heard before the first has failed.
type turn struct {
	taken  chan struct{} // holds one value while an attempt is under way
	takers int           // the attempt under way and those that wait
}

func newAttempts(now func() time.Time) (*attempts, error) {
	failures, err := newBucket("failures", 5, 30*time.Second)
	if err != nil {
		return nil, err
	}
	lookUps, err := newBucket("look-ups", 20, 10*time.Second)
	return &attempts{failures: failures, lookUps: lookUps, now: now, turns: map[string]*turn{}}, err
}

func newBucket(name string, burst int, refill time.Duration) (*chatguard.Guard, error) {
	return chatguard.New(chatguard.Policy{
		Mode:   chatguard.Enforce,
		Limits: []chatguard.Limit{{Name: name, Algorithm: chatguard.TokenBucket, Burst: burst, Refill: refill}},
	}, nil)
}

// try runs the check of a secret from an address. Once too many of the address's have failed, a wrong one is answered like one that isn't heard.
// The same wrong one again is refused without a check, and doesn't count again.
func (a *attempts) try(w http.ResponseWriter, r *http.Request, addr netip.Addr, secret string, check func() error) error {
	id := chatguard.AddressKey(addr)
	if err := a.wrong.refusal(id, secret, a.now()); err != nil {
		return err
	}
	end, err := a.begin(r.Context(), id)
	if err != nil {
		return err
	}
	defer end()
	wait, err := a.wait(r.Context(), id)
	if err != nil {
		return err
	}
	if wait.mute {
		return wait.refuse(w)
	}
	err = check()
	switch {
	case !isUnauthorized(err):
		return err
	case wait.time > 0:
		return wait.refuse(w)
	}
	if _, err := a.failures.Check(r.Context(), a.attempt(id)); err != nil {
		return err
	}
	a.wrong.remember(id, secret, err, a.now())
	return err
}

// begin waits until no other attempt of the address is under way. The caller ends its own with the func returned.
func (a *attempts) begin(ctx context.Context, id string) (end func(), err error) {
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

// waiting is what an address that has failed too often is held to. The zero value is held to nothing.
type waiting struct {
	time time.Duration // until a wrong secret is told from a right one again
	mute bool          // not even a right one is heard
}

// wait returns what the address is held to now. One that has failed too often spends a look-up.
func (a *attempts) wait(ctx context.Context, id string) (waiting, error) {
	v, err := a.failures.Peek(a.attempt(id))
	if err != nil || v.Allowed {
		return waiting{}, err
	}
	looked, err := a.lookUps.Check(ctx, a.attempt(id))
	return waiting{v.RetryAfter, !looked.Allowed}, err
}

func (t waiting) refuse(w http.ResponseWriter) error {
	seconds := int((t.time + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	return refuse(http.StatusTooManyRequests, "Too many failed sign-ins from your address. Try again in %d s.", seconds)
}

// attempt is one of an address's in the Guards' words.
func (a *attempts) attempt(id string) chatguard.Message {
	return chatguard.Message{ChannelID: "sign-in", User: chatguard.User{ID: id}, SentAt: a.now()}
}
