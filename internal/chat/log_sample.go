package chat

import (
	"log/slog"
	"sync"
	"time"
)

// logSampler logs some of the warnings, because a flood causes thousands. It logs one of each kind
// per minute, with the number of warnings left out.
type logSampler struct {
	logger *slog.Logger
	now    func() time.Time

	mu    sync.Mutex
	kinds map[string]*logKind
}

// logKind is the state of one kind of warning.
type logKind struct {
	at    time.Time // last written
	count int       // left out since then
}

const (
	sampleEvery = time.Minute
	maxLogKinds = 256 // maximum number of kinds remembered
)

// allow reports whether to write a warning of this kind now, and how many of the kind were left
// out.
func (c *logSampler) allow(kind string, now time.Time) (write bool, others int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil || len(c.kinds) > maxLogKinds {
		c.kinds = map[string]*logKind{}
	}
	known := c.kinds[kind]
	if known != nil && now.Sub(known.at) < sampleEvery {
		known.count++
		return false, 0
	}
	if known != nil {
		others = known.count
	}
	c.kinds[kind] = &logKind{at: now}
	return true, others
}

// warn logs a warning, unless one of the same kind was logged less than a minute ago. The text is
// also the kind.
func (c *logSampler) warn(what string, args ...any) { c.warnKind(what, what, args...) }

// warnKind is like warn, for a warning whose kind is more specific than its text.
func (c *logSampler) warnKind(kind, what string, args ...any) {
	if write, others := c.allow(kind, c.now()); write {
		c.logger.Warn(what, append(args, "similar_left_out", others)...)
	}
}
