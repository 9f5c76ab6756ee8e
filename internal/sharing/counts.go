package sharing

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/shared"
)

// Counts returns the counters. Lost doesn't include the rows that the tables have lost.
func (s *Rows) Counts() shared.Counts {
	c := shared.Counts{
		Swaps: s.counters.swaps.Load(), Conflicts: s.counters.conflicts.Load(), FromMemory: s.counters.fromMemory.Load(), Offline: s.counters.offline.Load(),
		Unreadable: s.counters.unreadable.Load(), Healed: s.counters.healed.Load(), Overdrawn: s.counters.overdrawn.Load(), Exchanged: s.counters.exchanged.Load(), Assumed: s.counters.assumed.Load(),
	}
	if problem := s.counters.problem.Load(); problem != nil && time.Since(problem.at) < problemFor {
		c.Problem = problem.text
	}
	for i := range s.known.stripes {
		t := &s.known.stripes[i]
		t.mu.Lock()
		c.Rows += len(t.rows)
		c.Pending += t.pendingRows
		c.Lost += t.lost
		t.mu.Unlock()
	}
	return c
}

// counters are the counts that Counts can't take from the known rows.
type counters struct {
	swaps, conflicts, fromMemory, offline, unreadable, healed, overdrawn, exchanged, assumed atomic.Int64
	problem                                                                                  atomic.Pointer[rowProblem]
}

// assume counts a swap that counts as made although that isn't known.
func (c *counters) assume(assumed bool) {
	if assumed {
		c.assumed.Add(1)
	}
}

// setProblem records that a row can't be read.
func (c *counters) setProblem(key Key, err error) {
	c.problem.Store(&rowProblem{key, fmt.Sprintf("channel %q, user %q: %v", key.ChannelID, key.UserID, err), time.Now()})
}

// endProblem records that a row can be read.
func (c *counters) endProblem(key Key) {
	if problem := c.problem.Load(); problem != nil && problem.key == key {
		c.problem.CompareAndSwap(problem, nil)
	}
}

// rowProblem says why a row couldn't be read, and when that was.
type rowProblem struct {
	key  Key
	text string
	at   time.Time
}

const problemFor = 10 * time.Minute // how long Counts reports a problem
