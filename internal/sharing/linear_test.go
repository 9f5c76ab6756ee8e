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
	"github.com/chatguard/chatguard/shared"
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

// linearNodes are nodes that judge messages of one user at the same time.
type linearNodes struct {
	nodes, clients int
	ahead, skew    time.Duration // of each clock, and what the nodes know of it
	lossy          bool          // one reply of three is lost, so that others write before the next attempt
}

// history lets the nodes judge messages.
func (l linearNodes) history(t *testing.T, policy chatguard.Policy, seed uint64) (history []porcupine.Operation, fromMemory int64) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerInBubble(t, shared.Exact, policy)
		var events atomic.Int64
		var mu sync.Mutex
		var wg sync.WaitGroup
		for n, node := range server.joinAll(l.nodes) {
			offset := time.Duration(n-l.nodes/2) * l.ahead
			node.clock = func() time.Time { return time.Now().Add(offset) }
			node.skew = l.skew
			delay := seeded(seed, uint64(100+n))
			node.before = func(context.Context) error {
				time.Sleep(time.Duration(delay(3)) * time.Millisecond)
				return nil
			}
			node.after = func() error {
				if l.lossy && delay(3) == 0 {
					time.Sleep(time.Duration(delay(40)) * time.Millisecond)
					return errOvertaken
				}
				time.Sleep(time.Duration(delay(3)) * time.Millisecond)
				return nil
			}
			for k := range l.clients {
				client := l.clients*n + k
				random := seeded(seed, uint64(client))
				wg.Go(func() {
					for range 40 {
						time.Sleep(time.Duration(random(30)) * time.Millisecond)
						at := node.clock()
						in := linearInput{at.UnixNano(), []int64{1, 1, 1, 2}[random(4)]}
						call := events.Add(1)
						v, err := node.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7"}, Cost: int(in.cost), SentAt: at})
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
		for _, n := range server.nodes {
			fromMemory += n.counts().FromMemory
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
			chatguard.TokenBucketLimit("burst", 3, 40*time.Millisecond),
			chatguard.FixedWindowLimit("minute", 5, 300*time.Millisecond),
		},
		Penalties: chatguard.Penalties{StrikeEvery: 50 * time.Millisecond, ForgetAfter: time.Second},
	}
	params := []limits.Limit{
		{Params: limits.Params{Name: "burst", Algorithm: "token-bucket", Burst: 3, Refill: 40 * time.Millisecond}},
		{Params: limits.Params{Name: "minute", Algorithm: "fixed-window", Messages: 5, Every: 300 * time.Millisecond}},
	}
	for _, c := range []struct {
		ahead, skew time.Duration
		wrong       bool
	}{{0, 0, false}, {5 * time.Millisecond, 10 * time.Millisecond, false}, {20 * time.Millisecond, 40 * time.Millisecond, false}, {5 * time.Millisecond, 0, true}} {
		t.Run(fmt.Sprintf("clocks differ by %v, known %v", 2*c.ahead, c.skew), func(t *testing.T) {
			wrong, histories, fromMemory := linearNodes{nodes: 3, clients: 3, ahead: c.ahead, skew: c.skew}.check(t, policy, params)
			if fromMemory == 0 && !c.wrong {
				t.Error("no decision came from memory")
			}
			if c.wrong != (wrong > 0) {
				t.Errorf("%d of %d histories are wrong", wrong, histories)
			}
		})
	}
}

// Five nodes write one row, and replies are lost. Before the next attempt, the others write. Each
// message counts once.
func TestShared_LinearizableLossy(t *testing.T) {
	policy := chatguard.Policy{Mode: chatguard.ModeEnforce, Limits: []chatguard.Limit{chatguard.FixedWindowLimit("hour", 10_000, time.Hour)}}
	params := []limits.Limit{{Params: limits.Params{Name: "hour", Algorithm: "fixed-window", Messages: 10_000, Every: time.Hour}}}
	for _, nodes := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			if wrong, histories, _ := (linearNodes{nodes: nodes, clients: 2, lossy: true}).check(t, policy, params); wrong > 0 {
				t.Errorf("%d of %d histories are wrong", wrong, histories)
			}
		})
	}
}

// check checks several histories with one Guard's decisions.
func (l linearNodes) check(t *testing.T, policy chatguard.Policy, params []limits.Limit) (wrong, histories int, fromMemory int64) {
	sets, err := limits.Compile(params, nil, limits.Strikes{Every: policy.Penalties.StrikeEvery, Forget: policy.Penalties.ForgetAfter})
	must(t, err)
	model := linearModel(sets[limits.PerUser])
	if histories = 12; testing.Short() {
		histories = 4
	}
	for seed := range histories {
		history, known := l.history(t, policy, uint64(seed))
		fromMemory += known
		switch porcupine.CheckOperationsTimeout(model, history, time.Minute) {
		case porcupine.Illegal:
			wrong++
			t.Logf("the history with seed %d is wrong", seed)
		case porcupine.Unknown:
			t.Fatalf("the history with seed %d takes too long to check", seed)
		}
	}
	t.Logf("%d of %d histories wrong, %d of %d decisions from memory", wrong, histories, fromMemory, histories*l.nodes*l.clients*40)
	return wrong, histories, fromMemory
}
