package chatguard

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard/internal/clock"
	"github.com/chatguard/chatguard/internal/fingerprint"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
	"github.com/chatguard/chatguard/shared"
)

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
	// Reset, Grant and other changes of users also wait for the store. They return shared.ErrAway
	// if it doesn't answer, shared.ErrUnconfirmed if only its reply is lost, and shared.ErrRefused
	// if it refuses. If their context ends first, the error wraps the context's. The change may
	// then have been made only if the error wraps shared.ErrUnconfirmed, too. Without Shared, no
	// method but Wait looks at its context, because the Guard only accesses memory.
	//
	// Now must be nil: the Guard's clock is that of Shared. With shared.Exact, a store for State
	// has no usage to keep; with shared.Synchronised it keeps a copy.
	Shared shared.Store
	// SharedMode says how Shared is used. The zero value is shared.Exact.
	SharedMode shared.Mode
	// SharedRows is the maximum number of rows of Shared that the Guard remembers, at about 600
	// bytes each. It is also the maximum number of pending rows while the store is away. 0 means
	// 200,000.
	SharedRows int

	// MaxMemory is approximately the maximum number of bytes for the users of one channel. All
	// limits with scope PerUserEverywhere together may use the same amount in addition. When the
	// memory is used up, new users replace the users who have been silent longest. Long before
	// that, the Guard removes users whom it need not remember; see ForgetChannel.
	// limitinfo.Capacity returns how many users fit. Texts may take a fifth of MaxMemory in
	// addition, for each of the up to four combinations that limits on repeated text have. 0 means
	// 512 MiB. However small MaxMemory is, one user is remembered.
	MaxMemory int64
	// MaxTotalMemory is approximately the maximum number of bytes for the users of all channels.
	// When it is used up, new users replace users of the channel that takes the most memory, from
	// among those who have been silent longest. The texts of a channel count five times for that,
	// so they hardly replace users. 0 means that only MaxMemory applies.
	MaxTotalMemory int64

	// TextKey is the secret with which limits on repeated text tell texts apart, so that nobody who
	// doesn't know it can find out what was written. All Guards with the same Shared must have the
	// same. It must also stay the same if a store keeps the usage: rows and prints of another key
	// are restored without an error, but no message uses them. The zero value means a random one
	// for this Guard. With Shared, such a Guard refuses limits on repeated text.
	TextKey [16]byte
}

// Guard judges messages. It is safe for concurrent use. Create one with New.
type Guard struct {
	now       func() time.Time
	own       *clock.Smooth // the clock that now reads; nil if that is another one
	observers observers
	channels  channels
	present   limits.Present // the current time according to messages

	degraded    atomic.Bool // the store is failing
	unexchanged atomic.Bool // the last Exchange with shared.Synchronised found the store away

	entries entryIDs
}

// New returns a Guard that applies the policy to every channel. The error names the first mistake
// in the policy or the options.
func New(policy Policy, opts *Options) (*Guard, error) {
	base, err := compile(policy)
	if err != nil {
		return nil, err
	}
	opts = cmp.Or(opts, &Options{})
	if err := opts.check(); err != nil {
		return nil, err
	}
	own := clock.NewSmooth()
	g := &Guard{now: own.Now, own: own, channels: channels{budget: limits.NewBudget(opts.MaxTotalMemory)}}
	g.channels.maxMemory = cmp.Or(max(opts.MaxMemory, 0), limits.DefaultMemory)
	if g.channels.textKey = opts.TextKey; g.channels.textKey != (fingerprint.Key{}) {
		g.channels.sharesKey = true
	} else {
		rand.Read(g.channels.textKey[:])
	}
	own.JumpedBack = g.Rewind
	g.AddObserver(opts.Observer)
	if opts.Now != nil {
		g.now, g.own = opts.Now, nil
	}
	if opts.Shared != nil {
		g.channels.exact = opts.SharedMode != shared.Synchronised
		g.channels.rows = sharing.New(opts.Shared, cmp.Or(opts.SharedRows, defaultSharedRows), g.channels.exact, &g.channels)
		g.now, g.own = g.channels.rows.Now, nil
	}
	if err := g.channels.checkTextKey(base); err != nil {
		return nil, err
	}
	g.channels.base.Store(base)
	g.channels.changeOverall(base, &limits.Changes{})
	// IDs start at the current time, so a later start has higher IDs, with or without a store.
	g.entries.last.Store(g.Now().UnixMilli() * 1000)
	return g, nil
}

// check returns an error if the options contradict each other.
func (o *Options) check() error {
	switch {
	case o.SharedMode != "" && o.SharedMode != shared.Exact && o.SharedMode != shared.Synchronised:
		return fmt.Errorf("chatguard: Options.SharedMode is %q: use shared.Exact or shared.Synchronised", o.SharedMode)
	case o.Shared == nil && o.SharedMode == shared.Synchronised:
		return errors.New("chatguard: Options.SharedMode needs Options.Shared: open a store, for example with redisstore.Open")
	case o.SharedRows < 0:
		return fmt.Errorf("chatguard: Options.SharedRows is %d: use 0 for the default", o.SharedRows)
	case o.Shared != nil && o.Now != nil:
		return errors.New("chatguard: Options.Now must be nil with Options.Shared: all nodes use the clock of the store")
	}
	return nil
}

// isDegraded reports whether a verdict that doesn't wait for the shared store is Degraded.
func (g *Guard) isDegraded() bool { return g.degraded.Load() || g.unexchanged.Load() }

// Now returns the time of the Guard's clock, which is Options.Now if that is set. The Guard uses
// this time for a message without one. Use Now to grant, reset or explain at the current time.
func (g *Guard) Now() time.Time {
	g.created()
	return g.now()
}

// readClock returns Now and its instant.
func (g *Guard) readClock() (now time.Time, ns int64) {
	if g.own == nil {
		now = g.Now()
		return now, instant(now)
	}
	ns = g.own.Nanoseconds() // without the way through a variable
	return time.Unix(0, ns), ns
}

// created panics if New hasn't created the Guard.
func (g *Guard) created() {
	if g == nil || g.now == nil {
		panic(zeroGuard)
	}
}

const zeroGuard = "chatguard: zero Guard: create one with chatguard.New"

// Rewind tells the Guard that its clock was set back and now shows the time to. Usage that was
// spent later than to counts as spent at to. If Options.Now is nil, the Guard calls Rewind itself.
// A program that sets Options.Now, or that stamps messages itself, must call Rewind when its clock
// goes back. Otherwise, if a user's last message is now in the future, the user's next messages
// count as late for up to a minute. They all count at the time of that last message.
func (g *Guard) Rewind(to time.Time) {
	g.created()
	at, err := nanoseconds(to)
	if err != nil {
		return // a time at which no message can be judged
	}
	g.present.SetBack(at)
	g.channels.EachTable(func(_ string, table *limits.Table) { table.Rewind(at) })
}

// Policy returns the policy of the channels without their own policy.
func (g *Guard) Policy() Policy { return g.channels.basePolicy().policy.Clone() }

// ChannelPolicy returns the policy of a channel, without an overlay. It is the same as Policy if
// the channel has no policy of its own.
func (g *Guard) ChannelPolicy(channelID string) Policy {
	if c := g.channels.known.find(channelID); c != nil {
		return c.stated.Load().policy.Clone()
	}
	return g.Policy()
}

// observer is one observer of a Guard. Its address distinguishes it from others with the same
// function.
type observer struct{ observe func(Message, Verdict) }

// observers holds a Guard's observers. The list is replaced, never modified; nil if there are none.
type observers struct{ list atomic.Pointer[[]*observer] }

// AddObserver adds an observer, which is called with every verdict from now on, after the existing
// observers. The requirements of Options.Observer apply. Calling remove removes the observer. A
// decision made at the same time in another goroutine may still notify it. AddObserver ignores nil.
func (g *Guard) AddObserver(observe func(Message, Verdict)) (remove func()) {
	g.created()
	if observe == nil {
		return func() {}
	}
	added := &observer{observe}
	g.observers.change(func(all []*observer) []*observer { return append(all, added) })
	return func() {
		g.observers.change(func(all []*observer) []*observer {
			return slices.DeleteFunc(all, func(o *observer) bool { return o == added })
		})
	}
}

// change replaces the observers. how gets a copy of the list.
func (o *observers) change(how func([]*observer) []*observer) {
	for {
		before := o.list.Load()
		var all []*observer
		if before != nil {
			all = slices.Clone(*before)
		}
		after := &all
		if all = how(all); len(all) == 0 {
			after = nil
		}
		if o.list.CompareAndSwap(before, after) {
			return
		}
	}
}

// notify calls the observers, if there are any.
func (o *observers) notify(m *Message, v *Verdict) {
	list := o.list.Load()
	if list == nil {
		return
	}
	told := *m
	told.SentAt = v.At
	for _, each := range *list {
		each.observe(told, *v)
	}
}

// entryIDs numbers the throttled messages of a Guard. The number changes with each of them. The
// padding puts it on another cache line, so decisions that only read the fields beside it don't
// wait for these writes.
type entryIDs struct {
	_    [cacheLine]byte
	last atomic.Int64
	_    [cacheLine]byte
}

// cacheLine is the maximum number of bytes that processors transfer between caches at a time.
const cacheLine = 128

// next returns the first of n new entry IDs, and the difference between each and the next. rows is
// nil without Options.Shared. With it, now is the time of the shared clock; if now is zero, next
// reads that clock.
func (e *entryIDs) next(n int, rows *sharing.Rows, now time.Time) (first, step EntryID) {
	switch {
	case n == 0:
		return 0, 0
	case rows != nil:
		if now.IsZero() {
			now = rows.Now()
		}
		return e.nextShared(n, rows, now), sharing.Nodes
	}
	return EntryID(e.last.Add(int64(n)) - int64(n) + 1), 1
}

// nextShared returns the first of n new entry IDs of a Guard that shares rows. An ID combines the
// time in quarters of a millisecond with the Guard's number, so that the IDs of different Guards
// differ. IDs fit into 53 bits, which JSON numbers represent exactly.
func (e *entryIDs) nextShared(n int, rows *sharing.Rows, now time.Time) EntryID {
	for {
		last := e.last.Load()
		first := max(last/sharing.Nodes+1, now.UnixMilli()*4)
		if e.last.CompareAndSwap(last, (first+int64(n)-1)*sharing.Nodes) {
			return EntryID(first*sharing.Nodes + rows.Number(now))
		}
	}
}
