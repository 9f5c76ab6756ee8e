package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

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
func (m *Message) fillRequest(q *limits.Request, at time.Time, exempt exemptions) (err error) {
	if err := checkID(m.ChannelID, ErrNoChannel); err != nil {
		return err
	}
	if err := checkID(m.User.ID, ErrNoUser); err != nil {
		return err
	}
	if m.Cost < 0 {
		return ErrCost
	}
	roles := m.User.Roles&allRoles | 1<<Everyone
	q.Cost, q.Roles, q.Exempt = int64(max(m.Cost, 1)), uint8(roles), roles&exempt.roles != 0 || m.Kind&exempt.kinds != 0
	q.At, err = nanoseconds(at)
	return err
}

// fillCommon fills in the fields common to all verdicts; v must be zero.
func (v *Verdict) fillCommon(m *Message, at time.Time, degraded bool) {
	v.At, v.ChannelID, v.UserID, v.Allowed, v.Remaining, v.Degraded = at, m.ChannelID, m.User.ID, true, -1, degraded
	v.atNow, v.roles = m.SentAt.IsZero(), m.User.Roles
}

// decide fills in the limits' decision about a message judged at the given time.
func (v *Verdict) decide(d *limits.Decision, at int64) {
	v.Spent, v.Late = int(d.Taken), time.Duration(d.At-at)
	if v.Exempt = d.Exempt; d.Limit == nil {
		return // exempt, or no limits
	}
	if d.Low {
		v.Priority = Low
	}
	v.Tightest, v.Remaining, v.ResetAt = d.Limit.Name(), int(d.Remaining), time.Unix(0, d.ResetAt)
	if d.Allowed && d.LeaveAt > at && v.policy(d).Mode == Enforce {
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
	if d.Observed || p.Mode == Observe {
		v.Observed, v.WouldBe = true, penalty
		return
	}
	v.Allowed, v.Penalty = false, penalty
}
