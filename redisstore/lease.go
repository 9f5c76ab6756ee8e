package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// leaseTimes are the durations of a lease.
type leaseTimes struct {
	expires time.Duration // how long the others wait after they last saw a renewal
	held    time.Duration // how long the leader acts after an attempt to renew began
	poll    time.Duration // between two attempts to renew the lease, or two looks at it
	attempt time.Duration // how long an attempt may take, if Options.Timeout is longer
	alone   time.Duration // how long the server must be silent before a node acts without a lease
	yield   time.Duration // how long a node with its share of leases leaves a free one to others
	meet    time.Duration // until a new node and the others know of each other
}

var usualLease = leaseTimes{
	expires: 10 * time.Second, held: 5 * time.Second, poll: time.Second, attempt: time.Second, alone: 5 * time.Second, yield: 4 * time.Second,
	meet: 2*heartbeatEvery + heartbeatEvery/2,
}

// Leadership is the lease of a task that one node should do at a time, such as acting in a channel.
// Create one with Store.Lead. It is safe for concurrent use.
//
// The leader renews the lease each second. It stops leading 5 s after its last attempt began, and
// another node leads 10 s after it saw the last renewal at the earliest. Both judge by their own
// monotonic clocks. On Linux, these go on while the machine is suspended. Elsewhere, or if a
// virtual machine is paused, a leader may act for up to 5 s afterwards, or until it reaches the
// server.
//
// Check [Leadership.Leading] directly before each action, because the process may have been paused,
// and let an action take less than 5 s.
//
// While the server is away or refuses changes, nobody can take the lease. So the leader goes on,
// and so does a node that knows of no other leader, after 5 s. If only this node is cut off,
// another one takes the lease, and two nodes lead until this one reaches the server again. So let
// it be harmless that two nodes do the task. [Leadership.Problem] says why a node leads alone.
//
// If the server has lost the lease, the leader stores it again. The others wait 10 s for that.
//
// If there are several tasks, each node takes its share: the number of tasks divided by the number
// of nodes that run a Leadership, rounded up. It takes more only if a lease has been free for 4 s.
// A lease isn't taken away from a node that renews it.
//
// Run [Store.Run] too: through it the nodes know of each other, and that the server makes changes
// again.
type Leadership struct {
	leases      *leases
	writer      *writer
	name        string
	holder      string // unique: what the record begins with
	times       leaseTimes
	current     atomic.Pointer[term]    // nil without a lease
	failure     atomic.Pointer[failure] // nil if the last attempt succeeded
	predecessor atomic.Pointer[judged]  // nil: unknown

	mu     sync.Mutex
	judged time.Time

	other atomic.Pointer[string] // name of the node that has the lease, as last seen

	// Only Run uses the following fields.

	holds     bool   // this node has the lease, or had it and stores it again
	begun     bool   // what is stored as led has this node's fencing number
	lead, led string // what is stored, as this node knows it
	fence     int64  // of this node's last term
	seen      sighting
	freeSince time.Time // since when nobody has the lease; zero if somebody has
	reserved  bool      // counted in leases.held
}

// Lead returns the Leadership of a task with this name, for example a channel's ID. It does nothing
// until its Run is called.
func (s *Store) Lead(name string) *Leadership {
	return &Leadership{leases: s.leases, writer: s.writer, name: name, holder: escape(s.server.options.Node) + " " + rand.Text() + " ", times: usualLease}
}

// Leading reports whether this node leads. fence is the fencing number: it grows whenever a node
// takes the lease, even if the same node had it before. It is 0 if this node leads without having
// had the lease. The node leads until the given time, or longer if the lease is renewed; compare it
// with time.Now.
func (l *Leadership) Leading() (fence int64, until time.Time, ok bool) {
	fence, until = l.leads()
	now, slept := l.now()
	if !now.Before(until) {
		return 0, time.Time{}, false
	}
	return fence, until.Add(-slept), true
}

// leads returns the fencing number, and until when this node leads without a break. It may have
// gone on without being able to renew its lease.
func (l *Leadership) leads() (fence int64, until time.Time) {
	if t := l.current.Load(); t != nil {
		fence, until = t.fence, t.until
	}
	if f := l.failure.Load(); f != nil && f.leads && until.Before(f.until) {
		until = f.until
	}
	return fence, until
}

// now returns the time on the lease's clock, which is time.Now plus the time for which the machine
// was suspended.
func (l *Leadership) now() (now time.Time, slept time.Duration) {
	now, slept = time.Now(), l.writer.server.clock.wake()
	return now.Add(slept), slept
}

// Problem says since when and why the lease can't be taken or renewed. The problem is empty if it
// can. While there is one, no node can take the lease, unless only this node is cut off.
func (l *Leadership) Problem() (since time.Time, problem string) {
	f := l.failure.Load()
	if f == nil {
		return time.Time{}, ""
	}
	return f.noticed, f.problem
}

// Leader returns the name of the node that leads, as this node has last seen it. That is at most a
// few seconds ago, unless there is a Problem. It is empty if no node leads or this node's Run
// hasn't read the lease yet.
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

// JudgedUntil says how far the previous leader has handled messages: certainly all that were sent
// before sure, and maybe some that were sent before maybe. Both are zero if nothing is known. They
// are meaningful while this node leads. They are equal if the previous leader has released the
// lease. If it was interrupted, maybe is 5 s later, because it may have led for that long. The
// times stay if this node takes its own lease again.
func (l *Leadership) JudgedUntil() (sure, maybe time.Time) {
	if j := l.predecessor.Load(); j != nil {
		return j.sure, j.maybe
	}
	return time.Time{}, time.Time{}
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
		now, _ := l.now()
		err := l.step(ctx, now)
		if errors.Is(err, errRepeat) || l.writer.server.breaker.away.Load() != nil {
			sleep(ctx, probeEvery) // the lease is renewed as soon as the server is back
		} else {
			sleep(ctx, l.times.poll)
		}
	}
	l.failure.Store(nil)
	if !l.holds {
		l.current.Store(nil)
		return nil
	}
	last, cancel := withTimeout(context.WithoutCancel(ctx), lastExchange)
	defer cancel()
	return l.release(last)
}
