package inner_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// TestTextLimits checks that a limit on repeated text has the numbers that the Guard applies to a
// user with some roles, even if the policy lists no roles.
func TestTextLimits(t *testing.T) {
	t.Parallel()
	limit := func(name string, per chatguard.Scope, mode chatguard.Mode) chatguard.Limit {
		return chatguard.Limit{
			Name: name, Algorithm: chatguard.TokenBucket, Per: per, Mode: mode, Burst: 2, Refill: time.Minute,
			Roles: map[chatguard.Role]chatguard.Override{"vip": {Burst: 5}},
		}
	}
	policy := chatguard.Policy{Limits: []chatguard.Limit{
		limit("user", chatguard.PerUser, 0), limit("observed", chatguard.PerText, chatguard.ModeObserve), limit("text", chatguard.PerText, 0),
	}}
	for _, policy.Roles = range [][]chatguard.Role{nil, {"vip", chatguard.RoleEveryone}} {
		guard, err := chatguard.New(policy, nil)
		if err != nil {
			t.Fatal(err)
		}
		for burst, roles := range map[int]chatguard.Roles{2: nil, 5: {"vip"}} {
			list, quotas := inner.TextLimits(guard, "1", roles)
			if len(list) != 1 || list[0].Name != "text" || list[0].Burst != burst || list[0].Refill != time.Minute || list[0].Roles != nil {
				t.Errorf("%v: %+v", roles, list)
			}
			if len(quotas) != 1 || quotas[0].Messages != burst || quotas[0].Window != time.Duration(burst)*time.Minute || quotas[0].Step != time.Minute {
				t.Errorf("%v: %+v", roles, quotas)
			}
		}
	}
}
