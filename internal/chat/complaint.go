package chat

import (
	"sync"
	"time"
)

// complaints are warnings for the log. In a flood there are thousands: of each kind one a minute is written, which says how many there were.
type complaints struct {
	mu    sync.Mutex
	kinds map[string]*complaint
}

type complaint struct {
	at    time.Time // when it was written last
	count int       // since
}

const (
	complainEvery = time.Minute
	maxComplaints = 256 // kinds that are told apart
)

// add reports whether to write a complaint of this kind now, and how many like it weren't written.
func (c *complaints) add(kind string, now time.Time) (write bool, others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil || len(c.kinds) > maxComplaints {
		c.kinds = map[string]*complaint{}
	}
	known := c.kinds[kind]
	if known != nil && now.Sub(known.at) < complainEvery {
		known.count++
		return false, 0
	}
	if known != nil {
		others = known.count
	}
	c.kinds[kind] = &complaint{at: now}
	return true, others
}

// complain writes a warning to the log, unless one like it was written a moment ago.
func (b *Bot) complain(what string, args ...any) { b.complainOf(what, what, args...) }

// complainOf does so for a warning whose kind takes more than its text to tell.
func (b *Bot) complainOf(kind, what string, args ...any) {
	if write, others := b.complaints.add(kind, b.steady()); write {
		b.options.Logger.Warn(what, append(args, "unwritten_like_it", others)...)
	}
}
