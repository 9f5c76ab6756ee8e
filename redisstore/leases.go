package redisstore

import (
	"context"
	"errors"
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

// sighting is what a node that doesn't lead has seen of the lease.
type sighting struct {
	looked   bool // lead and led are what was stored at the last look
	lead     string
	led      string
	changed  time.Time // when another node was last seen to renew, or the server was away
	fence    int64     // the highest one, while a lease was stored
	judged   int64     // the highest one
	released bool      // the lease was released since
	foreign  string    // what was last logged
}

// read returns what is stored: the lease, and what formatLed has written.
func (l *Leadership) read(ctx context.Context) (lead, led string, err error) {
	server := l.writer.server
	ctx, cancel := withTimeout(ctx, server.options.Timeout)
	defer cancel()
	keys := []string{server.keys.lead(l.name), server.keys.led(l.name)}
	texts, err := server.readAll(ctx, keys, func(key string) string { return key })
	if err != nil {
		return "", "", err
	}
	return texts[0], texts[1], nil
}

// look reads the lease. It returns what is stored, and whether this node may take it: no other node
// has it, or the other one hasn't renewed it for as long as a lease lasts. A lease that has
// disappeared may be lost. Its leader then stores it again.
func (l *Leadership) look(ctx context.Context, now time.Time) (lead string, free bool, err error) {
	s := &l.seen
	lead, led, err := l.read(ctx)
	if err != nil {
		return "", false, err
	}
	fence, judged := l.parseLed(led)
	s.judged = max(s.judged, judged)
	if s.released = lead == "" && fence > s.fence && !s.changed.IsZero(); s.released {
		s.judged = judged // exactly, unlike what was stored in case of a crash
	}
	if lead != "" {
		s.fence = max(s.fence, fence)
	}
	if own := strings.HasPrefix(lead, l.holder); !own && (lead != "" && lead != s.lead || s.looked && led != "" && led != s.led) {
		s.changed = now
		l.isHeld(lead)
	}
	s.looked, s.lead, s.led = true, lead, led
	if !s.changed.IsZero() && now.Sub(s.changed) < l.times.expires && !s.released {
		l.freeSince = time.Time{}
		server := l.writer.server
		refused := server.refusing.Load()
		if refused != nil && server.address.kind != cluster && s.changed != now && l.failure.Load() != nil {
			err = errors.New(refused.problem) // taking the lease would fail again; on a Cluster, that isn't known
		}
		return "", false, err
	}
	if s.released {
		l.other.Store(nil)
	}
	return lead, true, nil
}

// isHeld notes which other node has the lease. If lead is empty, that is the same one as before.
func (l *Leadership) isHeld(lead string) {
	if lead == "" {
		return
	}
	if parts := strings.Split(lead, " "); len(parts) == 3 {
		if name, ok := unescape(parts[0]); ok {
			l.other.Store(&name)
			return
		}
	}
	l.other.Store(nil)
	l.foreign(l.writer.server.keys.lead(l.name), lead, "no node has written this")
}

// updateHeld corrects the count of leases after this node has tried to take or renew the lease.
func (l *Leadership) updateHeld() {
	if l.holds {
		l.freeSince, l.seen.looked, l.seen.lead, l.seen.changed = time.Time{}, false, "", time.Time{}
		l.other.Store(nil)
	} else if l.reserved {
		l.reserved = false
		l.leases.free()
	}
}
