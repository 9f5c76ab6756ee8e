package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/chatguard/chatguard"
)

// Part returns a node's part of a policy, so that all nodes together allow at most what the policy
// does, if their shares add up to at most 1. A share is above 0, up to 1. Part multiplies each
// limit's burst, messages, reserve or places (the queue and the message that isn't waiting) by the
// share, and rounds down. It divides the refill of a token-bucket and the interval of a
// leaky-bucket by the share, and rounds up. A cascade's buckets change as token-buckets. The
// numbers of roles change in the same way; the rest of the policy stays.
//
// The error names a limit of which the node would get less than one message.
func Part(p chatguard.Policy, share float64) (chatguard.Policy, error) {
	p = p.Clone()
	for i := range p.Limits {
		l := &p.Limits[i]
		if err := takePart(l, share); err != nil {
			return p, fmt.Errorf("limit %q: %w", l.Name, err)
		}
	}
	return p, nil
}

// takePart replaces a limit by its part.
func takePart(l *chatguard.Limit, share float64) error {
	part := partOf{share: share}
	whole := *l
	switch l.Algorithm {
	case chatguard.TokenBucket:
		l.Burst, l.Refill = part.count(l.Burst), part.interval(l.Refill)
	case chatguard.Cascade:
		l.Burst, l.Refill = part.count(l.Burst), part.interval(l.Refill)
		l.ExtraBurst, l.ExtraRefill = part.count(l.ExtraBurst), part.interval(l.ExtraRefill)
	case chatguard.LeakyBucket:
		l.Queue, l.Every = part.count(l.Queue+1)-1, part.interval(l.Every)
	default:
		l.Messages = part.count(l.Messages)
	}
	for _, role := range slices.Sorted(maps.Keys(l.Roles)) {
		o := l.Roles[role]
		o.Burst, o.Messages, o.Refill = part.count(o.Burst), part.count(o.Messages), part.interval(o.Refill)
		o.ExtraBurst, o.ExtraRefill = part.count(o.ExtraBurst), part.interval(o.ExtraRefill)
		if o.Queue != 0 {
			o.Queue = part.count(max(0, o.Queue)+1) - 1
			if o.Queue == 0 {
				o.Queue = chatguard.NoQueue
			}
		}
		l.Roles[role] = o
	}
	l.Reserve = min(int(float64(l.Reserve)*share+1e-9), max(0, leastCapacity(*l)-1))
	if part.none {
		return fmt.Errorf("a share of %v is less than one message: raise the share, the limit, or leave out the limit%s", share, holder(whole))
	}
	if part.endless {
		return errors.New("a share of it refills too slowly: raise the share")
	}
	return nil
}

// leastCapacity returns the capacity of a limit for the users who have the least.
func leastCapacity(l chatguard.Limit) int {
	capacity := func(o chatguard.Override) int {
		switch l.Algorithm {
		case chatguard.TokenBucket:
			return cmp.Or(o.Burst, l.Burst)
		case chatguard.LeakyBucket:
			return max(0, cmp.Or(o.Queue, l.Queue)) + 1
		}
		return cmp.Or(o.Messages, l.Messages)
	}
	least := capacity(chatguard.Override{})
	for _, o := range l.Roles {
		least = min(least, capacity(o))
	}
	return least
}

// holder explains, for a leaky-bucket, why its number of messages differs from its queue. It is
// empty for other limits.
func holder(l chatguard.Limit) string {
	if l.Algorithm == chatguard.LeakyBucket {
		return " (a leaky-bucket has one message more than its queue)"
	}
	return ""
}

// partOf computes parts of a limit's numbers.
type partOf struct {
	share   float64
	none    bool // a part is less than one message
	endless bool // an interval is too long
}

// count returns the part of a number of messages. 0 stays 0: it means that the number isn't set.
func (p *partOf) count(n int) int {
	if n == 0 {
		return 0
	}
	part := int(float64(n)*p.share + 1e-9) // 0.1 of 30 is 3, although 0.1 has no exact form
	p.none = p.none || part < 1
	return part
}

// interval returns the interval for a part of the messages.
func (p *partOf) interval(d time.Duration) time.Duration {
	part := math.Ceil(float64(d)/p.share - 1e-3)
	if part > float64(math.MaxInt64/2) {
		p.endless = true
		return d
	}
	return time.Duration(part)
}

// Part returns this node's part of a policy of the configuration: the whole policy, unless each
// node has a share.
func (s Shared) Part(p chatguard.Policy) (chatguard.Policy, error) {
	if s.Mode != ShareShares {
		return p, nil
	}
	return Part(p, s.Share)
}

// CheckParts returns an error unless this node can have its part of every policy of another
// configuration.
func (s Shared) CheckParts(c Config) error {
	if _, err := s.Part(c.Policy); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		if _, err := s.Part(c.Channels[name]); err != nil {
			return fmt.Errorf("%s: %w", place{"channel", name}, err)
		}
	}
	return nil
}
