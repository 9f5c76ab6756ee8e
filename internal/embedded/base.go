package embedded

import (
	"context"
	"reflect"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// bases are the policies that the program gave those channels in which something else holds now, because people have changed it.
type bases struct {
	mu  sync.Mutex
	own map[string]*chatguard.Policy // by channel ID; nil where the program gave the channel none of its own
}

// note keeps what the program gave a channel, before it is changed; what was changed already is noted.
func (b *bases) note(guard *chatguard.Guard, channelID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, noted := b.own[channelID]; noted {
		return
	}
	if b.own == nil {
		b.own = map[string]*chatguard.Policy{}
	}
	policy := guard.Policy(channelID)
	if reflect.DeepEqual(policy, guard.Policy("")) {
		b.own[channelID] = nil // it goes with that of all channels
		return
	}
	b.own[channelID] = &policy
}

// forget is for a channel that has what the program gave it.
func (b *bases) forget(channelID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.own, channelID)
}

func (b *bases) of(guard *chatguard.Guard, channelID string) chatguard.Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	own, changed := b.own[channelID]
	switch {
	case !changed:
		return guard.Policy(channelID)
	case own == nil:
		return guard.Policy("")
	}
	return own.Clone()
}

// BasePolicy returns what holds in a channel when nobody has changed anything: what the program gave it last.
func (s *Store) BasePolicy(channelID string) chatguard.Policy { return s.bases.of(s.guard, channelID) }

// SaveRevision keeps a change of a policy as persist.Store does. The change is put in force after it.
func (s *Store) SaveRevision(ctx context.Context, r journal.Revision) (numbered journal.Revision, saved bool, err error) {
	numbered, saved, err = s.Store.SaveRevision(ctx, r)
	if err == nil {
		s.bases.note(s.guard, r.ChannelID)
	}
	return numbered, saved, err
}

// DiscardRevisions goes back to the program's policy as persist.Store does. That is put in force after it.
func (s *Store) DiscardRevisions(ctx context.Context, channelID, author string) (numbered journal.Revision, saved bool, err error) {
	numbered, saved, err = s.Store.DiscardRevisions(ctx, channelID, author)
	if err == nil {
		s.bases.forget(channelID)
	}
	return numbered, saved, err
}
