package redisstore

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// everyAlgorithm returns a policy with one limit of each algorithm.
func everyAlgorithm() []chatguard.Limit {
	return []chatguard.Limit{
		{Name: "bucket", Algorithm: chatguard.TokenBucket, Burst: 4, Refill: 3 * time.Second},
		{Name: "queue", Algorithm: chatguard.LeakyBucket, Queue: 4, Every: 2 * time.Second},
		{Name: "fixed", Algorithm: chatguard.FixedWindow, Messages: 7, Every: 20 * time.Second},
		{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 60, Timezone: "Europe/Berlin"},
		{Name: "own", Algorithm: chatguard.UserWindow, Messages: 6, Every: 15 * time.Second},
		{Name: "sliding", Algorithm: chatguard.SlidingWindow, Messages: 8, Every: 25 * time.Second},
		{Name: "sliced", Algorithm: chatguard.SlidingWindow, Messages: 8, Every: 25 * time.Second, Slices: 5},
		{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 9, Every: 30 * time.Second},
		chatguard.CascadeLimit("cascade", 3, 3*time.Second, 2, 20*time.Second),
	}
}

// Each algorithm alone, and all together, with costs, roles and scopes: every verdict is the one of
// a Guard alone, in every field.
func TestGuards_EveryAlgorithm(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	policies := map[string]chatguard.Policy{"all": enforced(everyAlgorithm()...)}
	for _, l := range everyAlgorithm() {
		policies[l.Name] = enforced(l)
	}
	scopes := everyAlgorithm()
	scopes[2].Per, scopes[3].Per, scopes[5].Per, scopes[4].CountThrottled = chatguard.PerUserEverywhere, chatguard.PerChannel, chatguard.PerEverywhere, true
	scopes[0].Roles = map[chatguard.Role]chatguard.Override{"subscriber": {Burst: 9}}
	policies["scopes"] = enforced(scopes...)
	texts := everyAlgorithm()
	texts[0].Per, texts[2].Per, texts[4].Per, texts[7].Per, texts[8].Per = chatguard.PerText, chatguard.PerUserText, chatguard.PerUserText, chatguard.PerText, chatguard.PerText
	texts[0].Similar, texts[4].FromLength, texts[7].Strikes = true, 3, true
	policies["texts"] = enforced(texts...)
	for name, policy := range policies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := startNodes(t, r.URL(), 2, policy, Options{Namespace: name}, shared.Exact)
			one := alone(t, policy)
			random := rand.New(rand.NewPCG(7, 7))
			at := time.Now()
			for i := range 400 {
				at = at.Add(time.Duration(random.IntN(2500)) * time.Millisecond)
				m := chatguard.Message{
					ChannelID: "lobby", SentAt: at, Cost: 1 + random.IntN(3), Text: "a text with a number: " + strconv.Itoa(random.IntN(3)),
					User: chatguard.User{ID: strconv.Itoa(random.IntN(3)), Roles: chatguard.Roles{[]chatguard.Role{chatguard.RoleEveryone, "subscriber"}[random.IntN(2)]}},
				}
				want, err := one.Check(t.Context(), m)
				must(t, err)
				got, err := nodes[random.IntN(2)].Check(t.Context(), m)
				must(t, err)
				want.EntryID, want.Series, got.EntryID, got.Series = 0, 0, 0, 0
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("message %d:\n got %+v\nwant %+v", i, got, want)
				}
				if !want.Allowed && !want.Never && i%5 == 0 { // it passes at its turn, and not sooner
					m.SentAt = at.Add(want.RetryAfter - 1)
					if v, err := nodes[0].Peek(t.Context(), m); err != nil || v.Allowed {
						t.Fatalf("message %d: allowed 1 ns before its turn (%v)", i, err)
					}
					m.SentAt = at.Add(want.RetryAfter)
					if v, err := nodes[1].Peek(t.Context(), m); err != nil || !v.Allowed {
						t.Fatalf("message %d: not allowed at its turn (%v)", i, err)
					}
				}
			}
		})
	}
}
