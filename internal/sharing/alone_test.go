//go:build !race

package sharing_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/roles"
)

// Several Guards that share a store decide as one Guard alone.
func TestShared_DecidesAsOneGuard(t *testing.T) {
	for name, policy := range map[string]chatguard.Policy{"default": enforcedDefault(), "all scopes": sharedPolicy(), "observing": chatguard.DefaultPolicy()} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			now := sharedStart
			clock := func() time.Time { return now }
			server := newFakeServer()
			var guards []*chatguard.Guard
			for range 3 {
				_, guard := server.connect(policy, clock)
				guards = append(guards, guard)
			}
			alone := mustNew(t, policy, &chatguard.Options{Now: clock})
			var last chatguard.Verdict
			for i := range 6000 {
				now = now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
				user := chatguard.User{ID: fmt.Sprint(random.IntN(6)), Roles: chatguard.Roles{[]chatguard.Role{chatguard.RoleEveryone, roles.Subscriber, chatguard.RoleModerator}[random.IntN(3)]}}
				m := chatguard.Message{ChannelID: fmt.Sprint(random.IntN(2)), User: user, Cost: random.IntN(3)}
				g := guards[random.IntN(len(guards))]
				key := m.Key()
				all := chatguard.Key{Per: chatguard.PerEverywhere}
				var want, got any
				var wantErr, gotErr error
				switch random.IntN(30) {
				case 7:
					want, wantErr = alone.Grant(t.Context(), all, "server", 2)
					got, gotErr = g.Grant(t.Context(), all, "server", 2)
				case 8:
					if i%5 == 0 {
						wantErr, gotErr = alone.Reset(t.Context(), all), g.Reset(t.Context(), all)
					}
				case 0:
					want, wantErr = alone.Grant(t.Context(), key, "", 2)
					got, gotErr = g.Grant(t.Context(), key, "", 2)
				case 1:
					wantErr, gotErr = alone.Reset(t.Context(), key), g.Reset(t.Context(), key)
				case 2:
					o := chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"burst": {Burst: 5}}}
					wantErr, gotErr = alone.SetUserOverride(t.Context(), key, o), g.SetUserOverride(t.Context(), key, o)
				case 3:
					o := chatguard.UserOverride{Exempt: chatguard.ExemptAlways, ExemptUntil: now.Add(time.Minute)}
					wantErr, gotErr = alone.SetUserOverride(t.Context(), key, o), g.SetUserOverride(t.Context(), key, o)
				case 4:
					if last.Spent > 0 {
						wantErr, gotErr = alone.Refund(t.Context(), last), g.Refund(t.Context(), last)
					}
				case 5:
					want, wantErr = alone.Peek(t.Context(), m)
					got, gotErr = g.Peek(t.Context(), m)
				case 6:
					want, wantErr = alone.UserOverride(t.Context(), key)
					got, gotErr = g.UserOverride(t.Context(), key)
				default:
					want, wantErr = alone.Check(t.Context(), m)
					got, gotErr = g.Check(t.Context(), m)
				}
				if v, ok := want.(chatguard.Verdict); ok {
					last = v
					want, got = comparableVerdict(v), comparableVerdict(got.(chatguard.Verdict))
				}
				if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
					t.Fatalf("step %d, %+v:\n got %+v, %v\nwant %+v, %v", i, m, got, gotErr, want, wantErr)
				}
			}
			counts := guards[0].Shared().Counts()
			if counts.FromMemory == 0 || counts.Conflicts == 0 || counts.Offline != 0 || counts.Pending != 0 || counts.Healed != 0 {
				t.Errorf("one of three nodes: %+v, want conflicts, decisions from memory, and no trouble", counts)
			}
		})
	}
}
