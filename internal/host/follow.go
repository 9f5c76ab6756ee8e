package host

import (
	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/policies"
)

// Notes records verdicts and what was done about throttled messages. Its methods must not block.
type Notes interface {
	Observe(m chatguard.Message, v chatguard.Verdict)
	Report(o journal.Outcome)
}

// Follower is notified of verdicts, outcomes and people's changes. web.Server is one.
type Follower interface {
	Notes
	policies.Follower
}

// Follow adds a follower, which is notified from now on. Call it after Restore.
func (h *Host) Follow(f Follower) {
	h.observe(f)
	h.Policies.Followers.Follow(f)
}

// Report notifies the store and the followers of what the program did about a throttled message.
// Call it only if Options.Acts is set.
func (h *Host) Report(o journal.Outcome) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, to := range h.notes {
		to.Report(o)
	}
}

// observe reports every verdict to Notes. It also reports that a throttled message is dropped,
// unless the program acts on messages and reports that itself.
func (h *Host) observe(to Notes) {
	h.mu.Lock()
	h.notes = append(h.notes, to)
	h.mu.Unlock()
	if h.options.Acts {
		h.guard.AddObserver(to.Observe)
		return
	}
	h.guard.AddObserver(func(m chatguard.Message, v chatguard.Verdict) {
		to.Observe(m, v)
		if dropped, ok := journal.Dropped(v); ok {
			to.Report(dropped)
		}
	})
}
