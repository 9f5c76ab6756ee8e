package redisstore

import (
	"fmt"
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// Placement says which rows share a slot of a Cluster. All rows of one decision must be in one
// slot: otherwise the Cluster refuses them, each node decides by itself, and every verdict is
// degraded. [PlacementFor] returns the one that policies need. All nodes of a namespace must have
// the same Placement, on a single server too.
type Placement int

const (
	// PlaceByUser keeps the rows of a user in all channels in one slot, so that users spread over
	// all shards. It suits policies without limits on a channel, on all channels or on repeated
	// text.
	PlaceByUser Placement = iota
	// PlaceByChannel keeps the rows of a channel, of its users and of its texts in one slot. It
	// suits policies with PerChannel, PerUserText or PerText limits, but without PerUserEverywhere
	// or PerEverywhere limits.
	PlaceByChannel
	// PlaceTogether keeps the whole namespace in one slot, so in one shard. It suits every policy.
	PlaceTogether
)

// PlacementFor returns the placement that suits all of the policies, and spreads rows over the most
// shards. Pass it the policies of all channels, and the Guard's own.
func PlacementFor(policies ...chatguard.Policy) Placement {
	for _, p := range []Placement{PlaceByUser, PlaceByChannel} {
		if p.unsuited(policies) == nil {
			return p
		}
	}
	return PlaceTogether
}

// CheckPlacement returns an error that names a limit and the placement to use, unless o.Placement
// suits all of the policies on a Cluster. A single server needs no particular placement.
func (o *Options) CheckPlacement(policies ...chatguard.Policy) error {
	limit := o.Placement.unsuited(policies)
	if limit == nil {
		return nil
	}
	who := "which a whole channel shares"
	switch limit.Per {
	case chatguard.PerUserEverywhere:
		who = "which counts a user in all channels"
	case chatguard.PerEverywhere:
		who = "which all channels share"
	case chatguard.PerUserText, chatguard.PerText:
		who = "which counts each text of a channel"
	}
	return fmt.Errorf("redisstore: on a Cluster, %s as %s doesn't suit the limit %q, %s: set it to %s, and another %s, on all nodes",
		o.nameOf(o.Placement.name()), o.nameOf("Placement"), limit.Name, who, o.nameOf(PlacementFor(policies...).name()), o.nameOf("Namespace"))
}

// misplaced says why a swap isn't possible on a Cluster.
func (o *Options) misplaced() string {
	return fmt.Sprintf("a decision needs rows in different slots of the Cluster: set %s to %s, and another %s, on all nodes",
		o.nameOf("Placement"), o.nameOf("PlacementFor"), o.nameOf("Namespace"))
}

// unsuited returns a limit that has rows in other slots than the user's row in the channel; nil if
// there is none.
func (p Placement) unsuited(policies []chatguard.Policy) *chatguard.Limit {
	elsewhere := func(s chatguard.Scope) bool { return inner.IsShared(s) || s == chatguard.PerUserText }
	switch p {
	case PlaceByChannel:
		elsewhere = inner.InAllChannels
	case PlaceTogether:
		return nil
	}
	for _, policy := range policies {
		i := slices.IndexFunc(policy.Limits, func(l chatguard.Limit) bool { return elsewhere(l.Per) })
		if i >= 0 {
			return &policy.Limits[i]
		}
	}
	return nil
}

// name returns the name of the constant.
func (p Placement) name() string {
	switch p {
	case PlaceByChannel:
		return "PlaceByChannel"
	case PlaceTogether:
		return "PlaceTogether"
	default:
		return "PlaceByUser"
	}
}

// format is the version of the keys and values, with the placement: nodes that differ in it would
// count separately.
func (p Placement) format() string {
	switch p {
	case PlaceByChannel:
		return "1 by channel"
	case PlaceTogether:
		return "1 together"
	default:
		return "1"
	}
}
