// Package limittest has every algorithm in its simplest form, in whole nanoseconds, for tests that
// compare what several nodes allow with what one would. It must not use the code that it checks:
// from chatguard it takes only the parameters of a limit. All messages cost 1, and all times are
// those of one clock that is never set back.
package limittest

import (
	"slices"
	"time"

	"github.com/chatguard/chatguard"
)

// Model is one node with these limits, without roles and penalties.
type Model struct {
	limits []chatguard.Limit
	usage  map[allowance]*usage
}

// allowance is a limit, by its index, and who shares it.
type allowance struct {
	limit         int
	channel, user string
}

// New returns a model of limits. Days are those of UTC.
func New(limits ...chatguard.Limit) *Model {
	m := &Model{slices.Clone(limits), map[allowance]*usage{}}
	for i := range m.limits {
		l := &m.limits[i]
		if l.Slices = max(1, l.Slices); l.Algorithm == chatguard.DailyWindow {
			l.Every = 24 * time.Hour
		}
	}
	return m
}

// Check reports whether a message is allowed. It is then spent.
func (m *Model) Check(at time.Time, channel, user string) bool {
	allowed := m.Fits(at, channel, user)
	if allowed {
		m.Spend(at, channel, user)
	}
	return allowed
}

// Fits reports whether a message would be allowed.
func (m *Model) Fits(at time.Time, channel, user string) bool {
	return m.all(channel, user, func(l *chatguard.Limit, u *usage) bool { return u.fits(l, at.UnixNano()) })
}

// Spend spends a message, even if it doesn't fit.
func (m *Model) Spend(at time.Time, channel, user string) {
	m.all(channel, user, func(l *chatguard.Limit, u *usage) bool {
		u.spend(l, at.UnixNano())
		return true
	})
}

// Below reports whether a message would be allowed by every node, however the messages so far are
// spread over the nodes. It would be allowed by one node, and no period of the limit's length has
// more messages than the limit allows. Of a cascade, the first bucket must suffice, because a node
// that knows fewer messages pays others by the second.
func (m *Model) Below(at time.Time, channel, user string) bool {
	now := at.UnixNano()
	return m.all(channel, user, func(l *chatguard.Limit, u *usage) bool {
		switch l.Algorithm {
		case chatguard.FixedWindow, chatguard.DailyWindow, chatguard.UserWindow, chatguard.SlidingWindow:
			return u.fits(l, now) && u.recent(l, now) < l.Messages
		case chatguard.Cascade:
			return u.first.fits(now, l.Burst, l.Refill)
		}
		return u.fits(l, now)
	})
}

// Period returns the time after which the first limit, if it was used up, is fully restored.
func (m *Model) Period() time.Duration {
	l := &m.limits[0]
	switch l.Algorithm {
	case chatguard.TokenBucket, chatguard.Cascade:
		return time.Duration(l.Burst)*l.Refill + time.Duration(l.ExtraBurst)*l.ExtraRefill
	case chatguard.LeakyBucket:
		return time.Duration(l.Queue+1) * l.Every
	case chatguard.SlidingWindow:
		return l.Every + l.Every/time.Duration(l.Slices)
	}
	return l.Every
}

// Capacity returns how many messages the first limit allows at once.
func (m *Model) Capacity() int {
	l := &m.limits[0]
	if l.Algorithm == chatguard.LeakyBucket {
		return l.Queue + 1
	}
	return l.Burst + l.ExtraBurst + l.Messages
}

// all calls f with each limit and the usage that a message counts in, until f returns false.
func (m *Model) all(channel, user string, f func(*chatguard.Limit, *usage) bool) bool {
	for i := range m.limits {
		key := allowance{i, channel, user}
		switch m.limits[i].Per {
		case chatguard.PerUserEverywhere:
			key.channel = ""
		case chatguard.PerChannel:
			key.user = ""
		case chatguard.PerEverywhere:
			key.channel, key.user = "", ""
		}
		if m.usage[key] == nil {
			m.usage[key] = &usage{}
		}
		if !f(&m.limits[i], m.usage[key]) {
			return false
		}
	}
	return true
}

// usage is what was spent of one allowance.
type usage struct {
	first, second bucket
	start, count  int64   // of a window
	times         []int64 // of the messages that may still count
}

func (u *usage) fits(l *chatguard.Limit, now int64) bool {
	every := int64(l.Every)
	switch l.Algorithm {
	case chatguard.TokenBucket:
		return u.first.fits(now, l.Burst, l.Refill)
	case chatguard.LeakyBucket:
		return u.first.fits(now, l.Queue+1, l.Every)
	case chatguard.Cascade:
		return u.first.fits(now, l.Burst, l.Refill) || u.second.fits(now, l.ExtraBurst, l.ExtraRefill)
	case chatguard.FixedWindow, chatguard.DailyWindow:
		return now/every*every != u.start || u.count < int64(l.Messages)
	case chatguard.UserWindow:
		return now >= u.start+every || u.count < int64(l.Messages)
	case chatguard.SlidingLog:
		return u.recent(l, now) < l.Messages
	case chatguard.SlidingWindow:
		// The oldest slice counts by the part of it that is in the window.
		slice, used := every/int64(l.Slices), int64(0)
		current := now / slice
		for _, at := range u.times {
			switch age := current - at/slice; {
			case age < int64(l.Slices):
				used += slice
			case age == int64(l.Slices):
				used += slice - now%slice
			}
		}
		return used+slice <= int64(l.Messages)*slice
	}
	panic("limittest: " + string(l.Algorithm))
}

func (u *usage) spend(l *chatguard.Limit, now int64) {
	every := int64(l.Every)
	switch l.Algorithm {
	case chatguard.TokenBucket:
		u.first.spend(now, l.Refill)
	case chatguard.LeakyBucket:
		u.first.spend(now, l.Every)
	case chatguard.Cascade:
		if u.first.fits(now, l.Burst, l.Refill) {
			u.first.spend(now, l.Refill)
		} else {
			u.second.spend(now, l.ExtraRefill)
		}
	case chatguard.FixedWindow, chatguard.DailyWindow:
		if start := now / every * every; start != u.start {
			u.start, u.count = start, 0
		}
		u.count++
	case chatguard.UserWindow:
		if now >= u.start+every {
			u.start, u.count = now, 0
		}
		u.count++
	}
	for len(u.times) > 0 && u.times[0] <= now-2*every {
		u.times = u.times[1:]
	}
	if every > 0 {
		u.times = append(u.times, now)
	}
}

// recent returns how many messages the last period of the limit's length has.
func (u *usage) recent(l *chatguard.Limit, now int64) (n int) {
	for _, at := range u.times {
		if at > now-int64(l.Every) {
			n++
		}
	}
	return n
}

// bucket counts missing tokens as time: each is a debt of one refill, which time pays off.
type bucket struct{ debt, asOf int64 }

func (b *bucket) at(now int64) int64 { return max(0, b.debt-(now-b.asOf)) }

func (b *bucket) fits(now int64, capacity int, refill time.Duration) bool {
	return b.at(now)+int64(refill) <= int64(capacity)*int64(refill)
}

func (b *bucket) spend(now int64, refill time.Duration) {
	b.debt, b.asOf = b.at(now)+int64(refill), now
}
