package policies

import (
	"reflect"
	"slices"

	"github.com/chatguard/chatguard"
)

// programPolicies holds the policies that the program gave to channels whose policy people have
// changed.
type programPolicies struct {
	guard *chatguard.Guard
	// own holds the program's policy by channel ID. The value is nil if the channel followed the
	// policy of all channels.
	own map[string]*chatguard.Policy
	put map[string]chatguard.Policy // policy that people last put in force, by channel ID
}

// note remembers the program's policy of a channel before put replaces it.
func (p *programPolicies) note(channelID string, put chatguard.Policy) {
	policy, noted := p.guard.ChannelPolicy(channelID), p.holds(channelID)
	if p.own == nil {
		p.own, p.put = map[string]*chatguard.Policy{}, map[string]chatguard.Policy{}
	}
	p.put[channelID] = put.Clone()
	if noted {
		return
	}
	if reflect.DeepEqual(policy, p.guard.Policy()) {
		p.own[channelID] = nil // the channel follows the policy of all channels
		return
	}
	p.own[channelID] = &policy
}

// forget removes a channel that has the program's policy again.
func (p *programPolicies) forget(channelID string) {
	delete(p.own, channelID)
	delete(p.put, channelID)
}

// holds reports whether a channel still has the policy that people put in force there. It returns
// false if the program has set another policy since. It ignores limits that count in all channels,
// because only the program sets them.
func (p *programPolicies) holds(channelID string) bool {
	put, changed := p.put[channelID]
	return changed && len(Diff(channelsOwn(put), channelsOwn(p.guard.ChannelPolicy(channelID)))) == 0
}

// channelsOwn returns the part of a policy that may differ between channels.
func channelsOwn(p chatguard.Policy) chatguard.Policy {
	p.Limits = slices.DeleteFunc(slices.Clone(p.Limits), func(l chatguard.Limit) bool { return l.Per.AllChannels() })
	return p
}

// allChannels returns the limits of a policy that are the same in all channels.
func allChannels(p chatguard.Policy) chatguard.Policy {
	return chatguard.Policy{Limits: slices.DeleteFunc(slices.Clone(p.Limits), func(l chatguard.Limit) bool { return !l.Per.AllChannels() })}
}

// policy returns the policy that the program last gave to a channel.
func (p *programPolicies) policy(channelID string) chatguard.Policy {
	own := p.own[channelID]
	switch {
	case !p.holds(channelID):
		return p.guard.ChannelPolicy(channelID)
	case own == nil:
		return p.guard.Policy()
	}
	policy := channelsOwn(own.Clone())
	policy.Limits = append(policy.Limits, allChannels(p.guard.Policy()).Limits...)
	return policy
}
