package main

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
)

// channelID is the only channel used.
const channelID = "1"

// pace is the time between two messages if the caller passes the time to chatguard. It is about the
// time that the slower contestants need for a decision.
const pace = 500 * time.Nanosecond

var guards = []contestant{
	{"chatguard Check, own clock", "2 limits", false, false, newCheckNow},
	{"chatguard Check, time given", "2 limits", false, false, newCheckAt},
	{"chatguard CheckAll of 16", "2 limits", false, false, newCheckAll},
}

// measured lists the policies whose memory is measured, by their name in the table.
var measured = []struct {
	name   string
	policy func(refill time.Duration) chatguard.Policy
}{
	{"chatguard, default policy", enforcing},
	{"chatguard, all seven algorithms", allAlgorithms},
}

// allAlgorithms returns a policy with a limit of each algorithm. The four times in the log take 32
// bytes per user.
func allAlgorithms(refill time.Duration) chatguard.Policy {
	p := enforcing(refill)
	p.Limits = append(p.Limits,
		chatguard.Limit{Name: "queue", Algorithm: chatguard.LeakyBucket, Every: time.Second, Queue: 9},
		chatguard.Limit{Name: "fixed", Algorithm: chatguard.FixedWindow, Messages: 100, Every: time.Minute},
		chatguard.Limit{Name: "own", Algorithm: chatguard.UserWindow, Messages: 100, Every: time.Minute},
		chatguard.Limit{Name: "sliding", Algorithm: chatguard.SlidingWindow, Messages: 100, Every: time.Minute},
		chatguard.Limit{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 4, Every: time.Minute},
	)
	return p
}

// enforcing returns the default policy with that refill.
func enforcing(refill time.Duration) chatguard.Policy {
	p := chatguard.DefaultPolicy()
	for i := range p.Limits {
		if p.Limits[i].Algorithm == chatguard.TokenBucket {
			p.Limits[i].Burst, p.Limits[i].Refill = burst, refill
		}
	}
	return p
}

// message returns the complete value that a chat server would pass.
func (d *draw) message() chatguard.Message {
	return chatguard.Message{ChannelID: channelID, User: chatguard.User{ID: d.id, Roles: d.roles}}
}

// checkNow lets the Guard read its clock for each message.
type checkNow struct{ guard *chatguard.Guard }

func newCheckNow(_ int, refill time.Duration) (asker, error) {
	g, err := chatguard.New(enforcing(refill), nil)
	return checkNow{g}, err
}

func (c checkNow) take(messages []draw) (passed int) {
	ctx := context.Background()
	for i := range messages {
		if v, err := c.guard.Check(ctx, messages[i].message()); err == nil && v.Allowed {
			passed++
		}
	}
	return passed
}

// checkAt passes each message's time.
type checkAt struct {
	guard *chatguard.Guard
	at    time.Time // of the last message
}

func newCheckAt(_ int, refill time.Duration) (asker, error) {
	g, err := chatguard.New(enforcing(refill), nil)
	return &checkAt{g, time.Now()}, err
}

func (c *checkAt) fork() asker {
	other := *c
	return &other
}

func (c *checkAt) take(messages []draw) (passed int) {
	ctx := context.Background()
	for i := range messages {
		c.at = c.at.Add(pace)
		m := messages[i].message()
		m.SentAt = c.at
		if v, err := c.guard.Check(ctx, m); err == nil && v.Allowed {
			passed++
		}
	}
	return passed
}

// checkAll checks all messages in one call, for which the Guard reads its clock once.
type checkAll struct {
	guard    *chatguard.Guard
	messages [batch]chatguard.Message
	verdicts [batch]chatguard.Verdict
}

func newCheckAll(_ int, refill time.Duration) (asker, error) {
	g, err := chatguard.New(enforcing(refill), nil)
	return &checkAll{guard: g}, err
}

func (c *checkAll) fork() asker { return &checkAll{guard: c.guard} }

func (c *checkAll) take(messages []draw) (passed int) {
	for i := range messages {
		c.messages[i] = messages[i].message()
	}
	verdicts := c.verdicts[:len(messages)]
	if err := c.guard.CheckAll(context.Background(), c.messages[:len(messages)], verdicts); err != nil {
		return 0
	}
	for i := range verdicts {
		if verdicts[i].Allowed {
			passed++
		}
	}
	return passed
}
