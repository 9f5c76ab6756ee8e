package control

import (
	"slices"

	"github.com/chatguard/chatguard/internal/journal"
)

// Watch adds a func that is called for each change that people make on this node, and for each that
// chatguard makes here by itself, once it is in force. A Follower is also notified of changes on
// other nodes. The argument is the change's record in the audit, without its ID. The Detail of a
// changed policy is a Revised. The func must not block or change anything itself.
func (p *Policies) Watch(watch func(journal.Audit)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers = append(p.watchers, watch)
}

// made calls the watchers.
func (p *Policies) made(a journal.Audit) {
	p.mu.Lock()
	all := slices.Clone(p.watchers)
	p.mu.Unlock()
	for _, watch := range all {
		watch(a)
	}
}
