package chatguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// Check judges one message and spends its cost if it is allowed. The error says why the message
// can't be judged: ErrNoChannel, ErrNoUser, ErrLongID, ErrCost or ErrTime. Check doesn't wait for
// the context, because a decision only accesses memory. With Options.Shared it may wait for the
// store, for up to 1.25 times Shared.Timeout. If the context ends first, Check decides without the
// store, or returns the context's error. In the latter case, the cost is still spent if the message
// is allowed. A Check that asks the store for other waiting messages too isn't interrupted by its
// context.
func (g *Guard) Check(ctx context.Context, m Message) (v Verdict, err error) {
	_, err = g.check(ctx, &m, &v, whole)
	return v, err
}

// CheckUpTo is like Check, but it can allow a part of the message's cost. It spends as much of the
// cost as all limits allow, and returns that number. If the number is 0, the message is throttled
// like a message of cost 1. If the policy observes, or the message is exempt, CheckUpTo returns the
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

// check judges a message and returns how much of its cost is allowed. v must be the zero Verdict.
func (g *Guard) check(ctx context.Context, m *Message, v *Verdict, mode checkMode) (taken int64, err error) {
	c := g.channels.known.find(m.ChannelID)
	var clock sharing.Reading
	at := m.SentAt
	if g.channels.exact {
		clock = g.channels.rows.Read()
	} else if at.IsZero() {
		clock.Now = g.Now()
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
	if err := m.fillRequest(&q, at, c.policy.Load()); err != nil {
		return 0, err
	}
	if q.Latest = g.present.OnTime(q.At); q.Latest == 0 {
		q.Latest = g.present.Note(q.At, m.User.ID, m.SentAt.IsZero())
	}
	v.fillCommon(m, at, q.Roles, g.isDegraded())
	if g.channels.exact {
		if taken, err = v.judgeShared(ctx, g.channels.rows, clock, c, &q); err != nil {
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
		if taken = d.Taken; d.Exempt || v.policy(&d).Mode == ModeObserve {
			taken = q.Cost
		}
	}
	if q.Try && !v.Allowed {
		return 0, nil
	}
	if v.throttled() {
		v.EntryID, _ = g.entries.next(1, g.channels.rows, clock.Now)
	}
	g.observers.notify(m, v)
	return taken, nil
}

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

// otherPlaces has room for the result of places.
type otherPlaces [limits.Scopes - 1]limits.Place

// places returns the rows that a message uses in addition to its author's row in the channel, in
// the order in which they are locked. With the default policy there are none.
func (cs *channels) places(c *channel, userID string, room *otherPlaces) []limits.Place {
	places := room[:0]
	if everywhere := cs.everywhere.Load(); everywhere != nil {
		places = append(places, limits.Place{Table: everywhere, User: userID, Order: c.policy.Load().places})
	}
	if common := c.common.Load(); common != nil {
		places = append(places, limits.Place{Table: common})
	}
	if overall := cs.overall.Load(); overall != nil {
		places = append(places, limits.Place{Table: overall, Order: c.policy.Load().places})
	}
	return places
}

// hasPlaces reports whether places returns any.
func (cs *channels) hasPlaces(c *channel) bool {
	return cs.everywhere.Load() != nil || cs.overall.Load() != nil || c.common.Load() != nil
}

// judge judges a message by all rows that it uses. It returns false and does nothing if the channel
// was removed.
func (cs *channels) judge(c *channel, userID string, q *limits.Request, d *limits.Decision) (open bool) {
	if !cs.hasPlaces(c) { // with the default policy, no room for places is needed
		return c.table.Judge(userID, q, d)
	}
	var room otherPlaces
	return c.table.Judge(userID, q, d, cs.places(c, userID, &room)...)
}

// fillRequest fills in q with what the limits need to know about a message sent at the given time.
// It returns an error if the message can't be judged.
func (m *Message) fillRequest(q *limits.Request, at time.Time, policy *compiled) (err error) {
	if q.At, err = m.check(at); err != nil {
		return err
	}
	roles := policy.roles.Everyone()
	for _, role := range m.User.Roles {
		roles = roles.With(string(role))
	}
	q.Cost, q.Roles = int64(max(m.Cost, 1)), roles
	q.Exempt = roles.HasAny(policy.exempt) || len(m.Kinds) > 0 && policy.exemptsAny(m.Kinds)
	return nil
}

// exemptsAny reports whether the policy exempts messages of one of the kinds.
func (c *compiled) exemptsAny(kinds []string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(c.policy.ExemptKinds, kind) })
}

// check returns the given time in nanoseconds. It returns an error if the message can't be judged.
func (m *Message) check(at time.Time) (ns int64, err error) {
	if err := checkID(m.ChannelID, ErrNoChannel); err != nil {
		return 0, err
	}
	if err := checkID(m.User.ID, ErrNoUser); err != nil {
		return 0, err
	}
	if m.Cost < 0 {
		return 0, ErrCost
	}
	return nanoseconds(at)
}

// fillCommon fills in the fields common to all verdicts; v must be zero.
func (v *Verdict) fillCommon(m *Message, at time.Time, roles limits.Roles, degraded bool) {
	v.At, v.ChannelID, v.UserID, v.Allowed, v.Remaining, v.Degraded = at, m.ChannelID, m.User.ID, true, -1, degraded
	v.atNow, v.roles = m.SentAt.IsZero(), roles.Own()
}

// decide fills in the limits' decision about a message judged at the given time.
func (v *Verdict) decide(d *limits.Decision, at int64) {
	v.Spent, v.Late = int(d.Taken), time.Duration(d.At-at)
	if v.Exempt = d.Exempt; d.Limit == nil {
		return // exempt, or no limits
	}
	if d.Low {
		v.Priority = PriorityLow
	}
	v.Tightest, v.Remaining, v.ResetAt = d.Limit.Name(), int(d.Remaining), time.Unix(0, d.ResetAt)
	v.granted = int(d.Granted)
	if d.Allowed && d.LeaveAt > at && v.policy(d).Mode == ModeEnforce {
		v.Delay = time.Duration(d.LeaveAt - at)
	}
	if !d.Allowed || d.Observed {
		v.throttle(v.policy(d), d, at)
	}
}

func (v *Verdict) policy(d *limits.Decision) *Policy { return &d.Set.Owner.(*compiled).policy }

// throttle records that a limit throttles the message, or would throttle it if it were enforced.
func (v *Verdict) throttle(p *Policy, d *limits.Decision, at int64) {
	v.Limit, v.Strikes, v.NewStrike = d.Limit.Name(), d.Strikes, d.NewStrike
	v.Counted, v.Series = int(d.Counted), d.Series
	if v.Never = d.RetryAt == limits.Never; !v.Never {
		v.RetryAfter = time.Duration(d.RetryAt - at)
	}
	penalty := p.Penalties.mildest()
	if !d.Shared && !d.Silenced {
		penalty = p.Penalties.penalty(d.Rung, time.Duration(limits.SilenceFor(d.RetryAt, at)))
	}
	if d.Observed || p.Mode == ModeObserve {
		v.Observed, v.WouldBe = true, penalty
		return
	}
	v.Allowed, v.Penalty = false, penalty
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
			return checkID(m.ChannelID, ErrNoChannel)
		}
	}
	c := &b.cases[b.count]
	if err := m.fillRequest(&c.Request, at, b.channel.policy.Load()); err != nil {
		return err
	}
	if c.Request.Latest = b.guard.present.OnTime(c.Request.At); c.Request.Latest == 0 {
		c.Request.Latest = b.guard.present.Note(c.Request.At, m.User.ID, m.SentAt.IsZero())
	}
	v.fillCommon(m, at, c.Request.Roles, b.guard.isDegraded())
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
		if !b.guard.channels.judge(b.channel, c.User, &c.Request, &c.Decision) {
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
		// The message has been checked: there is no error.
		_ = b.messages[i].fillRequest(&b.cases[i].Request, b.verdicts[i].At, policy)
	}
}

// judgeShared judges the collected messages by the rows in the shared store. If the context ends
// while other goroutines decide some of the messages, judgeShared removes these messages from the
// batch and returns the context's error.
func (b *batch) judgeShared() error {
	var outcomes [batchSize]sharing.Outcome
	err := b.guard.channels.rows.JudgeAll(b.ctx, b.channel.shared, b.channel.policy.Load().places, b.cases[:b.count], outcomes[:])
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
