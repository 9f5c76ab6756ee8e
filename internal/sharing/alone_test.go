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
	"github.com/chatguard/chatguard/shared"
)

// Several nodes decide as one Guard alone.
func TestShared_DecidesAsOneGuard(t *testing.T) {
	for name, policy := range map[string]chatguard.Policy{"default": enforced(), "all scopes": sharedPolicy(), "observing": chatguard.DefaultPolicy()} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			server := newServer(t, shared.Exact, policy)
			for range 3 {
				server.join()
			}
			alone := mustNew(t, policy, &chatguard.Options{Now: server.clock})
			var last chatguard.Verdict
			for i := range 6000 {
				server.now = server.now.Add(time.Duration(random.IntN(3000)) * time.Millisecond)
				user := chatguard.User{ID: fmt.Sprint(random.IntN(6)), Roles: chatguard.Roles{[]chatguard.Role{chatguard.RoleEveryone, roles.Subscriber, chatguard.RoleModerator}[random.IntN(3)]}}
				m := chatguard.Message{ChannelID: fmt.Sprint(random.IntN(2)), User: user, Cost: random.IntN(3)}
				node, action := server.nodes[random.IntN(3)], random.IntN(30)
				key, all := m.Key(), chatguard.Key{Per: chatguard.PerEverywhere}
				act := func(g *chatguard.Guard) (any, error) {
					switch {
					case action == 0:
						return g.Grant(t.Context(), key, "", 2)
					case action == 1:
						return nil, g.Reset(t.Context(), key)
					case action == 2:
						return nil, g.SetUserOverride(t.Context(), key, chatguard.UserOverride{Timezone: "Asia/Tokyo", Limits: map[string]chatguard.Override{"burst": {Burst: 5}}})
					case action == 3:
						return nil, g.SetUserOverride(t.Context(), key, chatguard.UserOverride{Exempt: chatguard.ExemptAlways, ExemptUntil: server.now.Add(time.Minute)})
					case action == 4 && last.Spent > 0:
						return nil, g.Refund(t.Context(), last)
					case action == 5:
						return g.Peek(t.Context(), m)
					case action == 6:
						return g.UserOverride(t.Context(), key)
					case action == 7:
						return g.Grant(t.Context(), all, "server", 2)
					case action == 8 && i%5 == 0:
						return nil, g.Reset(t.Context(), all)
					}
					return g.Check(t.Context(), m)
				}
				want, wantErr := act(alone)
				got, gotErr := act(node.Guard)
				if v, ok := want.(chatguard.Verdict); ok {
					last = v
					want, got = comparableVerdict(v), comparableVerdict(got.(chatguard.Verdict))
				}
				if !reflect.DeepEqual(got, want) || (gotErr == nil) != (wantErr == nil) {
					t.Fatalf("step %d, %+v:\n got %+v, %v\nwant %+v, %v", i, m, got, gotErr, want, wantErr)
				}
			}
			counts := server.nodes[0].counts()
			if counts.FromMemory == 0 || counts.Conflicts == 0 || counts.Offline != 0 || counts.Pending != 0 || counts.Healed != 0 {
				t.Errorf("one of three nodes: %+v, want conflicts, decisions from memory, and no trouble", counts)
			}
		})
	}
}
