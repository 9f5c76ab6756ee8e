package redisstore

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// leases counts the Leaderships of a Store, so that each node takes its part of the leases.
type leases struct {
	nodes      atomic.Int64 // live nodes, including this one, as last seen
	candidates atomic.Int64 // live nodes that run a Leadership, including this one, as last seen
	tasks      atomic.Int64 // Leaderships whose Run is running

	mu   sync.Mutex
	held int // leases that this node has or is taking
}

// see counts the nodes, and those that run a Leadership.
func (t *leases) see(nodes []shared.Node) {
	var candidates int64
	for i := range nodes {
		if !nodes[i].Self && nodes[i].Tasks > 0 || nodes[i].Self && t.tasks.Load() > 0 {
			candidates++
		}
	}
	t.nodes.Store(int64(len(nodes)))
	t.candidates.Store(candidates)
}

// reserve counts a lease that is about to be taken. It returns false if this node has its part:
// tasks ÷ candidates, rounded up. If beyond is true, the node may have more.
func (t *leases) reserve(beyond bool) bool {
	candidates := max(1, int(t.candidates.Load()))
	t.mu.Lock()
	defer t.mu.Unlock()
	if part := (int(t.tasks.Load()) + candidates - 1) / candidates; candidates > 1 && t.held >= part && !beyond {
		return false
	}
	t.held++
	return true
}

// free counts a lease that this node no longer has.
func (t *leases) free() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held--
}

// mayTake reports whether to take the lease now. If this node has its part, mayTake returns false
// until the lease has been free for a while, so that another node can take it. If mayTake returns
// true, it has reserved the lease.
func (l *Leadership) mayTake(ctx context.Context, now time.Time) (bool, error) {
	leases := l.leases
	if leases.candidates.Load() > 1 {
		stored, err := l.writer.server.readOne(ctx, l.name, l.writer.server.keys.lead)
		if err != nil {
			return false, err
		}
		if stored != "" && !strings.HasPrefix(stored, l.holder) {
			l.isHeld(stored)
			return false, nil
		}
		l.other.Store(nil)
	}
	if l.freeSince.IsZero() {
		l.freeSince = now
	}
	l.reserved = leases.reserve(now.Sub(l.freeSince) >= l.times.yield)
	return l.reserved, nil
}

// isHeld notes that another node has the lease.
func (l *Leadership) isHeld(record string) {
	l.freeSince = time.Time{}
	holder, _, _ := strings.Cut(record, " ")
	if name, ok := unescape(holder); ok {
		l.other.Store(&name)
	}
}

// updateHeld corrects the count of leases after this node has tried to take or renew the lease.
func (l *Leadership) updateHeld() {
	if l.lead != "" {
		l.freeSince = time.Time{}
		l.other.Store(nil)
	} else if l.reserved {
		l.reserved = false
		l.leases.free()
	}
}
