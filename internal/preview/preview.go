// Package preview tells what would have happened: it judges a channel's recorded messages by a policy that may never have been in force, with a Guard
// of its own. It must not know a store, HTTP or a clock: it is given the messages, and ends when its context does.
//
// Every message was written under the limits of its time: who was timed out then wrote nothing, and who would have been timed out went on writing. So
// what comes out is for comparing two policies, not for telling the future.
package preview

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/chatguard/chatguard"
)

// Outcome is what would have happened under a policy, had it been enforced.
type Outcome struct {
	ThrottledMessages int            `json:"throttled_messages"`
	ThrottledUsers    int            `json:"throttled_users"`
	ExemptMessages    int            `json:"exempt_messages"`
	ByLimit           map[string]int `json:"by_limit"`          // throttled messages, by the limit
	ObservedByLimit   map[string]int `json:"observed_by_limit"` // messages that limits which only observe would have throttled
	Penalties         map[string]int `json:"penalties"`         // by the name of the action

	throttled []uint32 // messages of each user of the Timeline
}

// batchSize is how many messages are judged before the next look at the context, and before somebody else may have the processor: a tenth of a
// millisecond.
const batchSize = 256

// channelID is the channel of the Guard that judges.
const channelID = "recorded"

// Judge judges the timeline by a policy as if that had been enforced, everybody starting fresh with what they have of their own. Limits per user in all
// channels see this channel's messages only. The same arguments have the same Outcome. The error is the policy's or the context's, a *BudgetError, or
// says that a message can't be judged.
func Judge(ctx context.Context, t *Timeline, policy chatguard.Policy, own Own) (*Outcome, error) {
	return judge(ctx, t, policy, own, Budget)
}

// judge is Judge within another budget.
func judge(ctx context.Context, t *Timeline, policy chatguard.Policy, own Own, budget int64) (*Outcome, error) {
	size, err := groupSize(policy, len(t.users), budget)
	if err != nil {
		return nil, err
	}
	o := &Outcome{ByLimit: map[string]int{}, ObservedByLimit: map[string]int{}, Penalties: map[string]int{}, throttled: make([]uint32, len(t.users))}
	b := newBatch()
	for first := 0; first < max(1, len(t.users)); first += max(1, size) { // a policy is refused without users, too
		members := group{uint32(first), uint32(min(first+size, len(t.users)))}
		guard, err := newGuard(t, members, policy, own)
		if err == nil {
			err = o.judge(ctx, t, members, guard, b)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// batch has room for messages that are judged together.
type batch struct {
	messages []chatguard.Message
	numbers  []uint32 // their authors' places
	verdicts []chatguard.Verdict
}

func newBatch() *batch {
	b := &batch{make([]chatguard.Message, batchSize), make([]uint32, batchSize), make([]chatguard.Verdict, batchSize)}
	for i := range b.messages {
		b.messages[i].ChannelID = channelID
	}
	return b
}

// judge counts what the Guard says about the group's messages.
func (o *Outcome) judge(ctx context.Context, t *Timeline, members group, guard *chatguard.Guard, b *batch) error {
	for at := 0; at < t.count; {
		var n int
		n, at = t.read(at, members, b)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := guard.CheckAll(ctx, b.messages[:n], b.verdicts); err != nil {
			return fmt.Errorf("the timeline has a message that can't be judged: %w", err)
		}
		for i := range n {
			o.count(&b.verdicts[i], b.numbers[i])
		}
		runtime.Gosched() // chat goes first
	}
	return nil
}

// newGuard returns a Guard that nobody of the group has written under yet.
func newGuard(t *Timeline, members group, policy chatguard.Policy, own Own) (*chatguard.Guard, error) {
	policy = policy.Clone()
	policy.Mode = chatguard.Enforce
	start := t.From()
	guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return start }})
	if err != nil {
		return nil, err
	}
	give(guard, channelID, t, members, own.Channel)
	give(guard, "", t, members, own.Everywhere)
	return guard, nil
}

func (o *Outcome) count(v *chatguard.Verdict, user uint32) {
	switch {
	case v.Exempt:
		o.ExemptMessages++
	case v.Observed:
		o.ObservedByLimit[v.Limit]++
	case !v.Allowed:
		o.ThrottledMessages++
		o.ByLimit[v.Limit]++
		o.Penalties[v.Penalty.Action.String()]++
		if o.throttled[user]++; o.throttled[user] == 1 {
			o.ThrottledUsers++
		}
	}
}
