package chatguard

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
	"github.com/chatguard/chatguard/shared"
)

// Errors for a message that can't be judged, because the caller has made a mistake. Such a message
// isn't counted.
var (
	ErrNoChannel = errors.New("chatguard: the channel ID is empty")
	ErrNoUser    = errors.New("chatguard: the user ID is empty")
	ErrLongID    = errors.New("chatguard: a channel or user ID is longer than 256 bytes")
	ErrCost      = errors.New("chatguard: the cost is negative")
	ErrTime      = errors.New("chatguard: the time is before 1970 or after February 2116")
)

// maxID is the maximum length in bytes of a user or channel ID. Longer IDs could fill the memory.
const maxID = 256

// Options are a Guard's optional settings in addition to its policy. A nil *Options is the same as
// the zero value.
type Options struct {
	// Now is the clock for messages without a time. Nil means the wall clock with its steps
	// smoothed out. After a step of up to a minute, the Guard's clock runs at most 5 % faster or
	// slower until it matches the wall clock. The Guard follows a larger step at once. If you set
	// Now, call Rewind when your clock is set back.
	Now func() time.Time

	// Observer is called with every verdict after the decision is final, in the goroutine that
	// called Check. It must not block, and must be safe for concurrent use. Nil means no observer.
	Observer func(Message, Verdict)

	// Shared is where several Guards keep what users have spent, so that all of them together allow
	// what one alone would. Nil means that this Guard is alone. With Shared, Check may wait for the
	// store, for up to 1.25 times Shared.Timeout. While the store doesn't answer, the Guard decides
	// by what it knows, and verdicts are Degraded. What it allows is written when the store is
	// back.
	//
	// Reset, Grant and other changes of users also wait for the store. They return ErrAway if it
	// doesn't answer, ErrUnconfirmed if only its reply is lost, and otherwise its reason to refuse.
	//
	// Now must be nil: the Guard's clock is that of Shared. With ShareExact, a store for State has
	// no usage to keep; with ShareSynchronised it keeps a copy.
	Shared shared.Store
	// ShareMode says how Shared is used. The zero value is ShareExact.
	ShareMode ShareMode
	// SharedRows is the maximum number of rows of Shared that the Guard remembers, at about 600
	// bytes each, and also of rows that owe something while the store is away. 0 means
	// DefaultSharedRows.
	SharedRows int

	// MaxMemory is approximately the maximum number of bytes for the users of one channel. All
	// limits with scope PerUserEverywhere together may use the same amount again. When the memory
	// is used up, new users replace the users who have been silent longest. Long before that, the
	// Guard removes users whose allowances are fully restored. Policy.Capacity returns how many
	// users fit. 0 means DefaultMemory. However small MaxMemory is, one user is remembered.
	MaxMemory int64
	// MaxTotalMemory is approximately the maximum number of bytes for the users of all channels.
	// When it is used up, new users replace users of the channel that takes most: some of those who
	// have been silent longest. 0 means that only MaxMemory applies.
	MaxTotalMemory int64
}

// Guard judges messages. It is safe for concurrent use. Create one with New.
type Guard struct {
	now       func() time.Time
	observers observers
	channels  channels
	present   limits.Present // what messages say that the time is

	degraded    atomic.Bool // the store is failing
	unexchanged atomic.Bool // the last Exchange with ShareSynchronised found the store away

	entries entryIDs
}

// New returns a Guard that applies the policy to every channel. The error names the first mistake
// in the policy or the options.
func New(policy Policy, opts *Options) (*Guard, error) {
	base, err := compile(policy)
	if err != nil {
		return nil, err
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	own := clock.NewSmooth()
	g := &Guard{now: own.Now, channels: channels{maxMemory: DefaultMemory, budget: limits.NewBudget(0), dropped: new(limits.Dropped)}}
	own.JumpedBack = g.Rewind
	if opts != nil {
		g.AddObserver(opts.Observer)
		if opts.Now != nil {
			g.now = opts.Now
		}
		if opts.MaxMemory > 0 {
			g.channels.maxMemory = opts.MaxMemory
		}
		g.channels.budget = limits.NewBudget(opts.MaxTotalMemory)
		if opts.Shared != nil {
			g.channels.share(opts)
			g.now = g.rows().Now
		}
	}
	g.channels.base.Store(base)
	g.channels.changeOverall(base, &limits.Changes{})
	// IDs start at the current time, so a later start has higher IDs, with or without a store.
	g.entries.last.Store(g.now().UnixMilli() * 1000)
	return g, nil
}

// check returns an error if the options contradict each other.
func (o *Options) check() error {
	switch {
	case o == nil:
	case o.ShareMode > ShareSynchronised:
		return fmt.Errorf("chatguard: Options.ShareMode is %d: use ShareExact or ShareSynchronised", o.ShareMode)
	case o.Shared == nil && o.ShareMode != ShareExact:
		return errors.New("chatguard: Options.ShareMode needs Options.Shared: open a store, for example with redisstore.Open")
	case o.SharedRows < 0:
		return fmt.Errorf("chatguard: Options.SharedRows is %d: use 0 for the default", o.SharedRows)
	case o.Shared != nil && o.Now != nil:
		return errors.New("chatguard: Options.Now must be nil with Options.Shared: all nodes use the clock of the store")
	}
	return nil
}

// Check judges one message and spends its cost if it is allowed. The error says why the message
// can't be judged: ErrNoChannel, ErrNoUser, ErrLongID, ErrCost or ErrTime. Check doesn't wait for
// the context, because a decision only accesses memory. With Options.Shared it may wait for the
// store, for up to 1.25 times Shared.Timeout. If the context ends first, Check decides without the
// store, or returns the context's error. In the latter case the message is spent if it is allowed.
// A Check that asks the store for waiting messages, too, returns when the store has answered.
func (g *Guard) Check(ctx context.Context, m Message) (v Verdict, err error) {
	_, err = g.check(ctx, &m, &v, whole)
	return v, err
}

// CheckUpTo is like Check, but it can allow a part of the message's cost. It spends as much of the
// cost as all limits allow, and returns that number. If the number is 0, the message is throttled
// like a message of cost 1. If the policy observes, or the author is exempt, CheckUpTo returns the
// whole cost. It returns the same errors as Check.
func (g *Guard) CheckUpTo(ctx context.Context, m Message) (taken int, v Verdict, err error) {
	spent, err := g.check(ctx, &m, &v, upTo)
	return int(spent), v, err
}

// checkMode says how check judges a message.
type checkMode uint8

const (
	whole   checkMode = iota // allow the whole cost or nothing
	upTo                     // allow as much of the cost as possible
	waiting                  // like whole, but a throttled message leaves no trace
)

// check judges a message and returns how much of its cost may be sent. v must be the zero Verdict.
func (g *Guard) check(ctx context.Context, m *Message, v *Verdict, mode checkMode) (taken int64, err error) {
	c := g.channels.find(m.ChannelID)
	var clock sharing.Reading
	at := m.SentAt
	if g.channels.exact {
		clock = g.rows().Read()
	} else if at.IsZero() {
		clock.Now = g.now()
	}
	if at.IsZero() {
		at = clock.Now
	}
	if c == nil {
		if c = g.channels.get(m.ChannelID, at); c == nil {
			return 0, checkID(m.ChannelID, ErrNoChannel)
		}
	}
	var q limits.Request
	q.UpTo, q.Try = mode == upTo, mode == waiting
	if err := m.fillRequest(&q, at, c.policy.Load().exempt); err != nil {
		return 0, err
	}
	if q.Latest = g.present.OnTime(q.At); q.Latest == 0 {
		q.Latest = g.present.Note(q.At, m.User.ID, m.SentAt.IsZero())
	}
	v.fillCommon(m, at, g.isDegraded())
	if g.channels.exact {
		if taken, err = v.judgeShared(ctx, g.rows(), clock, c, &q); err != nil {
			*v = Verdict{}
			return 0, err
		}
	} else if q.Exempt && !c.table.HasOwn() {
		v.Exempt, taken = true, q.Cost
	} else {
		var d limits.Decision
		if !g.channels.judge(c, m.User.ID, &q, &d) {
			*v = Verdict{}
			return g.check(ctx, m, v, mode) // the channel was removed in the meantime
		}
		v.decide(&d, q.At)
		if taken = d.Taken; d.Exempt || v.policy(&d).Mode == Observe {
			taken = q.Cost
		}
	}
	if q.Try && !v.Allowed {
		return 0, nil
	}
	if v.throttled() {
		v.EntryID, _ = g.entries.next(1, g.rows(), clock.Now)
	}
	g.observers.notify(m, v)
	return taken, nil
}

// isDegraded reports whether a verdict is Degraded that doesn't wait for the shared store.
func (g *Guard) isDegraded() bool { return g.degraded.Load() || g.unexchanged.Load() }

// Now returns the time of the Guard's clock, which is Options.Now if that is set. The Guard uses
// this time for a message without one. Use Now to grant, reset or explain at the current time.
func (g *Guard) Now() time.Time { return g.now() }

// Rewind tells the Guard that its clock was set back and now shows the time to. Usage that was
// spent later than to counts as spent at to. If Options.Now is nil, the Guard calls Rewind itself.
// A program that sets Options.Now must call Rewind when that clock goes back. So must a program
// that stamps messages itself. Otherwise, if a user's last message is now in the future, the user's
// next messages count as late for up to a minute. They all count at the time of that last message.
func (g *Guard) Rewind(to time.Time) {
	at, err := nanoseconds(to)
	if err != nil {
		return // a time at which no message can be judged
	}
	g.present.SetBack(at)
	g.channels.EachTable(func(_ string, table *limits.Table) { table.Rewind(at) })
}

// Policy returns the policy of the channels without their own policy.
func (g *Guard) Policy() Policy { return g.channels.base.Load().policy.Clone() }

// ChannelPolicy returns the policy of a channel, without an overlay. It is Policy if the channel
// has none of its own.
func (g *Guard) ChannelPolicy(channelID string) Policy {
	if c := g.channels.find(channelID); c != nil {
		return c.stated.Load().policy.Clone()
	}
	return g.Policy()
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

// nanoseconds converts a time to the unit used in decisions.
func nanoseconds(t time.Time) (int64, error) {
	if s := t.Unix(); s < 0 || s >= limits.MaxTime/int64(time.Second) {
		return 0, ErrTime
	}
	return t.UnixNano(), nil
}

// CheckAll judges messages in order and writes the verdict on messages[i] to verdicts[i]. It reads
// the clock at most once. A message that can't be judged gets the zero Verdict, and the returned
// error joins all such errors. It panics if verdicts is shorter than messages. Consecutive messages
// of one channel cost much less than separate calls of Check. With Options.Shared, some of them are
// decided in one round trip; see Check about the context.
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
