package policies

import (
	"reflect"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// programPolicies holds the policies that the program gave to channels whose policy people have
// changed.
type programPolicies struct {
	guard    *chatguard.Guard
	channels map[string]programPolicy // by channel ID
}

type programPolicy struct {
	own *chatguard.Policy // the program's; nil if the channel followed the policy of all channels
	put chatguard.Policy  // that people last put in force
}

// note remembers the program's policy of a channel before put replaces it.
func (p *programPolicies) note(channelID string, put chatguard.Policy) {
	noted := p.channels[channelID]
	if !p.holds(channelID) {
		noted.own = nil
		if policy := p.guard.ChannelPolicy(channelID); !reflect.DeepEqual(policy, p.guard.Policy()) {
			noted.own = &policy
		}
	}
	noted.put = put.Clone()
	p.channels[channelID] = noted
}

// holds reports whether a channel still has the policy that people put in force there. It returns
// false if the program has set another policy since. It ignores limits that count in all channels,
// because only the program sets them.
func (p *programPolicies) holds(channelID string) bool {
	noted, changed := p.channels[channelID]
	return changed && len(Diff(channelsOwn(noted.put), channelsOwn(p.guard.ChannelPolicy(channelID)))) == 0
}

// channelsOwn returns the part of a policy that may differ between channels.
func channelsOwn(p chatguard.Policy) chatguard.Policy {
	p.Limits = slices.DeleteFunc(slices.Clone(p.Limits), func(l chatguard.Limit) bool { return inner.InAllChannels(l.Per) })
	return p
}

// allChannels returns the limits of a policy that are the same in all channels.
func allChannels(p chatguard.Policy) chatguard.Policy {
	return chatguard.Policy{Limits: slices.DeleteFunc(slices.Clone(p.Limits), func(l chatguard.Limit) bool { return !inner.InAllChannels(l.Per) })}
}

// policy returns the policy that the program last gave to a channel.
func (p *programPolicies) policy(channelID string) chatguard.Policy {
	own := p.channels[channelID].own
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
