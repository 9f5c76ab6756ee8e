package chatguardtest

import (
	"context"
	"slices"
	"sync"

	"github.com/chatguard/chatguard"
)

// Checker judges messages with prepared verdicts. It fits an interface with the method Check of
// [chatguard.Guard] and of connguard.Session. The zero Checker allows every message. A Checker is
// safe for concurrent use, and must not be copied.
type Checker struct {
	mu       sync.Mutex
	verdicts []chatguard.Verdict // the next ones
	messages []chatguard.Message
	err      error
}

// NewChecker returns a Checker that gives the verdicts in turn, and then the last one for all other
// messages. Without verdicts, it allows every message.
func NewChecker(verdicts ...chatguard.Verdict) *Checker {
	return &Checker{verdicts: slices.Clone(verdicts)}
}

// Check returns the next verdict, with the IDs of the message. The IDs may be empty, because a
// Session knows them. Check ignores the context.
func (c *Checker) Check(_ context.Context, m chatguard.Message) (chatguard.Verdict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages = append(c.messages, m)
	if c.err != nil {
		return chatguard.Verdict{}, c.err
	}
	v := Allowed()
	if len(c.verdicts) > 0 {
		v = c.verdicts[0]
	}
	if len(c.verdicts) > 1 {
		c.verdicts = c.verdicts[1:]
	}
	v.ChannelID, v.UserID = m.ChannelID, m.User.ID
	return v, nil
}

// Fail makes Check return the error for all further messages, and verdicts again if err is nil. A
// Guard fails only because of its caller's mistakes; a Checker that stands for a service can fail
// at any time.
func (c *Checker) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// Messages returns all messages that Check has received, in order.
func (c *Checker) Messages() []chatguard.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}
