package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/redisstore"
)

var placements = map[string]redisstore.Placement{
	config.PlaceByUser: redisstore.PlaceByUser, config.PlaceByChannel: redisstore.PlaceByChannel, config.PlaceTogether: redisstore.PlaceTogether,
}

// CheckPlacement returns an error that names the fix if the rows of a policy of the configuration
// can't be placed on its Cluster.
func CheckPlacement(c config.Config) error {
	if problem := Unplaceable(c, c.Policy); problem != "" {
		return c.Fail("shared.placement", problem)
	}
	return nil
}

// Unplaceable says why the rows of a policy, or of a policy of the configuration, can't be placed
// on the configuration's Cluster, and what to do. It is empty if they can.
func Unplaceable(c config.Config, p chatguard.Policy) string {
	if !c.Shared.HasStore() || !c.Shared.IsCluster() {
		return ""
	}
	policies := []chatguard.Policy{p, c.Policy}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		policies = append(policies, c.Channels[name])
	}
	opts := redisstore.Options{Placement: placements[c.Shared.Placement], NameOf: optionName}
	if err := opts.CheckPlacement(policies...); err != nil {
		return strings.TrimPrefix(err.Error(), "redisstore: ")
	}
	return ""
}
