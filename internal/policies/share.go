package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// toShare returns the revision that is in force here, if people have changed the policy or the
// document is lost.
func (p *Policies) toShare(channelID string, isLost bool) (revision any, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	live, changed := p.live[channelID]
	if !changed && isLost {
		return journal.Revision{ChannelID: channelID, At: p.now().UTC(), Policy: p.baseOf(channelID)}, true
	}
	return live.Revision, changed && live.Problem == nil
}

// applyShared puts in force a revision that another node has shared. The caller holds changing.
func (p *Policies) applyShared(ctx context.Context, channelID string, data []byte) error {
	var shared journal.Revision
	if err := json.Unmarshal(data, &shared); err != nil {
		return fmt.Errorf("the policy that another node has shared for channel %q can't be read: %w", channelID, err)
	}
	live := Resolve(channelID, p.Base(channelID), shared, inner.Of(p.options.Guard).ValidateChannelPolicy, p.options.Acceptable)
	p.logProblems(channelID, live)
	if reflect.DeepEqual(live.InForce, p.options.Guard.ChannelPolicy(channelID)) {
		return nil
	}
	wanted := p.revision(Request{ChannelID: channelID, Author: shared.Author}, shared.IsEmpty(), live.InForce)
	kept, _, err := p.keep(ctx, wanted, live.InForce)
	if err != nil {
		return err
	}
	p.Followers.Notify(func(f Follower) { f.Revised(kept) })
	return nil
}

// channels returns the IDs of the channels that may have their own policy.
func (p *Policies) channels() (ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.base != nil {
		ids = p.base.Channels()
	}
	return slices.AppendSeq(ids, maps.Keys(p.live))
}
