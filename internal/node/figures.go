package node

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// describe sets what the store can't know of this node. It is called each second.
func (n *Node) describe(described *shared.Node, now time.Time) {
	n.name.Store(described.Name)
	described.Address, described.MessagesPerSecond = n.address, n.figures.perSecond(now)
	if fraction, ok := n.figures.overshoot(now, described.Counts); ok && described.Mode == shared.Synchronised {
		described.Overshoot = &fraction
	}
}

// Name returns this node's name among several nodes. It is empty if this node is alone, or has just
// started.
func (n *Node) Name() string {
	name, _ := n.name.Load().(string)
	return name
}

// figures counts the verdicts of a node that shares limits. It is safe for concurrent use.
type figures struct {
	judged, spent atomic.Int64 // messages, and the part of their cost that was spent

	mu      sync.Mutex
	rated   mark   // the last call of perSecond
	minutes []mark // of the last hour, oldest first, at least one minute apart
}

// mark has the values of the counters at a time.
type mark struct {
	at                       time.Time
	judged, spent, overdrawn int64
}

// observe counts a verdict. It is an observer of the Guard.
func (f *figures) observe(_ chatguard.Message, v chatguard.Verdict) {
	f.judged.Add(1)
	f.spent.Add(int64(v.Spent))
}

// perSecond returns how many messages per second were judged since the last call.
func (f *figures) perSecond(now time.Time) (rate float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	judged := f.judged.Load()
	if elapsed := now.Sub(f.rated.at).Seconds(); !f.rated.at.IsZero() && elapsed > 0 {
		rate = float64(judged-f.rated.judged) / elapsed
	}
	f.rated = mark{at: now, judged: judged}
	return rate
}

// overshoot returns how many messages exceeded the limits in the last hour, as a fraction of the
// allowed messages. ok is false if none were allowed. Call it at least once per minute.
func (f *figures) overshoot(now time.Time, sharing shared.Counts) (fraction float64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	is := mark{at: now, spent: f.spent.Load(), overdrawn: sharing.Overdrawn}
	if n := len(f.minutes); n == 0 || now.Sub(f.minutes[n-1].at) >= time.Minute {
		f.minutes = append(f.minutes, is)
	}
	f.minutes = slices.DeleteFunc(f.minutes, func(m mark) bool { return now.Sub(m.at) > time.Hour })
	first := f.minutes[0]
	if is.spent == first.spent {
		return 0, false
	}
	return float64(is.overdrawn-first.overdrawn) / float64(is.spent-first.spent), true
}
