package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// decide turns a message into what the limits want to know, and their decision into a verdict. ask is Table.Judge or Table.Peek.
func (c *channel) decide(m *Message, ask func(*limits.Table, string, limits.Request) (limits.Decision, *limits.Set)) (Verdict, error) {
	at, err := m.check()
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{At: m.SentAt, ChannelID: m.ChannelID, UserID: m.User.ID, Allowed: true, Remaining: -1}
	roles := m.User.Roles&allRoles | 1<<Everyone
	if roles&c.policy.Load().exempt != 0 {
		v.Exempt = true
		return v, nil
	}
	d, set := ask(c.table, m.User.ID, limits.Request{At: at, Cost: int64(max(m.Cost, 1)), Roles: uint8(roles)})
	if d.Limit < 0 {
		return v, nil // a policy without limits
	}
	v.Remaining, v.ResetAt = int(d.Remaining), time.Unix(0, d.ResetAt)
	if !d.Allowed {
		v.throttle(&set.Owner.(*compiled).policy, d, set, at)
	}
	return v, nil
}

// throttle writes down that a limit stands in the way.
func (v *Verdict) throttle(p *Policy, d limits.Decision, set *limits.Set, at int64) {
	v.Limit, v.Strikes = set.Rules()[d.Limit].Name(), d.Strikes
	if v.Never = d.RetryAt == limits.Never; !v.Never {
		v.RetryAfter = time.Duration(d.RetryAt - at)
	}
	penalty := p.Penalties.penalty(d.Strikes, d.NewStrike, v.RetryAfter, v.Never)
	if p.Mode == Observe {
		v.Observed, v.WouldBe = true, penalty
		return
	}
	v.Allowed, v.Penalty = false, penalty
}

// check returns the message's time, or why it can't be judged.
func (m *Message) check() (at int64, err error) {
	if err := checkID(m.ChannelID, ErrNoChannel); err != nil {
		return 0, err
	}
	if err := checkID(m.User.ID, ErrNoUser); err != nil {
		return 0, err
	}
	if m.Cost < 0 {
		return 0, ErrCost
	}
	return nanoseconds(m.SentAt)
}
