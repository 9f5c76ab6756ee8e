package control

import (
	"reflect"
	"slices"

	"github.com/chatguard/chatguard"
)

// given holds the policies that the program gave to channels whose policy people have changed.
type given struct {
	guard *chatguard.Guard
	// own holds the program's policy by channel ID. The value is nil if the channel followed the
	// policy of all channels.
	own map[string]*chatguard.Policy
	put map[string]chatguard.Policy // policy that people last put in force, by channel ID
}

// note remembers the program's policy of a channel before put replaces it.
func (g *given) note(channelID string, put chatguard.Policy) {
	policy, noted := g.guard.Policy(channelID), g.holds(channelID)
	if g.own == nil {
		g.own, g.put = map[string]*chatguard.Policy{}, map[string]chatguard.Policy{}
	}
	g.put[channelID] = put.Clone()
	if noted {
		return
	}
	if reflect.DeepEqual(policy, g.guard.Policy("")) {
		g.own[channelID] = nil // the channel follows the policy of all channels
		return
	}
	g.own[channelID] = &policy
}

// forget removes a channel that has the program's policy again.
func (g *given) forget(channelID string) {
	delete(g.own, channelID)
	delete(g.put, channelID)
}

// holds reports whether a channel still has the policy that people put in force there. It returns
// false if the program has set another policy since. It ignores limits that count in all channels,
// because only the program sets them.
func (g *given) holds(channelID string) bool {
	put, changed := g.put[channelID]
	return changed && len(Diff(channelsOwn(put), channelsOwn(g.guard.Policy(channelID)))) == 0
}

// channelsOwn returns the part of a policy that may differ between channels.
func channelsOwn(p chatguard.Policy) chatguard.Policy {
	p.Limits = slices.DeleteFunc(slices.Clone(p.Limits), func(l chatguard.Limit) bool { return l.Per == chatguard.PerUserEverywhere })
	return p
}

// policy returns the policy that the program last gave to a channel.
func (g *given) policy(channelID string) chatguard.Policy {
	own := g.own[channelID]
	switch {
	case !g.holds(channelID):
		return g.guard.Policy(channelID)
	case own == nil:
		return g.guard.Policy("")
	}
	policy := channelsOwn(own.Clone())
	for _, l := range g.guard.Policy("").Limits {
		if l.Per == chatguard.PerUserEverywhere {
			policy.Limits = append(policy.Limits, l)
		}
	}
	return policy
}
