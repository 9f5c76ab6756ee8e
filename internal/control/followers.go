package control

import (
	"slices"

	"github.com/chatguard/chatguard/internal/journal"
)

// Follower is notified of people's changes once they are in force. Its methods must not block or
// change anything themselves.
type Follower interface {
	// Revised reports a change of a channel's policy.
	Revised(journal.Revision)
	// Saved reports a channel whose policy came into force unsaved and has been saved since.
	Saved(channelID string)
	// Reloaded reports that the policies of all channels may have changed.
	Reloaded()
	// Changed reports a channel whose switches have changed.
	Changed(channelID string)
	// Amended reports a user of a channel who received a grant, a pardon or a reset, or whose
	// personal limits have changed.
	Amended(channelID, userID string)
}

// Follow adds a follower, which is notified from now on. The follower is also notified of changes
// that Controls make with these Policies.
func (p *Policies) Follow(f Follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers = append(p.followers, f)
}

func (p *Policies) notify(each func(Follower)) {
	p.mu.Lock()
	all := slices.Clone(p.followers)
	p.mu.Unlock()
	for _, f := range all {
		each(f)
	}
}
