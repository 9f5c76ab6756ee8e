package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	yield   time.Duration // how long a node that has its part leaves a free lease to others
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
// If there are several tasks, each node takes its part: the number of tasks divided by that of the
// nodes that run a Leadership, rounded up. It takes more only if a lease has been free for 4 s. A
// lease isn't taken away from a node that renews it. The nodes know of each other by [Store.Run].
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

// errLostReply means that an earlier attempt has succeeded without a reply. The next attempt knows
// what is stored.
var errLostReply = errors.New("the reply to an earlier attempt was lost")

// term is the time in which a node leads.
type term struct {
	fence int64
	until time.Time // with a monotonic reading
}

// Lead returns the Leadership of a task with this name, for example a channel's ID. It does nothing
// until its Run is called.
func (s *Store) Lead(name string) *Leadership {
	return &Leadership{leases: s.leases, writer: s.writer, name: name, holder: escape(s.server.options.Node) + " " + rand.Text() + " ", times: usualLease}
}

// Leading reports whether this node leads. fence is the fencing number: it grows by one whenever
// another node becomes the leader. The node leads until the given time, or longer if the lease is
// renewed; compare it with time.Now.
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

// SetJudgedUntil notes that this node, as far as it leads, has handled all messages that were sent
// before t. The times should come from one clock for all nodes, such as the chat's. A node that
// doesn't lead should call it too: what it notes is stored as soon as it leads.
func (l *Leadership) SetJudgedUntil(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judged = t
}

// JudgedUntil returns until when the previous leader may have handled messages, or zero if it has
// noted nothing. It is meaningful while this node leads. It is what the previous leader has noted
// last if it has released the lease. If it was interrupted, it is 10 s later than what it noted
// before its last renewal, because it may have led for so long.
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
	l.leases.run(1)
	defer l.leases.run(-1)
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

// step renews the lease, or takes it if it is free.
func (l *Leadership) step(ctx context.Context, now time.Time) (err error) {
	if l.lead != "" {
		err = l.renew(ctx, now)
	} else {
		err = l.take(ctx, now)
	}
	l.updateHeld()
	if err != nil && ctx.Err() == nil {
		l.writer.server.options.Logger.Debug("redisstore: the lease can't be renewed", "name", l.name, "problem", err)
	}
	return err
}

// record is what is stored at the lease; the last part makes it unique.
func (l *Leadership) record() string {
	return l.holder + strconv.FormatInt(l.writer.server.since(), 10)
}

// take becomes the leader if nobody is. The lease is taken first; then only its holder increments
// the fencing number.
func (l *Leadership) take(ctx context.Context, began time.Time) error {
	if ok, err := l.mayTake(ctx, began); !ok {
		return err
	}
	w, lead := l.writer, l.record()
	stored, done, err := w.compareAndSet(ctx, w.server.keys.lead(l.name), "", lead, l.times.expires)
	if err != nil {
		return err // if the lease was taken, it expires
	}
	if !done && !strings.HasPrefix(stored, l.holder) {
		l.isHeld(stored)
		return nil
	}
	if !done { // an earlier attempt has succeeded, which may expire sooner
		l.lead = stored
		return errLostReply
	}
	l.lead, l.renewed = lead, began
	return l.begin(ctx)
}

// begin increments the fencing number after this node has taken the lease.
func (l *Leadership) begin(ctx context.Context) error {
	w := l.writer
	led, err := w.server.readOne(ctx, l.name, w.server.keys.led)
	if err != nil {
		return l.giveUp(err)
	}
	fence, judged, err := parseLed(led)
	if err != nil {
		return l.giveUp(err)
	}
	next := formatLed(fence+1, max(judged, l.judgedWithin(l.times.held)))
	if _, done, err := w.compareAndSet(ctx, w.server.keys.led(l.name), led, next, 0); err != nil || !done {
		return l.giveUp(err)
	}
	l.led = next
	l.predecessor.Store(judged)
	l.current.Store(&term{fence: fence + 1, until: l.renewed.Add(l.times.held)})
	return nil
}

// renew extends the lease and stores how far this node has judged.
func (l *Leadership) renew(ctx context.Context, began time.Time) error {
	w := l.writer
	next := l.record()
	stored, done, err := w.compareAndSet(ctx, w.server.keys.lead(l.name), l.lead, next, l.times.expires)
	if err != nil {
		if began.Sub(l.renewed) > l.times.expires {
			return l.giveUp(err)
		}
		return err
	}
	if !done {
		if strings.HasPrefix(stored, l.holder) {
			l.lead = stored
			return errLostReply
		}
		return l.giveUp(nil)
	}
	l.lead, l.renewed = next, began
	t := l.current.Load()
	if t == nil {
		return l.begin(ctx)
	}
	if err := l.storeJudged(ctx, t.fence, l.times.held); err != nil {
		return err
	}
	l.current.Store(&term{fence: t.fence, until: began.Add(l.times.held)})
	return nil
}

// judgedWithin returns how far this node may have judged a duration from now, in Unix milliseconds,
// or 0 if it has noted nothing.
func (l *Leadership) judgedWithin(d time.Duration) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.judged.IsZero() {
		return 0
	}
	return l.judged.Add(d).UnixMilli()
}

// storeJudged stores how far this node may judge before it stops leading, which is a duration from
// now.
func (l *Leadership) storeJudged(ctx context.Context, fence int64, left time.Duration) error {
	judged := l.judgedWithin(left)
	if judged == 0 {
		return nil
	}
	next := formatLed(fence, judged)
	if next == l.led {
		return nil
	}
	stored, done, err := l.writer.compareAndSet(ctx, l.writer.server.keys.led(l.name), l.led, next, 0)
	if err != nil {
		return err
	}
	if !done {
		if other, _, err := parseLed(stored); err == nil && stored != "" && other == fence {
			l.led = stored
			return errLostReply
		}
		return l.giveUp(errors.New("another node has the fencing number"))
	}
	l.led = next
	return nil
}

// giveUp stops leading. The lease, if this node still has it, expires.
func (l *Leadership) giveUp(err error) error {
	l.current.Store(nil)
	l.lead, l.led = "", ""
	return err
}

// release frees the lease, so that another node can take it. The end of Run's context may have cut
// off a renewal whose reply is then lost. The first attempt finds out what it has stored.
func (l *Leadership) release(ctx context.Context) error {
	w, lead := l.writer, l.lead
	var err error
	if fence, _, parsed := parseLed(l.led); parsed == nil && l.led != "" {
		if err = l.storeJudged(ctx, fence, 0); errors.Is(err, errLostReply) {
			err = l.storeJudged(ctx, fence, 0)
		}
	}
	l.giveUp(nil)
	l.updateHeld()
	stored, done, released := w.compareAndSet(ctx, w.server.keys.lead(l.name), lead, "", 0)
	if released == nil && !done && strings.HasPrefix(stored, l.holder) {
		_, _, released = w.compareAndSet(ctx, w.server.keys.lead(l.name), stored, "", 0)
	}
	return errors.Join(err, released)
}

// formatLed is what stays when a lease expires: the fencing number, and how far its holder has
// judged, in Unix milliseconds.
func formatLed(fence, judged int64) string { return fmt.Sprintf("%d %d", fence, judged) }

func parseLed(text string) (fence, judged int64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	first, second, _ := strings.Cut(text, " ")
	fence, err1 := strconv.ParseInt(first, 10, 64)
	judged, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, errors.New("redisstore: the fencing number wasn't written by this package: delete it at the server")
	}
	return fence, judged, nil
}
