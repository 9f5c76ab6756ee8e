package chatguard_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

func TestGuard_PolicyHash(t *testing.T) {
	hashes := map[string]string{}
	for name, change := range map[string]func(*chatguard.Policy){
		"nothing":  func(*chatguard.Policy) {},
		"the mode": func(p *chatguard.Policy) { p.Mode = 1 - p.Mode },
		"a burst":  func(p *chatguard.Policy) { p.Limits[0].Burst += 2 },
		"a refill": func(p *chatguard.Policy) { p.Limits[0].Refill += time.Second },
		"a role": func(p *chatguard.Policy) {
			p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.VIP: {Burst: 9}}
		},
		"a penalty": func(p *chatguard.Policy) { p.Penalties.StrikeEvery += time.Second },
	} {
		policy := chatguard.DefaultPolicy().Clone()
		change(&policy)
		guard, err := chatguard.New(policy, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		hash := guard.PolicyHash()
		if len(hash) != 16 || hash != guard.PolicyHash() {
			t.Errorf("%s: the hash is %q and then %q", name, hash, guard.PolicyHash())
		}
		if other, found := hashes[hash]; found {
			t.Errorf("policies that differ by %s and by %s have the same hash", name, other)
		}
		hashes[hash] = name
		if err := guard.SetChannelPolicy("lobby", chatguard.DefaultPolicy()); err != nil {
			t.Fatal(name, err)
		}
		if guard.PolicyHash() != hash {
			t.Errorf("%s: a channel's policy changes the hash", name)
		}
	}
}

// What a policy leaves out counts as the default.
func TestGuard_PolicyHashDefaults(t *testing.T) {
	hashes := map[string]bool{}
	for _, daily := range []chatguard.Limit{
		{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 300},
		{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 300, ResetAt: "00:00", Timezone: "UTC"},
	} {
		for _, zone := range []string{"", "UTC"} {
			guard := mustNew(t, chatguard.Policy{Timezone: zone, Limits: []chatguard.Limit{daily}}, nil)
			hashes[guard.PolicyHash()] = true
		}
	}
	if len(hashes) != 1 {
		t.Errorf("one policy has %d hashes", len(hashes))
	}
}
