package limittest_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limittest"
)

// A Guard that shares nothing decides as the model does, with every algorithm and scope, and with
// all of them together.
func TestModel_Guard(t *testing.T) {
	for i, limit := range append(limittest.EveryAlgorithm(), chatguard.TokenBucketLimit("first", 4, 4*time.Second)) {
		for _, limit.Per = range limittest.Scopes {
			limits := []chatguard.Limit{limit}
			if i == len(limittest.EveryAlgorithm()) {
				limits = append(limits, limittest.EveryAlgorithm()...)
				limits[3].Per, limits[5].Per, limits[7].Per = chatguard.PerUserEverywhere, chatguard.PerChannel, chatguard.PerEverywhere
			}
			now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
			policy := chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: limits}
			guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			model, random, refused := limittest.New(limits...), rand.New(rand.NewPCG(1, 2)), 0
			for i := range 2000 {
				now = now.Add(time.Duration(random.Int64N(int64(model.Period()) / int64(4*model.Capacity()))))
				channel, user := strconv.Itoa(random.IntN(2)), strconv.Itoa(random.IntN(2))
				below := model.Below(now, channel, user)
				want := model.Check(now, channel, user)
				v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: channel, User: chatguard.User{ID: user}})
				if err != nil || v.Allowed != want || below && !want {
					t.Fatalf("%s per %v, message %d: allowed %t (%v), want %t; below the limit %t", limit.Name, limit.Per, i, v.Allowed, err, want, below)
				}
				if !want {
					refused++
				}
			}
			if refused == 0 {
				t.Errorf("%s per %v: nothing is refused", limit.Name, limit.Per)
			}
		}
	}
}
