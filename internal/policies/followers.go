package policies

import (
	"slices"
	"sync"

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
	// Silenced reports a user of a channel whose timeout or ban, as the chat knows it, has changed.
	// It is the only report that people's changes elsewhere cause. login may be empty.
	Silenced(channelID, userID, login string)
}

// Followers are notified of changes. The zero value has none. It is safe for concurrent use.
type Followers struct {
	mu       sync.Mutex
	all      []Follower
	watchers []func(journal.Audit)
}

// Follow adds a follower, which is notified from now on.
func (f *Followers) Follow(one Follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
}

// Watch adds a func that is called for each change on this node once the change is in force,
// whether a person or chatguard itself made it. A Follower is also notified of changes on other
// nodes. The argument is the change's record in the audit, without its ID. The func must not block
// or change anything itself.
func (f *Followers) Watch(watch func(journal.Audit)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = append(f.watchers, watch)
}

// Notify calls each with every follower.
func (f *Followers) Notify(each func(Follower)) {
	f.mu.Lock()
	all := slices.Clone(f.all)
	f.mu.Unlock()
	for _, one := range all {
		each(one)
	}
}

// Made calls the watchers.
func (f *Followers) Made(a journal.Audit) {
	f.mu.Lock()
	all := slices.Clone(f.watchers)
	f.mu.Unlock()
	for _, watch := range all {
		watch(a)
	}
}
