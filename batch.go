package chatguard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// CheckAll judges messages in order and writes the verdict on messages[i] to verdicts[i]. All
// messages without a SentAt get the same time. A message that can't be judged gets the zero
// Verdict, and the returned error joins all such errors. It panics if verdicts is shorter than
// messages. Consecutive messages of one channel cost much less than separate calls of Check. With
// Options.Shared, several such messages can be decided in one round trip; see Check about the
// context.
func (g *Guard) CheckAll(ctx context.Context, messages []Message, verdicts []Verdict) error {
	if len(verdicts) < len(messages) {
		panic("chatguard: CheckAll with fewer verdicts than messages")
	}
	b := batch{guard: g, ctx: ctx}
	for i := range messages {
		if err := b.add(&messages[i], &verdicts[i]); err != nil {
			b.errs = append(b.errs, fmt.Errorf("message %d: %w", i, err))
		}
	}
	b.judge()
	return errors.Join(b.errs...)
}

// batchSize is the maximum number of messages judged together.
const batchSize = sharing.BatchSize

// batch collects consecutive messages of one channel and judges them together.
type batch struct {
	guard    *Guard
	ctx      context.Context
	now      time.Time // the clock's time; zero until it is read
	channel  *channel
	cases    [batchSize]limits.Case
	messages [batchSize]*Message
	verdicts [batchSize]*Verdict
	count    int
	errs     []error
}

// add adds a message to the batch. If the message can't be judged, add returns the reason and
// leaves the verdict zero.
func (b *batch) add(m *Message, v *Verdict) error {
	*v = Verdict{}
	if b.count == batchSize || b.count > 0 && m.ChannelID != b.messages[0].ChannelID {
		b.judge()
	}
	at := m.SentAt
	if at.IsZero() {
		if b.now.IsZero() {
			b.now = b.guard.Now()
		}
		at = b.now
	}
	if b.count == 0 {
		if b.channel = b.guard.channels.get(m.ChannelID, at); b.channel == nil {
			return checkID(m.ChannelID, errNoChannel)
		}
	}
	c := &b.cases[b.count]
	if err := m.fillRequest(&c.Request, instant(at), b.channel.policy.Load()); err != nil {
		return err
	}
	if c.Request.Latest = b.guard.present.OnTime(c.Request.At); c.Request.Latest == 0 {
		c.Request.Latest = b.guard.present.Note(c.Request.At, m.User.ID, m.SentAt.IsZero())
	}
	v.fillCommon(m, at, c.Request.Roles, b.guard.isDegraded())
	b.guard.fillPrint(&v.Print, m, b.channel, &c.Request)
	c.User = m.User.ID
	b.messages[b.count], b.verdicts[b.count] = m, v
	b.count++
	return nil
}

// judge judges the collected messages.
func (b *batch) judge() {
	if b.count == 0 {
		return
	}
	if !b.guard.channels.exact {
		for judged := b.judgeFrom(0); judged < b.count; judged = b.judgeFrom(judged) {
			b.reopen(judged)
		}
	} else if err := b.judgeShared(); err != nil {
		b.errs = append(b.errs, err)
	}
	throttled := 0
	for i := range b.cases[:b.count] {
		c, v := &b.cases[i], b.verdicts[i]
		v.decide(&c.Decision, c.Request.At)
		if v.throttled() {
			throttled++
		}
	}
	entry, step := b.guard.entries.next(throttled, b.guard.channels.rows, b.now)
	for i, v := range b.verdicts[:b.count] {
		if v.throttled() {
			v.EntryID = entry
			entry += step
		}
		b.guard.observers.notify(b.messages[i], v)
	}
	b.count = 0
}

// judgeFrom judges the collected messages from the given one on. It returns the number of messages
// judged so far: all, unless the channel was removed in the meantime.
func (b *batch) judgeFrom(first int) (judged int) {
	if !b.guard.channels.hasPlaces(b.channel) {
		return first + b.channel.table.JudgeAll(b.cases[first:b.count])
	}
	for i := first; i < b.count; i++ {
		c := &b.cases[i]
		if !b.guard.channels.judge(b.channel, c.User, &b.verdicts[i].Print, &c.Request, &c.Decision) {
			return i
		}
	}
	return b.count
}

// reopen prepares the messages from the given one on for the new channel with the same ID.
func (b *batch) reopen(first int) {
	b.channel = b.guard.channels.get(b.channel.id, b.verdicts[first].At)
	policy := b.channel.policy.Load()
	for i := first; i < b.count; i++ {
		q := &b.cases[i].Request
		_ = b.messages[i].fillRequest(q, q.At, policy) // the message has been checked: there is no error
		b.verdicts[i].Print = TextPrint{}              // the old channel may have needed it
		b.guard.fillPrint(&b.verdicts[i].Print, b.messages[i], b.channel, q)
	}
}

// judgeShared judges the collected messages by the rows in the shared store. If the context ends
// while other goroutines decide some of the messages, judgeShared removes these messages from the
// batch and returns the context's error.
func (b *batch) judgeShared() error {
	var outcomes [batchSize]sharing.Outcome
	var users [batchSize]sharing.User
	for i, v := range b.verdicts[:b.count] {
		users[i] = sharing.User{ID: v.UserID, Order: b.channel.policy.Load().places, Texts: b.channel.textKeys(&b.guard.channels.textKey, &v.Print, v.UserID)}
	}
	err := b.guard.channels.rows.JudgeAll(b.ctx, b.channel.shared, users[:b.count], b.cases[:b.count], outcomes[:])
	kept := 0
	for i, outcome := range outcomes[:b.count] {
		if outcome.Abandoned {
			*b.verdicts[i] = Verdict{}
			continue
		}
		b.verdicts[i].Degraded = b.verdicts[i].Degraded || outcome.Offline
		b.cases[kept], b.messages[kept], b.verdicts[kept] = b.cases[i], b.messages[i], b.verdicts[i]
		kept++
	}
	b.count = kept
	return err
}
