package chatguard

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"
)

// connectorsMemory is how many bytes users, and addresses, take who are remembered for how often they connect: enough for 100,000 addresses.
const connectorsMemory = 16 << 20

// gate limits connections by whose they are: how often they are made, and how many are open at once. Those of an empty ID it lets through.
type gate struct {
	connects *Guard
	most     int // open at once; negative means any number

	mu   sync.Mutex
	open map[string]int // of those who have any
}

// newGate returns a gate that lets at most so many be open at once. Its limit is from the field of that name.
func newGate(field string, limit, otherwise Limit, most int, now func() time.Time) (*gate, error) {
	if reflect.ValueOf(limit).IsZero() {
		limit = otherwise
	}
	if limit.Algorithm == LeakyBucket {
		return nil, fmt.Errorf("MiddlewareOptions.%s: a leaky-bucket delays, and connections aren't held: take a token-bucket", field)
	}
	limit.Name = cmp.Or(limit.Name, otherwise.Name)
	connects, err := New(Policy{Mode: Enforce, Limits: []Limit{limit}}, &Options{Now: now, MaxMemory: connectorsMemory})
	if err != nil {
		return nil, fmt.Errorf("MiddlewareOptions.%s: %w", field, err)
	}
	return &gate{connects: connects, most: most, open: map[string]int{}}, nil
}

// blockFactor is how many times as much as an address the addresses of an IPv6 /48 have together.
const blockFactor = 8

// forBlock is an address's limit for a block of them; the zero Limit stays zero.
func forBlock(limit Limit) Limit {
	limit.Burst *= blockFactor
	if limit.Refill > 0 {
		limit.Refill = max(limit.Refill/blockFactor, 1)
	}
	limit.Messages *= blockFactor
	if limit.Algorithm == SlidingLog {
		limit.Messages = min(limit.Messages, 1024) // as many as there may be
	}
	limit.Roles = nil // an address has none
	return limit
}

// connect spends one connect of a user's, or returns a *ThrottledError.
func (g *gate) connect(ctx context.Context, user User) error {
	if user.ID == "" {
		return nil
	}
	v, err := g.connects.Check(ctx, Message{ChannelID: MainChannel, User: user})
	if err == nil && !v.Allowed {
		err = &ThrottledError{v}
	}
	return err
}

// enter counts a connection as open, and reports false where too many are.
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
