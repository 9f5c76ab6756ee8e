package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// batchSize is the maximum number of messages judged together.
const batchSize = 16

// batch collects consecutive messages of one channel and judges them together.
type batch struct {
	guard    *Guard
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
	if b.count == 0 {
		if b.channel = b.guard.channels.get(m.ChannelID, b.guard); b.channel == nil {
			return checkID(m.ChannelID, ErrNoChannel)
		}
	}
	at := m.SentAt
	if at.IsZero() {
		if b.now.IsZero() {
			b.now = b.guard.now()
		}
		at = b.now
	}
	c := &b.cases[b.count]
	if err := m.fillRequest(&c.Request, at, b.channel.policy.Load().exempt); err != nil {
		return err
	}
	v.fillCommon(m, at, b.guard.degraded.Load())
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
	var room [2]limits.Place
	if len(b.channel.places(b.guard, b.cases[0].User, &room)) == 0 {
		b.channel.table.JudgeAll(b.cases[:b.count])
	} else {
		for i := range b.cases[:b.count] {
			c := &b.cases[i]
			b.channel.table.Judge(c.User, &c.Request, &c.Decision, b.channel.places(b.guard, c.User, &room)...)
		}
	}
	throttled := 0
	for i := range b.cases[:b.count] {
		c, v := &b.cases[i], b.verdicts[i]
		v.decide(&c.Decision, c.Request.At)
		if v.throttled() {
			throttled++
		}
	}
	entry := b.guard.newEntryIDs(throttled)
	for i, v := range b.verdicts[:b.count] {
		if v.throttled() {
			v.EntryID = entry
			entry++
		}
		b.guard.notify(b.messages[i], v)
	}
	b.count = 0
}
