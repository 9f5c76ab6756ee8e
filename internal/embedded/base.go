package embedded

import (
	"context"
	"reflect"
	"slices"
	"sync"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// bases are the policies that the program gave those channels in which something else holds now, because people have changed it.
type bases struct {
	mu  sync.Mutex
	own map[string]*chatguard.Policy // by channel ID; nil where the program gave the channel none of its own
	put map[string]chatguard.Policy  // what people put in force there last
}

// note keeps what the program gave a channel, before something else is put in force there.
func (b *bases) note(guard *chatguard.Guard, channelID string, put chatguard.Policy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	policy, noted := guard.Policy(channelID), b.holds(guard, channelID)
	if b.own == nil {
		b.own, b.put = map[string]*chatguard.Policy{}, map[string]chatguard.Policy{}
	}
	b.put[channelID] = put.Clone()
	if noted {
		return
	}
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
	delete(b.put, channelID)
}

// holds reports whether what people put in force in a channel is what holds there: the program hasn't given it another policy since. Limits that count
// in all channels are the program's anyhow. The caller holds mu.
func (b *bases) holds(guard *chatguard.Guard, channelID string) bool {
	put, changed := b.put[channelID]
	return changed && len(journal.Diff(channelsOwn(put), channelsOwn(guard.Policy(channelID)))) == 0
}

// channelsOwn is the part of a policy that one channel may have otherwise than all.
func channelsOwn(p chatguard.Policy) chatguard.Policy {
	p.Limits = slices.DeleteFunc(slices.Clone(p.Limits), func(l chatguard.Limit) bool { return l.Per == chatguard.PerUserEverywhere })
	return p
}

func (b *bases) of(guard *chatguard.Guard, channelID string) chatguard.Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.own[channelID]
	switch {
	case !b.holds(guard, channelID):
		return guard.Policy(channelID)
	case own == nil:
		return guard.Policy("")
	}
	policy := channelsOwn(own.Clone())
	for _, l := range guard.Policy("").Limits {
		if l.Per == chatguard.PerUserEverywhere {
			policy.Limits = append(policy.Limits, l)
		}
	}
	return policy
}

// BasePolicy returns what holds in a channel when nobody has changed anything: what the program gave it last.
func (s *Store) BasePolicy(channelID string) chatguard.Policy { return s.bases.of(s.guard, channelID) }

// SaveRevision keeps a change of a policy as persist.Store does. The change is put in force after it.
func (s *Store) SaveRevision(ctx context.Context, r journal.Revision) (numbered journal.Revision, saved bool, err error) {
	numbered, saved, err = s.Store.SaveRevision(ctx, r)
	if err == nil {
		s.bases.note(s.guard, r.ChannelID, r.Policy)
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
