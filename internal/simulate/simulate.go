// Package simulate judges recorded messages with its own Guard. It can judge a channel's messages
// under any policy, the messages in a file, or one user's messages of a week. It knows no store, no
// HTTP, no platform and no clock: the caller provides the messages, and a context ends the work.
//
// The recorded messages depend on the limits in force at their time. A user who was timed out wrote
// nothing during the timeout. A user whom the simulated policy would have timed out kept writing.
// So the results compare two policies; they do not predict.
package simulate

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/journal"
)

// Outcome is the result of judging a timeline by a policy as if it had been enforced.
type Outcome struct {
	ThrottledMessages int            `json:"throttled_messages"`
	ThrottledUsers    int            `json:"throttled_users"`
	ExemptMessages    int            `json:"exempt_messages"`
	ByLimit           map[string]int `json:"by_limit"` // throttled messages by limit
	// ObservedByLimit counts, by limit, the messages that limits which only observe would have
	// throttled.
	ObservedByLimit map[string]int `json:"observed_by_limit"`
	Penalties       map[string]int `json:"penalties"` // by the name of the action
	// WithoutText is how many messages have no text, or none on record. It is 0 without limits on
	// repeated text, which don't count these messages.
	WithoutText int `json:"without_text,omitempty"`

	throttled []uint32 // by index of the Timeline's users
}

// batchSize is the number of messages judged before checking the context and yielding the
// processor. A batch takes a tenth of a millisecond.
const batchSize = 256

// channelID is the channel ID in the judging Guard.
const channelID = "recorded"

// Judge judges the timeline by a policy as if it had been enforced. Every user starts with a full
// allowance and their override. Limits per user across all channels see only this channel's
// messages. The same arguments give the same Outcome. The error is the policy's or the context's, a
// *BudgetError, or an error for a message that cannot be judged.
func Judge(ctx context.Context, t *Timeline, policy chatguard.Policy, own Overrides) (*Outcome, error) {
	return judgeWithBudget(ctx, t, policy, own, Budget)
}

// judgeWithBudget is Judge with the given budget.
func judgeWithBudget(ctx context.Context, t *Timeline, policy chatguard.Policy, own Overrides, budget int64) (*Outcome, error) {
	size, err := groupSize(policy, len(t.users), budget)
	if err != nil {
		return nil, err
	}
	o := &Outcome{ByLimit: map[string]int{}, ObservedByLimit: map[string]int{}, Penalties: map[string]int{}, throttled: make([]uint32, len(t.users))}
	b := newBatch()
	for first := 0; first < max(1, len(t.users)); first += max(1, size) {
		// judge once even without users, so that a wrong policy is an error
		members := group{uint32(first), uint32(min(first+size, len(t.users)))}
		guard, err := newGuard(t, members, policy, own)
		if err == nil {
			err = o.judgeGroup(ctx, t, members, guard, b)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// batch is a buffer for messages that are judged together.
type batch struct {
	messages []chatguard.Message
	numbers  []uint32 // index of each message's author
	verdicts []chatguard.Verdict
}

func newBatch() *batch {
	b := &batch{make([]chatguard.Message, batchSize), make([]uint32, batchSize), make([]chatguard.Verdict, batchSize)}
	for i := range b.messages {
		b.messages[i].ChannelID = channelID
	}
	return b
}

// judgeGroup judges the group's messages and counts the verdicts.
func (o *Outcome) judgeGroup(ctx context.Context, t *Timeline, members group, guard *chatguard.Guard, b *batch) error {
	readsTexts := inner.Of(guard).ReadsTexts(channelID)
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
			if o.count(&b.verdicts[i], b.numbers[i]); readsTexts && b.messages[i].Print == nil {
				o.WithoutText++
			}
		}
		runtime.Gosched() // let live chat run first
	}
	return nil
}

// guardMemory is the memory of the judging Guard for users. groupSize lets them use a part of it. A
// table of repeated texts may use a fifth of it, which is the Budget. Beyond that, the texts that
// were silent longest are forgotten.
const guardMemory = 5 * Budget

// newGuard returns a Guard in which no user of the group has written yet.
func newGuard(t *Timeline, members group, policy chatguard.Policy, own Overrides) (*chatguard.Guard, error) {
	policy = policy.Clone()
	policy.Mode = chatguard.ModeEnforce
	start := t.From()
	guard, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return start }, MaxMemory: guardMemory})
	if err != nil {
		return nil, err
	}
	setOverrides(guard, chatguard.Key{ChannelID: channelID}, t, members, own.Channel)
	setOverrides(guard, chatguard.Key{Per: chatguard.PerUserEverywhere}, t, members, own.Everywhere)
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
		o.Penalties[journal.Action(v.Penalty.Action).String()]++
		if o.throttled[user]++; o.throttled[user] == 1 {
			o.ThrottledUsers++
		}
	}
}
