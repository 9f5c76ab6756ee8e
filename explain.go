package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Explanation is everything that a verdict comes from. In JSON times are RFC 3339 in UTC, and zero ones are left out.
type Explanation struct {
	Verdict Verdict       `json:"verdict"` // that Check would give now
	Limits  []LimitStatus `json:"limits"`  // in the policy's order; a user who is exempt has them too

	Strikes     int          `json:"strikes"`               // that count, before the message
	LapseAt     time.Time    `json:"lapse_at,omitzero"`     // when they lapse together; zero without strikes, and where they never do
	SilentUntil time.Time    `json:"silent_until,omitzero"` // until when a timeout lasts that chatguard has given; zero without one
	Rung        int          `json:"rung"`                  // the place on the ladder that the next strike leads to, from 0
	Next        Penalty      `json:"next"`                  // that stands there
	Override    UserOverride `json:"override"`              // what the user has of their own in this channel
}

// LimitStatus is how a user stands with one limit.
type LimitStatus struct {
	Name      string    `json:"name"`
	Algorithm Algorithm `json:"algorithm"`
	Per       Scope     `json:"per"`
	Observes  bool      `json:"observes"`          // it only reports
	Used      int       `json:"used"`              // messages of cost 1 that count now, rounded up
	Capacity  int       `json:"capacity"`          // as it holds for this user, now
	Granted   int       `json:"granted"`           // extra messages, beside the capacity
	Remaining int       `json:"remaining"`         // messages of cost 1 that would still pass
	NextAt    time.Time `json:"next_at,omitzero"`  // when the next message of cost 1 passes this limit; zero where none will
	ResetAt   time.Time `json:"reset_at,omitzero"` // when the limit will have forgotten everything
	Role      Role      `json:"role"`              // whose numbers count; Everyone where no role has any
	Own       bool      `json:"own"`               // the user's own numbers count, whatever the role
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
	e.Limits = make([]LimitStatus, 0, len(levels)) // in JSON an empty list, never null
	for _, l := range levels {
		e.Limits = append(e.Limits, statusOf(l))
	}
	e.Strikes, e.Override = standing.Strikes, overrideOf(standing.Own)
	if e.Strikes > 0 {
		e.LapseAt = timeOf(standing.LapseAt).UTC()
	}
	if standing.SilentUntil > 0 {
		e.SilentUntil = timeOf(standing.SilentUntil).UTC()
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
		NextAt: timeOf(l.NextAt).UTC(), ResetAt: timeOf(l.ResetAt).UTC(), Role: Everyone, Own: l.Own,
	}
	if l.Role >= 0 {
		s.Role = Role(l.Role)
	}
	return s
}
