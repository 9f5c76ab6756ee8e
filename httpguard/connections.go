package httpguard

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/chatguard/chatguard"
)

// NoLimit as SessionOptions.Connects or ConnectsPerAddress means that connecting isn't limited.
// Don't change it. It isn't a valid limit of a chatguard.Policy.
var NoLimit = chatguard.Limit{Algorithm: "none"}

// connectorsMemory is the number of bytes for recording how often users and addresses connect:
// enough for 100,000 addresses.
const connectorsMemory = 16 << 20

// gate limits the connections of each user or address: how often they are opened, and how many are
// open at once. It doesn't limit connections with an empty ID.
type gate struct {
	connects *chatguard.Guard // nil: connecting isn't limited
	now      func() time.Time // the clock of the Guard that judges messages
	most     int              // maximum open at once; negative: unlimited

	mu   sync.Mutex
	last time.Time      // when the clock was last read
	open map[string]int // open connections by ID
}

// newGate returns a gate that allows no more than most open connections of one ID at once. field is
// the name of the field that contains the limit.
func newGate(field string, limit, otherwise chatguard.Limit, most int, now func() time.Time) (*gate, error) {
	if reflect.ValueOf(limit).IsZero() {
		limit = otherwise
	}
	g := &gate{now: now, most: most, open: map[string]int{}}
	switch limit.Algorithm {
	case NoLimit.Algorithm:
		return g, nil
	case chatguard.LeakyBucket:
		return nil, fmt.Errorf("httpguard: SessionOptions.%s: a leaky-bucket would delay connections, which isn't possible: use a token-bucket", field)
	}
	limit.Name = cmp.Or(limit.Name, otherwise.Name)
	var err error
	g.connects, err = chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, &chatguard.Options{Now: now, MaxMemory: connectorsMemory})
	if err != nil {
		return nil, fmt.Errorf("httpguard: SessionOptions.%s: %w", field, err)
	}
	return g, nil
}

// blockFactor is the ratio of the limit for an IPv6 /48 to the limit for one address.
const blockFactor = 8

// blockLimit returns the limit for a block of addresses, given the limit for one address. The zero
// Limit stays zero.
func blockLimit(limit chatguard.Limit) chatguard.Limit {
	limit.Burst *= blockFactor
	if limit.Refill > 0 {
		limit.Refill = max(limit.Refill/blockFactor, 1)
	}
	limit.ExtraBurst *= blockFactor
	if limit.ExtraRefill > 0 {
		limit.ExtraRefill = max(limit.ExtraRefill/blockFactor, 1)
	}
	limit.Messages *= blockFactor
	if limit.Algorithm == chatguard.SlidingLog {
		limit.Messages = min(limit.Messages, 1024) // the maximum allowed
	}
	limit.Roles = nil // an address has no roles
	return limit
}

// connect spends one connection attempt of a user. It does nothing if the user has no ID, or if
// connecting isn't limited. The error is a *ThrottledError or one of Check's errors.
func (g *gate) connect(ctx context.Context, user chatguard.User) error {
	if user.ID == "" || g.connects == nil {
		return nil
	}
	v, err := g.connects.Check(ctx, chatguard.Message{ChannelID: MainChannel, User: user, SentAt: g.time()})
	if err == nil && !v.Allowed {
		err = &chatguard.ThrottledError{Verdict: v}
	}
	return err
}

// time reads the clock. If the clock has gone back since the last call, time rewinds the gate's
// Guard, because the Guard that owns the clock rewinds only itself.
func (g *gate) time() time.Time {
	g.mu.Lock() // so that a goroutine that is late doesn't look like a clock that has gone back
	defer g.mu.Unlock()
	now := g.now()
	if now.Before(g.last) {
		g.connects.Rewind(now)
	}
	g.last = now
	return now
}

// enter counts a connection as open, or returns false if too many are open.
func (g *gate) enter(id string) bool {
	if id == "" {
		return true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most >= 0 && g.open[id] >= g.most {
		return false
	}
	g.open[id]++
	return true
}

// leave undoes enter.
func (g *gate) leave(id string) {
	if id == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[id]--; g.open[id] == 0 {
		delete(g.open, id)
	}
}
