package redisstore

import (
	"strings"
	"testing"

	"github.com/chatguard/chatguard"
)

func TestPlacement(t *testing.T) {
	own, room, everywhere := chatguard.Limit{Name: "own"}, chatguard.Limit{Name: "room", Per: chatguard.PerChannel}, chatguard.Limit{Name: "all", Per: chatguard.PerUserEverywhere}
	server := chatguard.Limit{Name: "server", Per: chatguard.PerEverywhere}
	again, copies := chatguard.Limit{Name: "again", Per: chatguard.PerUserText}, chatguard.Limit{Name: "copies", Per: chatguard.PerText}
	for _, test := range []struct {
		limits [][]chatguard.Limit
		needs  Placement
		refuse map[Placement]string // the limit and the placement that errors name
	}{
		{nil, PlaceByUser, nil},
		{[][]chatguard.Limit{{own}}, PlaceByUser, nil},
		{[][]chatguard.Limit{{own, everywhere}}, PlaceByUser, map[Placement]string{PlaceByChannel: `"all", which counts a user in all channels: set it to PlaceByUser,`}},
		{[][]chatguard.Limit{{own, again}}, PlaceByChannel, map[Placement]string{PlaceByUser: `"again", which counts each text of a channel: set it to PlaceByChannel,`}},
		{[][]chatguard.Limit{{everywhere, copies}}, PlaceTogether, map[Placement]string{
			PlaceByUser: `"copies", which counts each text of a channel: set it to PlaceTogether,`, PlaceByChannel: `"all", which counts a user in all channels: set it to PlaceTogether,`,
		}},
		{[][]chatguard.Limit{{own}, {room}}, PlaceByChannel, map[Placement]string{PlaceByUser: `"room", which a whole channel shares: set it to PlaceByChannel,`}},
		{[][]chatguard.Limit{{everywhere}, {own, room}}, PlaceTogether, map[Placement]string{
			PlaceByUser: `"room", which a whole channel shares: set it to PlaceTogether,`, PlaceByChannel: `"all", which counts a user in all channels: set it to PlaceTogether,`,
		}},
		{[][]chatguard.Limit{{own, server}}, PlaceTogether, map[Placement]string{
			PlaceByUser: `"server", which all channels share: set it to PlaceTogether,`, PlaceByChannel: `"server", which all channels share: set it to PlaceTogether,`,
		}},
	} {
		var policies []chatguard.Policy
		for _, limits := range test.limits {
			policies = append(policies, chatguard.Policy{Limits: limits})
		}
		if got := PlacementFor(policies...); got != test.needs {
			t.Errorf("%v: %s, want %s", test.limits, got.name(), test.needs.name())
		}
		for _, p := range []Placement{PlaceByUser, PlaceByChannel, PlaceTogether} {
			want, err := test.refuse[p], (&Options{Placement: p}).CheckPlacement(policies...)
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %s: %v, want %q", test.limits, p.name(), err, want)
			}
		}
	}
}

// TestCluster_PlacementFor checks that decisions of a policy with PerChannel limits, or with limits
// on repeated text, are shared over a Cluster with the placement that PlacementFor returns, and
// that Health names any other one.
func TestCluster_PlacementFor(t *testing.T) {
	t.Parallel()
	r := startCluster(t, 1)[0]
	for _, per := range []chatguard.Scope{chatguard.PerChannel, chatguard.PerUserText, chatguard.PerText} {
		policy := chatguard.DefaultPolicy()
		policy.Limits = append(policy.Limits, chatguard.Limit{Name: "room", Algorithm: chatguard.TokenBucket, Per: per, Burst: 9, Refill: 1e9})
		for placement, degraded := range map[Placement]bool{PlaceByUser: true, PlacementFor(policy): false} {
			s := open(t, "redis+cluster://"+r.Addr(), Options{Placement: placement, Namespace: placement.name() + "." + per.String()})
			guard, err := chatguard.New(policy, &chatguard.Options{Shared: s, TextKey: [16]byte{1}})
			must(t, err)
			v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "lobby", User: chatguard.User{ID: "anna"}, Text: "the same text again"})
			if err != nil || !v.Allowed || v.Degraded != degraded {
				t.Errorf("%s, per %s: %+v, %v", placement.name(), per, v, err)
			}
			if h := s.Health(); h.Refusing != degraded || strings.Contains(h.Problem, "set Options.Placement to what PlacementFor returns") != degraded {
				t.Errorf("%s, per %s: %+v", placement.name(), per, h)
			}
		}
	}
}
