package chat

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Times that matter when another node takes over.
const (
	// UsualGap is how long a channel has no leader at most, when one node takes the place of
	// another, or when nodes start.
	UsualGap = 15 * time.Second
	// standbyKeeps is how long a standby keeps messages. It exceeds UsualGap.
	standbyKeeps = 25 * time.Second
	// judgedMargin is how long after its recorded time the predecessor may have judged messages,
	// because a message reaches two nodes at different times.
	judgedMargin = 2 * time.Second
	// standbyLooks is how often a channel checks whether this node leads.
	standbyLooks = 250 * time.Millisecond
)

const (
	maxStandby = 10_000 // messages kept in a channel
	maxPassed  = 256    // messages passed on before the lease is looked at again
)

// standbyChannel is the queue of a channel. If this node leads, run passes the messages on.
// Otherwise, the queue keeps the newest ones.
type standbyChannel struct {
	id       string
	lease    Lease
	log      *slog.Logger
	received chan struct{} // has an element if a message was added since run looked

	mu      sync.Mutex
	leads   bool      // this node acts
	fence   int64     // of its lease, see Lease
	vacant  time.Time // since when no node acts; zero if one does
	trouble string    // what logTrouble has found last
	queue   []keptMessage
	dropped int // messages that had no room while this node leads
	// newest is the latest time on the chat's clock. The message with this time was received at
	// newestAt.
	newest, newestAt time.Time

	batch []Message // used only by run
}

type keptMessage struct {
	message        Message
	read, received time.Time
}

// add adds a message to the queue. If the queue is full, it drops the oldest.
func (c *standbyChannel) add(m *Message, read, now time.Time) {
	c.mu.Lock()
	if m.SentAt.After(c.chatTime(now)) {
		c.newest, c.newestAt = m.SentAt, now
	}
	if len(c.queue) == maxStandby {
		c.queue = c.queue[1:]
		if c.leads {
			c.dropped++
		}
	}
	c.queue = append(c.queue, keptMessage{*m, read, now})
	c.mu.Unlock()
	WakeUp(c.received)
}

// chatTime estimates the chat's clock from the times of messages. The caller holds mu.
func (c *standbyChannel) chatTime(now time.Time) time.Time {
	return c.newest.Add(now.Sub(c.newestAt))
}

// run passes on messages until ctx ends.
func (c *standbyChannel) run(ctx context.Context, sink Sink) {
	tick := time.NewTicker(standbyLooks)
	defer tick.Stop()
	for ctx.Err() == nil {
		if read, messages := c.next(time.Now()); len(messages) > 0 {
			sink.Messages(read, messages)
			clear(messages) // release the lines
			continue
		}
		select {
		case <-c.received:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// next returns the next messages to pass on, or none if this node doesn't lead. It first records
// them as judged, because a message may be missed, but must never be judged twice. read is when the
// first of them was read. The result is valid until the next call.
func (c *standbyChannel) next(now time.Time) (read time.Time, messages []Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fence, _, leads := c.lease.Leading()
	c.change(fence, leads, now)
	if !leads {
		c.forgetOld(now)
	}
	if !leads || len(c.queue) == 0 {
		// A standby notes the time too, in case it gets the lease and crashes soon after.
		c.lease.SetJudgedUntil(c.chatTime(now))
		return time.Time{}, nil
	}
	if c.dropped > 0 {
		c.log.Warn("messages aren't judged, because the channel's queue was full", "channel", c.id, "messages", c.dropped)
		c.dropped = 0
	}
	n, read := min(len(c.queue), maxPassed), c.queue[0].read
	c.batch = c.batch[:0]
	for i := range c.queue[:n] {
		c.batch = append(c.batch, c.queue[i].message)
	}
	c.queue = slices.Delete(c.queue, 0, n)
	c.lease.SetJudgedUntil(c.chatTime(now))
	return read, c.batch
}

// change updates whether this node leads. A new leader continues with the messages that its
// predecessor can't have judged. The caller holds mu.
func (c *standbyChannel) change(fence int64, leads bool, now time.Time) {
	defer c.logTrouble(now)
	if leads || c.lease.Leader() != "" {
		c.vacant = time.Time{}
	} else if c.vacant.IsZero() {
		c.vacant = now
	}
	if !leads {
		if c.leads {
			c.log.Warn("this node doesn't act in the channel any more", "channel", c.id, "leader", c.lease.Leader())
		}
		c.leads = false
		return
	}
	if c.leads && fence == c.fence {
		return
	}
	c.leads, c.fence, c.dropped = true, fence, 0
	sure, after := c.lease.JudgedUntil()
	if !after.IsZero() {
		after = after.Add(judgedMargin)
	}
	c.forgetOld(now)
	unknown := 0 // messages that may have been judged
	c.queue = slices.DeleteFunc(c.queue, func(k keptMessage) bool {
		if k.message.SentAt.After(after) {
			return false
		}
		if k.message.SentAt.After(sure) {
			unknown++
		}
		return true
	})
	c.log.Info("this node acts in the channel now", "channel", c.id, "fence", fence, "kept", len(c.queue), "unknown", unknown)
}

// logTrouble logs once that no node acts, or that this one acts without the lease, if that is no
// usual change of nodes. The caller holds mu.
func (c *standbyChannel) logTrouble(now time.Time) {
	since, problem := c.lease.Problem()
	trouble := ""
	switch {
	case !c.vacant.IsZero() && now.Sub(c.vacant) >= UsualGap:
		trouble, since = "nobody moderates the channel", c.vacant
	case c.leads && problem != "" && now.Sub(since) >= UsualGap:
		trouble = "this node moderates the channel alone"
	}
	if trouble != "" && trouble != c.trouble {
		c.log.Warn(trouble, "channel", c.id, "since", since, "problem", problem)
	} else if trouble == "" && c.trouble != "" {
		c.log.Info("a node moderates the channel, and the others know of it", "channel", c.id, "leader", c.lease.Leader())
	}
	c.trouble = trouble
}

// forgetOld removes the messages that are too old to be judged. The caller holds mu.
func (c *standbyChannel) forgetOld(now time.Time) {
	old := 0
	for old < len(c.queue) && now.Sub(c.queue[old].received) >= standbyKeeps {
		old++
	}
	c.queue = slices.Delete(c.queue, 0, old)
}
