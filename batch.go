package chatguard

import (
	"context"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

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
			b.now = b.guard.now()
		}
		at = b.now
	}
	if b.count == 0 {
		if b.channel = b.guard.channels.get(m.ChannelID, at); b.channel == nil {
			return checkID(m.ChannelID, ErrNoChannel)
		}
	}
	c := &b.cases[b.count]
	if err := m.fillRequest(&c.Request, at, b.channel.policy.Load().exempt); err != nil {
		return err
	}
	if c.Request.Latest = b.guard.present.OnTime(c.Request.At); c.Request.Latest == 0 {
		c.Request.Latest = b.guard.present.Note(c.Request.At, m.User.ID, m.SentAt.IsZero())
	}
	v.fillCommon(m, at, b.guard.isDegraded())
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
	entry, step := b.guard.entries.next(throttled, b.guard.rows(), b.now)
	for i, v := range b.verdicts[:b.count] {
		if v.throttled() {
			v.EntryID = entry
			entry += step
		}
		b.guard.observers.notify(b.messages[i], v)
	}
	b.count = 0
}

// judgeFrom judges the collected messages from the given one on. It returns how many are judged
// then: all, unless the channel was removed in the meantime.
func (b *batch) judgeFrom(first int) (judged int) {
	if !b.guard.channels.hasPlaces(b.channel) {
		return first + b.channel.table.JudgeAll(b.cases[first:b.count])
	}
	for i := first; i < b.count; i++ {
		c := &b.cases[i]
		if !b.guard.channels.judge(b.channel, c.User, &c.Request, &c.Decision) {
			return i
		}
	}
	return b.count
}

// reopen prepares the messages from the given one on for the new channel with the same ID.
func (b *batch) reopen(first int) {
	b.channel = b.guard.channels.get(b.channel.id, b.verdicts[first].At)
	exempt := b.channel.policy.Load().exempt
	for i := first; i < b.count; i++ {
		// The message has been checked: there is no error.
		_ = b.messages[i].fillRequest(&b.cases[i].Request, b.verdicts[i].At, exempt)
	}
}

// judgeShared judges the collected messages by the rows in the shared store. It returns the
// context's error if that has ended and some messages are being decided elsewhere. They leave the
// batch.
func (b *batch) judgeShared() error {
	var outcomes [batchSize]sharing.Outcome
	err := b.guard.rows().JudgeAll(b.ctx, b.channel.shared, b.channel.policy.Load().places, b.cases[:b.count], outcomes[:])
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
