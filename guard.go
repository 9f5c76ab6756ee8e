package chatguard

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// What is wrong with a message that can't be judged. It is the caller's mistake, and nothing is counted.
var (
	ErrNoChannel = errors.New("the message has no channel ID")
	ErrNoUser    = errors.New("the message has no user ID")
	ErrLongID    = errors.New("the message has an ID of more than 256 bytes")
	ErrCost      = errors.New("the message costs less than 1")
	ErrTime      = errors.New("the message's time lies outside the years 1970 to 2115")
)

// maxID is the length in bytes of the longest user or channel ID; longer ones could fill the memory.
const maxID = 256

// Options are what a Guard may be given beyond its policy. A nil *Options is the same as the zero value.
type Options struct {
	// Now is the clock for messages that bring no time. Nil means time.Now.
	Now func() time.Time

	// Observer is told every verdict, in the goroutine that asked for it and after the decision is final. It must not block, and must be
	// safe for concurrent use. Nil means nobody is told.
	Observer func(Message, Verdict)
}

// Guard decides. It is safe for concurrent use; make one with New.
type Guard struct {
	now       func() time.Time
	observer  func(Message, Verdict)
	base      *compiled // for channels without a policy of their own
	lastEntry atomic.Int64
	channels  channels
}

// New returns a Guard that holds every channel to the policy. The error names the first thing wrong with the policy.
func New(policy Policy, opts *Options) (*Guard, error) {
	base, err := compile(policy)
	if err != nil {
		return nil, err
	}
	g := &Guard{base: base, now: time.Now}
	if opts != nil {
		g.observer = opts.Observer
		if opts.Now != nil {
			g.now = opts.Now
		}
	}
	g.lastEntry.Store(g.now().UnixMilli() * 1000) // later starts have later IDs, with or without a store
	return g, nil
}

// Check decides on one message and, when it is allowed, spends its cost. The error says why the message can't be judged: ErrNoChannel,
// ErrNoUser, ErrLongID, ErrCost or ErrTime. The context is not waited on: a decision only touches memory.
func (g *Guard) Check(_ context.Context, m Message) (Verdict, error) {
	if m.SentAt.IsZero() {
		m.SentAt = g.now()
	}
	return g.check(m)
}

// CheckAll decides on messages in their order and writes the verdict on messages[i] to verdicts[i]; the clock is read at most once. A
// message that can't be judged gets the zero Verdict, and the error joins what was wrong with each. It panics when verdicts is shorter than messages.
func (g *Guard) CheckAll(_ context.Context, messages []Message, verdicts []Verdict) error {
	var now time.Time
	var errs []error
	for i, m := range messages {
		if m.SentAt.IsZero() {
			if now.IsZero() {
				now = g.now()
			}
			m.SentAt = now
		}
		var err error
		if verdicts[i], err = g.check(m); err != nil {
			errs = append(errs, fmt.Errorf("message %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// Peek returns the verdict that Check would give, and changes nothing: nothing is spent, no strike is given, no observer is told, and
// there is no journal entry.
func (g *Guard) Peek(m Message) (Verdict, error) {
	if m.SentAt.IsZero() {
		m.SentAt = g.now()
	}
	c := g.channels.find(m.ChannelID)
	if c == nil {
		c = newChannel(g.base)
	}
	return c.decide(&m, (*limits.Table).Peek)
}

func (g *Guard) check(m Message) (Verdict, error) {
	if err := checkID(m.ChannelID, ErrNoChannel); err != nil {
		return Verdict{}, err
	}
	v, err := g.channels.get(m.ChannelID, g.base).decide(&m, (*limits.Table).Judge)
	if err != nil {
		return Verdict{}, err
	}
	if v.Throttled() {
		v.EntryID = EntryID(g.lastEntry.Add(1))
	}
	if g.observer != nil {
		g.observer(m, v)
	}
	return v, nil
}

// Policy returns the policy in force in a channel.
func (g *Guard) Policy(channelID string) Policy {
	if c := g.channels.find(channelID); c != nil {
		return c.policy.Load().policy.Clone()
	}
	return g.base.policy.Clone()
}

// SetPolicy puts a policy in force in one channel, as of the moment at, and keeps what every user has spent. Going from Observe to Enforce
// clears the strikes that were given for practice. The error is Validate's, or ErrNoChannel, ErrLongID or ErrTime.
func (g *Guard) SetPolicy(channelID string, policy Policy, at time.Time) error {
	next, err := compile(policy)
	if err != nil {
		return err
	}
	if err := checkID(channelID, ErrNoChannel); err != nil {
		return err
	}
	ns, err := nanoseconds(at)
	if err != nil {
		return err
	}
	g.channels.get(channelID, g.base).change(next, ns)
	return nil
}

func checkID(id string, missing error) error {
	switch {
	case id == "":
		return missing
	case len(id) > maxID:
		return ErrLongID
	}
	return nil
}

// nanoseconds returns a time in the unit that decisions are made in.
func nanoseconds(t time.Time) (int64, error) {
	if s := t.Unix(); s < 0 || s >= limits.MaxTime/int64(time.Second) {
		return 0, ErrTime
	}
	return t.UnixNano(), nil
}
