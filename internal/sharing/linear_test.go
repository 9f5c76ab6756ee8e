package sharing_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

// linearInput is a message as a node judges it, at the time of its clock.
type linearInput struct {
	at   int64
	cost int64
}

// linearOutput is the decision.
type linearOutput struct {
	allowed   bool
	remaining int
	retryAt   int64
	strikes   int
}

// linearModel is one user's row, as one Guard alone would have it.
func linearModel(set *limits.Set) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			row, err := limits.ReadRow(set, 0, []byte(state.(string)))
			if err != nil {
				panic(err)
			}
			in := input.(linearInput)
			var d limits.Decision
			draft := limits.NewDraft(set, row, in.at)
			limits.JudgeDrafts([]*limits.Draft{draft}, make([]map[string]int, 1), &limits.Request{At: in.at, Cost: in.cost}, &d)
			want := linearOutput{d.Allowed, int(d.Remaining), 0, d.Strikes}
			if !d.Allowed {
				want.retryAt = d.RetryAt
			}
			if draft.Changed() {
				state = string(draft.Row(limits.Stamp{}, in.at).Bytes())
			}
			return want == output, state
		},
	}
}

// linearHistory lets three nodes, whose clocks differ, judge messages of one user at the same time.
func linearHistory(t *testing.T, policy chatguard.Policy, seed uint64, ahead, skew time.Duration) (history []porcupine.Operation, fromMemory int64) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer()
		var events atomic.Int64
		var mu sync.Mutex
		var wg sync.WaitGroup
		var guards []*chatguard.Guard
		for n := range 3 {
			offset := time.Duration(n-1) * ahead
			clock := func() time.Time { return time.Now().Add(offset) }
			node, guard := server.connect(policy, clock)
			node.skew = skew
			delay := seeded(seed, uint64(100+n))
			node.before = func(context.Context) error {
				time.Sleep(time.Duration(delay(3)) * time.Millisecond)
				return nil
			}
			node.after = func() error {
				time.Sleep(time.Duration(delay(3)) * time.Millisecond)
				return nil
			}
			guards = append(guards, guard)
			for k := range 3 {
				client := 3*n + k
				random := seeded(seed, uint64(client))
				wg.Go(func() {
					for range 40 {
						time.Sleep(time.Duration(random(30)) * time.Millisecond)
						at := clock()
						in := linearInput{at.UnixNano(), []int64{1, 1, 1, 2}[random(4)]}
						call := events.Add(1)
						v, err := guard.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}, Cost: int(in.cost), SentAt: at})
						end := events.Add(1)
						if err != nil || v.Degraded {
							t.Errorf("%+v, %v", v, err)
						}
						out := linearOutput{allowed: v.Allowed, remaining: v.Remaining, strikes: v.Strikes}
						if !v.Allowed {
							out.retryAt = at.Add(v.RetryAfter).UnixNano()
						}
						mu.Lock()
						history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
						mu.Unlock()
					}
				})
			}
		}
		wg.Wait()
		for _, g := range guards {
			fromMemory += g.Shared().Counts().FromMemory
		}
	})
	return history, fromMemory
}

// Nodes whose clocks differ decide together as one Guard would, although most refusals come from
// memory, if the Guards know by how much their clocks differ. If they don't, they make mistakes, so
// the test would notice.
func TestShared_Linearizable(t *testing.T) {
	policy := chatguard.Policy{
		Mode: chatguard.ModeEnforce,
		Limits: []chatguard.Limit{
			{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: 40 * time.Millisecond},
			{Name: "minute", Algorithm: chatguard.FixedWindow, Messages: 5, Every: 300 * time.Millisecond},
		},
		Penalties: chatguard.Penalties{StrikeEvery: 50 * time.Millisecond, ForgetAfter: time.Second},
	}
	sets, err := limits.Compile([]limits.Limit{
		{Params: limits.Params{Name: "burst", Algorithm: "token-bucket", Burst: 3, Refill: 40 * time.Millisecond}},
		{Params: limits.Params{Name: "minute", Algorithm: "fixed-window", Messages: 5, Every: 300 * time.Millisecond}},
	}, nil, limits.Strikes{Every: 50 * time.Millisecond, Forget: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	model := linearModel(sets[limits.PerUser])
	histories := 12
	if testing.Short() {
		histories = 4
	}
	for _, c := range []struct {
		ahead, skew time.Duration
		wrong       bool
	}{{0, 0, false}, {5 * time.Millisecond, 10 * time.Millisecond, false}, {20 * time.Millisecond, 40 * time.Millisecond, false}, {5 * time.Millisecond, 0, true}} {
		t.Run(fmt.Sprintf("clocks differ by %v, known %v", 2*c.ahead, c.skew), func(t *testing.T) {
			wrong, fromMemory := 0, int64(0)
			for seed := range histories {
				history, known := linearHistory(t, policy, uint64(seed), c.ahead, c.skew)
				fromMemory += known
				switch porcupine.CheckOperationsTimeout(model, history, time.Minute) {
				case porcupine.Illegal:
					wrong++
					t.Logf("the history with seed %d is wrong", seed)
				case porcupine.Unknown:
					t.Fatalf("the history with seed %d takes too long to check", seed)
				}
			}
			if fromMemory == 0 && !c.wrong {
				t.Error("no decision came from memory")
			}
			if c.wrong != (wrong > 0) {
				t.Errorf("%d of %d histories are wrong", wrong, histories)
			}
			t.Logf("%d of %d histories wrong, %d of %d decisions from memory", wrong, histories, fromMemory, histories*360)
		})
	}
}
