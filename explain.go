package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Explanation contains everything that a verdict depends on. In JSON, times are in RFC 3339 format
// in UTC, and zero times are omitted.
type Explanation struct {
	Verdict Verdict       `json:"verdict"` // the verdict that Check would return now
	Limits  []LimitStatus `json:"limits"`  // in policy order; also set for exempt users

	Strikes int `json:"strikes"` // strikes that count, before the message
	// LapseAt is when all strikes lapse. It is zero if there are no strikes, or if they never
	// lapse.
	LapseAt time.Time `json:"lapse_at,omitzero"`
	// SilentUntil is when a timeout given by chatguard ends. It is zero if there is none.
	SilentUntil time.Time `json:"silent_until,omitzero"`
	// Rung is the index, from 0, of the ladder's rung that the next strike would reach.
	Rung     int          `json:"rung"`
	Next     Penalty      `json:"next"`     // the penalty on that rung
	Override UserOverride `json:"override"` // the user's override in this channel
}

// LimitStatus is a user's status in one limit.
type LimitStatus struct {
	Name      string    `json:"name"`
	Algorithm Algorithm `json:"algorithm"`
	Per       Scope     `json:"per"`
	Observes  bool      `json:"observes"`  // the limit only reports
	Used      int       `json:"used"`      // messages of cost 1 that count now, rounded up
	Capacity  int       `json:"capacity"`  // for this user, now
	Granted   int       `json:"granted"`   // extra messages on top of the capacity
	Remaining int       `json:"remaining"` // messages of cost 1 that would still pass
	// NextAt is when the next message of cost 1 would pass this limit. It is zero if no message
	// ever would.
	NextAt  time.Time `json:"next_at,omitzero"`
	ResetAt time.Time `json:"reset_at,omitzero"` // when all usage will have expired
	Role    Role      `json:"role"`              // the user's role whose numbers apply, or Everyone
	Own     bool      `json:"own"`               // the user's own numbers apply, not a role's
}

// Explain returns the status of the message's author in every limit, and what Check would decide
// about the message. It changes nothing: it spends nothing, gives no strike, notifies no observer
// and adds no journal entry. It returns the same errors as Check.
func (g *Guard) Explain(m Message) (e Explanation, err error) {
	at := m.SentAt
	if at.IsZero() {
		at = g.now()
	}
	c := g.channels.find(m.ChannelID)
	if c == nil {
		c = g.newChannel(m.ChannelID, g.base.Load())
	}
	policy := c.policy.Load()
	var q limits.Request
	if err := m.fillRequest(&q, at, policy.exempt); err != nil {
		return e, err
	}
	var room [2]limits.Place
	d, levels, standing := c.table.Explain(m.User.ID, &q, c.places(g, m.User.ID, &room)...)
	e.Verdict.fillCommon(&m, at, g.degraded.Load())
	e.Verdict.decide(&d, q.At)
	e.Limits = make([]LimitStatus, 0, len(levels)) // an empty list in JSON, never null
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
