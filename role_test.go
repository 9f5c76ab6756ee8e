package chatguard

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"
)

// rolePolicy has 64 roles, of which each has a burst of its own.
func rolePolicy() Policy {
	p := Policy{Roles: manyRoles(64), Exempt: []Role{"role0"}, Limits: []Limit{TokenBucketLimit("burst", 1, time.Hour)}}
	p.Limits[0].Roles = map[Role]Override{}
	for i, r := range p.Roles {
		p.Limits[0].Roles[r] = Override{Burst: 100 - i}
	}
	return p
}

func TestRoles_64(t *testing.T) {
	g := mustNew(t, rolePolicy(), nil)
	for i := 1; i < 64; i++ {
		m := messageFrom(strconv.Itoa(i), 0, "role63", Role("role"+strconv.Itoa(i)), "unknown")
		if v := mustCheck(t, g, m); v.Remaining != 99-i || v.Exempt {
			t.Errorf("role%d: %+v", i, v)
		}
	}
	if v := mustCheck(t, g, messageFrom("7", 0, "role63", "role0")); !v.Exempt {
		t.Errorf("the exempt role: %+v", v)
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = g.Check(t.Context(), messageFrom("9", 1, "role9", "role40")) }); allocs > 1 {
		t.Errorf("%v allocations", allocs) // one is the slice of the roles
	}
}

// A verdict keeps the author's roles at that time: whatever happens to the caller's slice, to the
// policy, and in JSON.
func TestRefund_RolesAtThatTime(t *testing.T) {
	for _, change := range []func(g *Guard, v *Verdict, held Roles){
		func(*Guard, *Verdict, Roles) {},
		func(_ *Guard, _ *Verdict, held Roles) { held[0] = "role1" },
		func(_ *Guard, v *Verdict, _ Roles) {
			data, err := json.Marshal(v)
			must(t, err)
			must(t, json.Unmarshal(data, v))
		},
		func(g *Guard, _ *Verdict, _ Roles) {
			p := rolePolicy()
			p.Roles = append([]Role{"new"}, p.Roles[1:]...) // each role gets another place
			p.Exempt = nil
			delete(p.Limits[0].Roles, "role0")
			must(t, g.SetPolicy(p))
		},
	} {
		g := mustNew(t, rolePolicy(), &Options{Now: func() time.Time { return monday }})
		held := Roles{"role60"}
		m := messageFrom("7", 0, held...)
		m.User.Roles, m.Cost = held, 40
		v := mustCheck(t, g, m)
		change(g, &v, held)
		must(t, g.Refund(t.Context(), v))
		m.User.Roles = Roles{"role60"}
		if again := mustCheck(t, g, m); !again.Allowed {
			t.Errorf("after a refund: %v", again)
		}
	}
}

// A channel with its own roles follows a limit for all channels that has numbers for others.
func TestSetPolicy_RolesOfOwnChannel(t *testing.T) {
	everywhere := everywhereLimit(20)
	everywhere.Roles = map[Role]Override{"gold": {Messages: 30}, "silver": {Messages: 25}}
	for _, own := range [][]Role{nil, {"local"}, {"silver", "gold", "local"}} {
		g := mustNew(t, Policy{}, nil)
		must(t, g.SetChannelPolicy("1", Policy{Roles: own, Exempt: []Role{"local"}}))
		must(t, g.SetPolicy(Policy{Roles: []Role{"gold", "silver"}, Limits: []Limit{everywhere}}))
		if v := mustCheck(t, g, messageFrom("7", 0, "silver", "gold")); v.Remaining != 29 {
			t.Errorf("%v: %v", own, v)
		}
		if v := mustCheck(t, g, messageFrom("7", 0, "local")); !v.Exempt {
			t.Errorf("%v: %v", own, v)
		}
	}
}
