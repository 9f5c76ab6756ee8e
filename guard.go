package chatguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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
	ErrTime      = errors.New("the message's time lies before 1970 or after February 2116")
)

// maxID is the length in bytes of the longest user or channel ID; longer ones could fill the memory.
const maxID = 256

// Options are what a Guard may be given beyond its policy. A nil *Options is the same as the zero value.
type Options struct {
	// Now is the clock for messages that bring no time. Nil means the wall clock without its steps: it is followed slowly, by 5 % of the time
	// that passes, and at once only if it is more than a minute away. Call Rewind if a clock given here is set back.
	Now func() time.Time

	// Observer is told every verdict, in the goroutine that asked for it and after the decision is final. It must not block, and must be
	// safe for concurrent use. Nil means nobody is told.
	Observer func(Message, Verdict)

	// MaxMemory is about how many bytes the users of one channel take at most, and once more those of limits per user everywhere. When they
	// are used up, new users make room for those who were silent for longest; users whose allowances are whole again are forgotten long
	// before. Policy.Capacity says how many users fit. 0 means DefaultMemory. The least that a table of users needs is 2,048 rows, 130 kB with
	// the default policy: a smaller bound is exceeded by that.
	MaxMemory int64
}

// Guard decides. It is safe for concurrent use; make one with New.
type Guard struct {
	now       func() time.Time
	given     func() time.Time                         // Options.Now
	observers atomic.Pointer[[]func(Message, Verdict)] // never changed, only replaced; nil without any
	maxMemory int64
	channels  channels

	changing   sync.Mutex                   // held while a policy changes
	base       atomic.Pointer[compiled]     // for channels without a policy of their own
	everywhere atomic.Pointer[limits.Table] // of limits per user in all channels; nil without any
	degraded   atomic.Bool                  // the store is in trouble

	_         [cacheLine]byte // what follows changes with each throttled message: decisions that read the rest would wait for it
	lastEntry atomic.Int64
	_         [cacheLine]byte
}

// cacheLine is the length in bytes of what processors take from each other at once, at most.
const cacheLine = 128

// New returns a Guard that holds every channel to the policy. The error names the first thing wrong with the policy.
func New(policy Policy, opts *Options) (*Guard, error) {
	base, err := compile(policy)
	if err != nil {
		return nil, err
	}
	own := newClock()
	g := &Guard{now: own.now, maxMemory: DefaultMemory}
	own.jumpedBack = g.Rewind
	if opts != nil {
		g.AddObserver(opts.Observer)
		if opts.Now != nil {
			g.now, g.given = opts.Now, opts.Now
		}
		if opts.MaxMemory > 0 {
			g.maxMemory = opts.MaxMemory
		}
	}
	g.base.Store(base)
	changeTable(&g.everywhere, base.sets[limits.PerUserEverywhere], g.maxMemory, 0)
	g.lastEntry.Store(g.now().UnixMilli() * 1000) // later starts have later IDs, with or without a store
	return g, nil
}

// Check decides on one message and, when it is allowed, spends its cost. The error says why the message can't be judged: ErrNoChannel,
// ErrNoUser, ErrLongID, ErrCost or ErrTime. The context is not waited on: a decision only touches memory.
func (g *Guard) Check(_ context.Context, m Message) (v Verdict, err error) {
	_, err = g.check(&m, &v, false)
	return v, err
}

// Take is Check for a sender who would rather send less than nothing: of the message's cost it spends as many as all limits allow, and
// returns how many those are. With none, the message is throttled as one of cost 1 would be. Where the policy observes, all of the cost is
// taken.
func (g *Guard) Take(_ context.Context, m Message) (taken int, v Verdict, err error) {
	spent, err := g.check(&m, &v, true)
	return int(spent), v, err
}

// check decides on a message and returns how many of its cost may be sent. The verdict has to be the zero one.
func (g *Guard) check(m *Message, v *Verdict, upTo bool) (taken int64, err error) {
	at := m.SentAt
	if at.IsZero() {
		at = g.now()
	}
	c := g.channels.get(m.ChannelID, g)
	if c == nil {
		return 0, checkID(m.ChannelID, ErrNoChannel)
	}
	var q limits.Request
	q.UpTo = upTo
	if err := m.request(&q, at, c.policy.Load().exempt); err != nil {
		return 0, err
	}
	v.begin(m, at, g.degraded.Load())
	if q.Exempt && !c.table.HasOwn() {
		v.Exempt, taken = true, q.Cost
	} else {
		var d limits.Decision
		var room [2]limits.Place
		c.table.Judge(m.User.ID, &q, &d, c.places(g, m.User.ID, &room)...)
		v.decide(&d, q.At)
		if taken = d.Taken; d.Exempt || v.policy(&d).Mode == Observe {
			taken = q.Cost
		}
	}
	if v.Throttled() {
		v.EntryID = g.entries(1)
	}
	g.tell(m, v)
	return taken, nil
}

// Now returns the time by the Guard's clock: a message without a time is judged by it, and whoever grants, resets or explains as of now does so by
// it. It is Options.Now where that was given.
func (g *Guard) Now() time.Time { return g.now() }

// Rewind brings everybody's state to a clock that was set back: what was spent after that time counts as spent then. The Guard's own clock does so by
// itself; a program that gives Options.Now calls it if that clock goes back. Without it, messages of users who were active in the minute before count
// as late ones, all at one instant.
func (g *Guard) Rewind(to time.Time) {
	at, err := nanoseconds(to)
	if err != nil {
		return // no message is judged at such a time
	}
	g.eachTable(func(_ string, table *limits.Table) { table.Rewind(at) })
}

// entries returns the first of n new entry IDs that follow one another.
func (g *Guard) entries(n int) EntryID {
	if n == 0 {
		return 0
	}
	return EntryID(g.lastEntry.Add(int64(n)) - int64(n) + 1)
}

// AddObserver lets one more observer be told every verdict from now on, after those that are told already. Options.Observer says what it
// must keep to; nil is nobody. It stays for as long as the Guard does: a store or a dashboard that is made for a Guard adds itself, once.
func (g *Guard) AddObserver(observer func(Message, Verdict)) {
	if observer == nil {
		return
	}
	for {
		before := g.observers.Load()
		var all []func(Message, Verdict)
		if before != nil {
			all = slices.Clone(*before)
		}
		all = append(all, observer)
		if g.observers.CompareAndSwap(before, &all) {
			return
		}
	}
}

// tell tells the observers, if there are any.
func (g *Guard) tell(m *Message, v *Verdict) {
	observers := g.observers.Load()
	if observers == nil {
		return
	}
	told := *m
	told.SentAt = v.At
	for _, observer := range *observers {
		observer(told, *v)
	}
}

// Peek returns the verdict that Check would give, and changes nothing: nothing is spent, no strike is given, no observer is told, and
// there is no journal entry.
func (g *Guard) Peek(m Message) (v Verdict, err error) {
	e, err := g.Explain(m)
	return e.Verdict, err
}

// SetDegraded says whether the store is in trouble: until it is called again, every verdict is Degraded or isn't. Decisions stay the same.
func (g *Guard) SetDegraded(degraded bool) {
	if g.degraded.Load() != degraded { // every decision reads it: only a change may take it from the other processors
		g.degraded.Store(degraded)
	}
}

// Policy returns the policy of a channel, without an overlay; of an empty ID, the one of channels that have none of their own.
func (g *Guard) Policy(channelID string) Policy {
	if c := g.channels.find(channelID); c != nil {
		return c.stated.Load().policy.Clone()
	}
	return g.base.Load().policy.Clone()
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

// timeOf is the way back; Never is the zero time.
func timeOf(ns int64) time.Time {
	if ns == limits.Never {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// CheckAll decides on messages in their order and writes the verdict on messages[i] to verdicts[i]; the clock is read at most once. A
// message that can't be judged gets the zero Verdict, and the error joins what was wrong with each. It panics when verdicts is shorter than
// messages. Messages of a channel that follow one another cost much less than as many calls of Check.
func (g *Guard) CheckAll(_ context.Context, messages []Message, verdicts []Verdict) error {
	if len(verdicts) < len(messages) {
		panic("chatguard: CheckAll with fewer verdicts than messages")
	}
	b := batch{guard: g}
	for i := range messages {
		if err := b.add(&messages[i], &verdicts[i]); err != nil {
			b.errs = append(b.errs, fmt.Errorf("message %d: %w", i, err))
		}
	}
	b.judge()
	return errors.Join(b.errs...)
}
