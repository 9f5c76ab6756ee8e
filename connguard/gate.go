package connguard

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/chatguard/chatguard"
)

// noLimit is the algorithm of NoLimit.
const noLimit chatguard.Algorithm = "none"

// NoLimit as Options.Connects or Options.ConnectsPerAddress means that connecting isn't limited. It
// isn't a valid limit of a chatguard.Policy.
func NoLimit() chatguard.Limit { return chatguard.Limit{Algorithm: noLimit} }

// connectorsMemory is the number of bytes for recording how often users and addresses connect:
// enough for 100,000 addresses.
const connectorsMemory = 16 << 20

// connectsChannel is the channel in which connection attempts count.
const connectsChannel = "connections"

// gate limits the connections of each user, address or block: how often they are opened, and how
// many are open at once. It doesn't limit connections with an empty ID.
type gate struct {
	connects *chatguard.Guard // nil: connecting isn't limited
	most     int              // maximum open at once; negative: unlimited
	open     map[string]int   // open connections by ID; the Door's mutex guards it
}

// newGate returns a gate that allows no more than most open connections of one ID at once. field is
// the name of the field that contains the limit, and guard the one that judges messages: the limit
// may have numbers for the roles of its policy.
func newGate(field string, limit, otherwise chatguard.Limit, most int, guard *chatguard.Guard) (gate, error) {
	if reflect.ValueOf(limit).IsZero() {
		limit = otherwise
	}
	g := gate{most: most, open: map[string]int{}}
	switch limit.Algorithm {
	case noLimit:
		return g, nil
	case chatguard.LeakyBucket:
		return g, fmt.Errorf("connguard: Options.%s: a leaky-bucket would delay connections, which isn't possible: use a token-bucket", field)
	}
	limit.Name = cmp.Or(limit.Name, otherwise.Name)
	var err error
	g.connects, err = chatguard.New(chatguard.Policy{Roles: guard.Policy().Roles, Limits: []chatguard.Limit{limit}},
		&chatguard.Options{Now: guard.Now, MaxMemory: connectorsMemory})
	if err != nil {
		err = fmt.Errorf("connguard: Options.%s: %w", field, err)
	}
	return g, err
}

// connect spends one connection attempt of a user. It does nothing if the user has no ID, or if
// connecting isn't limited. The error is a *ThrottledError or one of Check's errors.
func (g *gate) connect(ctx context.Context, user chatguard.User, now time.Time) error {
	if user.ID == "" || g.connects == nil {
		return nil
	}
	v, err := g.connects.Check(ctx, chatguard.Message{ChannelID: connectsChannel, User: user, SentAt: now})
	if err == nil && !v.Allowed {
		err = &chatguard.ThrottledError{Verdict: v}
	}
	return err
}

// isFull reports whether no more connections of an ID may be open.
func (g *gate) isFull(id string) bool {
	return id != "" && g.most >= 0 && g.open[id] >= g.most
}

// enter counts a connection as open.
func (g *gate) enter(id string) {
	if id != "" {
		g.open[id]++
	}
}

// leave undoes enter.
func (g *gate) leave(id string) {
	if id == "" {
		return
	}
	if g.open[id]--; g.open[id] == 0 {
		delete(g.open, id)
	}
}

// blockFactor is the ratio of the limit for an IPv6 /48 to the limit for one address.
const blockFactor = 8

// blockLimit returns the limit for a block of addresses, given the limit for one address. The zero
// Limit stays zero. What a Policy accepts stays acceptable.
func blockLimit(limit chatguard.Limit) chatguard.Limit {
	most := math.MaxInt32
	switch limit.Algorithm {
	case chatguard.SlidingLog:
		most = 1024
	case chatguard.Cascade:
		most /= 2 // for each bucket
	}
	for _, count := range []*int{&limit.Burst, &limit.ExtraBurst, &limit.Messages} {
		*count = max(*count, min(*count, most/blockFactor)*blockFactor)
	}
	for _, refill := range []*time.Duration{&limit.Refill, &limit.ExtraRefill} {
		*refill = min(*refill, max(*refill/blockFactor, time.Microsecond))
	}
	limit.Roles = nil // an address has no roles
	return limit
}
