package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Explanation is everything that a verdict comes from.
type Explanation struct {
	Verdict Verdict       // that Check would give now
	Limits  []LimitStatus // in the policy's order; a user who is exempt has them too

	Strikes     int          // that count, before the message
	LapseAt     time.Time    // when they lapse together; zero without strikes, and where they never do
	SilentUntil time.Time    // until when a timeout lasts that chatguard has given; zero without one
	Rung        int          // the place on the ladder that the next strike leads to, from 0
	Next        Penalty      // that stands there
	Override    UserOverride // what the user has of their own in this channel
}

// LimitStatus is how a user stands with one limit.
type LimitStatus struct {
	Name      string
	Algorithm Algorithm
	Per       Scope
	Observes  bool      // it only reports
	Used      int       // messages of cost 1 that count now, rounded up
	Capacity  int       // as it holds for this user, now
	Granted   int       // extra messages, beside the capacity
	Remaining int       // messages of cost 1 that would still pass
	NextAt    time.Time // when the next message of cost 1 passes this limit; zero where none will
	ResetAt   time.Time // when the limit will have forgotten everything
	Role      Role      // whose numbers count; Everyone where no role has any
	Own       bool      // the user's own numbers count, whatever the role
}

// Explain says how the message's author stands with every limit, and what Check would decide on the message. It changes nothing: nothing
// is spent, no strike is given, no observer is told, and there is no journal entry. The errors are Check's.
func (g *Guard) Explain(m Message) (e Explanation, err error) {
	at := m.SentAt
	if at.IsZero() {
		at = g.now()
	}
	c := g.channels.find(m.ChannelID)
	if c == nil {
		c = newChannel(m.ChannelID, g.base.Load(), 1)
	}
	policy := c.policy.Load()
	var q limits.Request
	if err := m.request(&q, at, policy.exempt); err != nil {
		return e, err
	}
	var room [2]limits.Place
	d, levels, standing := c.table.Explain(m.User.ID, &q, c.places(g, m.User.ID, &room)...)
	e.Verdict.begin(&m, at, g.degraded.Load())
	e.Verdict.decide(&d, q.At)
	for _, l := range levels {
		e.Limits = append(e.Limits, statusOf(l))
	}
	e.Strikes, e.Override = standing.Strikes, overrideOf(standing.Own)
	if e.Strikes > 0 {
		e.LapseAt = timeOf(standing.LapseAt)
	}
	if standing.SilentUntil > 0 {
		e.SilentUntil = timeOf(standing.SilentUntil)
	}
	e.Next = Penalty{Action: Drop}
	if ladder := policy.policy.Penalties.Ladder; len(ladder) > 0 {
		e.Rung = min(e.Strikes, len(ladder)-1)
		e.Next = ladder[e.Rung]
	}
	return e, nil
}

func statusOf(l limits.Level) LimitStatus {
	s := LimitStatus{
		Name: l.Limit.Name(), Algorithm: Algorithm(l.Limit.Algorithm()), Per: Scope(l.Scope), Observes: !l.Decides,
		Used: int(l.Used), Capacity: int(l.Capacity), Granted: int(l.Granted), Remaining: int(l.Remaining),
		NextAt: timeOf(l.NextAt), ResetAt: timeOf(l.ResetAt), Role: Everyone, Own: l.Own,
	}
	if l.Role >= 0 {
		s.Role = Role(l.Role)
	}
	return s
}
