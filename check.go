package chatguard

import (
	"context"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// Check judges one message and spends its cost if it is allowed. The error is ErrInvalid, and says
// why the message can't be judged. Check doesn't wait for the context, because a decision only
// accesses memory. With Options.Shared it may wait for the store, for up to 1.25 times
// Shared.Timeout. If the context ends first, Check decides without the store, or returns the
// context's error. In the latter case, the cost is still spent if the message is allowed. A Check
// that asks the store for other waiting messages too isn't interrupted by its context.
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
	at, ns := m.SentAt, int64(0)
	switch {
	case g.channels.exact:
		if clock = g.channels.rows.Read(); at.IsZero() {
			at = clock.Now
		}
		ns = instant(at)
	case at.IsZero():
		at, ns = g.readClock()
		clock.Now = at
	default:
		ns = instant(at)
	}
	if c == nil {
		if c = g.channels.get(m.ChannelID, at); c == nil {
			return 0, checkID(m.ChannelID, errNoChannel)
		}
	}
	var q limits.Request
	q.UpTo, q.Try = mode == upTo, mode == waiting
	if err := m.fillRequest(&q, ns, c.policy.Load()); err != nil {
		return 0, err
	}
	if q.Latest = g.present.OnTime(q.At); q.Latest == 0 {
		q.Latest = g.present.Note(q.At, m.User.ID, m.SentAt.IsZero())
	}
	v.fillCommon(m, at, q.Roles, g.isDegraded())
	g.fillPrint(&v.Print, m, c, &q)
	if g.channels.exact {
		if taken, err = v.judgeShared(ctx, g, clock, c, &q); err != nil {
			*v = Verdict{}
			return 0, err
		}
	} else if q.Exempt && !c.table.HasOwn() {
		v.Exempt, taken = true, q.Cost
	} else {
		var d limits.Decision
		if !g.channels.judge(c, m.User.ID, &v.Print, &q, &d) {
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

// places appends the rows that a message uses in addition to its author's row in the channel, in
// the order in which they are locked, without those of repeated text. With the default policy there
// are none.
func (cs *channels) places(places []limits.Place, c *channel, userID string) []limits.Place {
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
	return cs.everywhere.Load() != nil || cs.overall.Load() != nil || c.common.Load() != nil || c.texts.Load() != nil
}

// judge judges a user's message by all rows that it uses. It returns false and does nothing if the
// channel was removed.
func (cs *channels) judge(c *channel, userID string, p *TextPrint, q *limits.Request, d *limits.Decision) (open bool) {
	if !cs.hasPlaces(c) { // with the default policy, no room for places is needed
		return c.table.Judge(userID, q, d)
	}
	return cs.judgeWith(c, userID, p, q, d)
}

// judgeWith is judge for policies with limits of other scopes than PerUser.
func (cs *channels) judgeWith(c *channel, userID string, p *TextPrint, q *limits.Request, d *limits.Decision) (open bool) {
	if c.texts.Load() == nil {
		var room [limits.PerEverywhere]limits.Place
		return c.table.Judge(userID, q, d, cs.places(room[:0], c, userID)...)
	}
	var room [limits.MaxSets - 1]limits.Place
	return c.table.Judge(userID, q, d, cs.allPlaces(room[:0], c, userID, p)...)
}

// allPlaces is places with the rows of repeated text.
func (cs *channels) allPlaces(places []limits.Place, c *channel, userID string, p *TextPrint) []limits.Place {
	return c.textPlaces(cs.places(places, c, userID), &cs.textKey, p, userID)
}

// fillRequest fills in q with what the limits need to know about a message sent at the given
// instant. It returns an error if the message can't be judged.
func (m *Message) fillRequest(q *limits.Request, at int64, policy *compiled) error {
	if err := m.checkIDs(); err != nil {
		return err
	}
	if at < 0 || at >= limits.MaxTime {
		return errTime
	}
	q.At = at
	roles := policy.roles.Everyone()
	for _, role := range m.User.Roles {
		roles = roles.With(string(role))
	}
	q.Cost, q.Roles, q.Zone = int64(max(m.Cost, 1)), roles, limits.TimezoneOf(m.User.Timezone)
	q.Exempt = roles.HasAny(policy.exempt) || len(m.Kinds) > 0 && policy.exemptsAny(m.Kinds)
	return nil
}

// exemptsAny reports whether the policy exempts messages of one of the kinds.
func (c *compiled) exemptsAny(kinds []string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(c.policy.ExemptKinds, kind) })
}

// checkIDs returns an error if the message can't be judged, whatever its time is.
func (m *Message) checkIDs() error {
	if uint(len(m.ChannelID)-1) < maxID && uint(len(m.User.ID)-1) < maxID && m.User.ID[0] != limits.TextMark && m.Cost >= 0 {
		return nil // nearly always
	}
	if err := checkID(m.ChannelID, errNoChannel); err != nil {
		return err
	}
	if err := checkUserID(m.User.ID); err != nil {
		return err
	}
	return errCost
}

// fillCommon fills in the fields common to all verdicts; v must be zero.
func (v *Verdict) fillCommon(m *Message, at time.Time, roles limits.Roles, degraded bool) {
	v.At, v.ChannelID, v.UserID, v.Allowed, v.Remaining, v.Degraded = at, m.ChannelID, m.User.ID, true, -1, degraded
	v.atNow, v.roles = m.SentAt.IsZero(), roles.Own()
}

// decide fills in the limits' decision about a message judged at the given time.
func (v *Verdict) decide(d *limits.Decision, at int64) {
	v.Spent, v.Late = int(d.Taken), time.Duration(d.At-at)
	if d.Low {
		v.Priority = PriorityLow
	}
	if v.Exempt = d.Exempt; v.Exempt {
		v.Print = TextPrint{}
	}
	if d.Limit == nil {
		return // exempt, or no limits except on repeated text
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
