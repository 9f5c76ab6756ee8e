package redisstore

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"
)

// leaseTimes are the durations of a lease.
type leaseTimes struct {
	expires time.Duration // when another node may lead
	held    time.Duration // how long the leader acts after a renewal began
	renew   time.Duration // between two renewals
	poll    time.Duration // how often the others read the lease, and between attempts to renew
	yield   time.Duration // how long a node with its share of leases leaves a free one to others
	meet    time.Duration // until a new node and the others know of each other
}

var usualLease = leaseTimes{
	expires: 15 * time.Second, held: 10 * time.Second, renew: 5 * time.Second, poll: time.Second, yield: 4 * time.Second,
	meet: 2*heartbeatEvery + heartbeatEvery/2,
}

// Leadership is the lease of a task that only one node may do at a time, such as acting in a
// channel. Create one with Store.Lead. It is safe for concurrent use.
//
// A leader that can't renew the lease stops leading 10 s after its last renewal began, and another
// node leads 15 s after that renewal at the earliest. The leader judges by its monotonic clock.
// Check [Leadership.Leading] directly before each action, because the process may have been paused,
// and let an action take less than 5 s.
//
// If there are several tasks, each node takes its share: the number of tasks divided by the number
// of nodes that run a Leadership, rounded up. It takes more only if a lease has been free for 4 s.
// A lease isn't taken away from a node that renews it. The nodes know of each other through
// [Store.Run].
type Leadership struct {
	leases      *leases
	writer      *writer
	name        string
	holder      string // unique: what the record begins with
	times       leaseTimes
	current     atomic.Pointer[term]
	predecessor atomic.Int64 // Unix milliseconds; 0: none

	mu     sync.Mutex
	judged time.Time

	other atomic.Pointer[string] // name of the node that has the lease, as last seen

	// Only Run uses the following fields.

	lead, led string    // what is stored, as this node knows it
	renewed   time.Time // when the last renewal began
	freeSince time.Time // since when nobody has the lease; zero if somebody has
	reserved  bool      // counted in leases.held
}

// Lead returns the Leadership of a task with this name, for example a channel's ID. It does nothing
// until its Run is called.
func (s *Store) Lead(name string) *Leadership {
	return &Leadership{leases: s.leases, writer: s.writer, name: name, holder: escape(s.server.options.Node) + " " + rand.Text() + " ", times: usualLease}
}

// Leading reports whether this node leads. fence is the fencing number: it grows by one whenever
// a node takes the lease, even if the same node had it before. The node leads until the given time,
// or longer if the lease is renewed; compare it with time.Now.
func (l *Leadership) Leading() (fence int64, until time.Time, ok bool) {
	t := l.current.Load()
	if t == nil || !time.Now().Before(t.until) {
		return 0, time.Time{}, false
	}
	return t.fence, t.until, true
}

// Leader returns the name of the node that leads, as this node has last seen it, at most a few
// seconds ago. It is empty if no node leads or this node's Run hasn't read the lease yet.
func (l *Leadership) Leader() string {
	if _, _, ok := l.Leading(); ok {
		return l.writer.server.options.Node
	}
	if other := l.other.Load(); other != nil {
		return *other
	}
	return ""
}

// SetJudgedUntil notes that this node, if it leads, has handled all messages that were sent before
// t. The times should come from one clock for all nodes, such as the chat's. A node that doesn't
// lead should call it too: what it notes is stored as soon as it leads.
func (l *Leadership) SetJudgedUntil(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judged = t
}

// JudgedUntil returns the time until which the previous leader may have handled messages, or zero
// if that leader noted nothing. The time is meaningful while this node leads. If the previous
// leader released the lease, the time is the last one that it noted. If that leader was
// interrupted, the time is the one noted before its last renewal plus 10 s, because it may have led
// for that long.
func (l *Leadership) JudgedUntil() time.Time {
	ms := l.predecessor.Load()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Run takes the lease when it is free, and renews it, until ctx ends. Then it releases the lease,
// so that another node can lead at once. Only one Run of a Leadership may be running.
func (l *Leadership) Run(ctx context.Context) error {
	l.leases.tasks.Add(1)
	defer l.leases.tasks.Add(-1)
	if l.leases.nodes.Load() > 1 {
		sleep(ctx, l.times.meet)
	}
	for ctx.Err() == nil {
		pause := l.times.poll
		if l.step(ctx, time.Now()) == nil && l.lead != "" {
			pause = l.times.renew
		}
		sleep(ctx, pause)
	}
	l.current.Store(nil)
	if l.lead == "" {
		return nil
	}
	last, cancel := withTimeout(context.WithoutCancel(ctx), lastExchange)
	defer cancel()
	return l.release(last)
}
