package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Explanation is a verdict, and the user's state on which it is based. In JSON, times are in RFC
// 3339 format in UTC, and zero times are omitted.
type Explanation struct {
	Verdict Verdict       `json:"verdict"` // the verdict that Check would return
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
	Observes  bool      `json:"observes"`  // the policy enforces, and the limit only reports
	Used      int       `json:"used"`      // messages of cost 1 that count now, rounded up
	Capacity  int       `json:"capacity"`  // for this user, now
	Granted   int       `json:"granted"`   // extra messages on top of the capacity
	Remaining int       `json:"remaining"` // messages of cost 1 that would still pass
	// NextAt is when the next message of cost 1 would pass this limit. It is zero if no message
	// ever would.
	NextAt  time.Time `json:"next_at,omitzero"`
	ResetAt time.Time `json:"reset_at,omitzero"` // when all usage will have expired
	Role    Role      `json:"role"`              // the user's role whose numbers apply, or Everyone
	// Own means that the user's own numbers apply, not a role's. After a change of policy, numbers
	// that the limit can't have any more don't apply.
	Own     bool    `json:"own"`
	Picture Picture `json:"-"` // the state, for a drawing of it
}

// Explain returns the status of the message's author in every limit, and what Check would decide
// about the message. It changes nothing: it spends nothing, gives no strike, notifies no observer
// and adds no journal entry. It returns the same errors as Check. With ShareExact, it reads the
// rows in the store; while the store is away, the verdict is Degraded.
func (g *Guard) Explain(m Message) (e Explanation, err error) {
	run, err := g.dryRun(&m)
	if err != nil {
		return e, err
	}
	var d limits.Decision
	var levels []limits.Level
	var standing limits.Standing
	if g.channels.exact {
		var offline bool
		d, levels, standing, offline = g.channels.rows.Explain(run.channel.shared, m.User.ID, run.policy.places, &run.request)
		run.degraded = run.degraded || offline
	} else {
		var room otherPlaces
		d, levels, standing = run.channel.table.Explain(m.User.ID, &run.request, g.channels.places(run.channel, m.User.ID, &room)...)
	}
	e.Verdict = run.verdict(&m, &d)
	e.Limits = make([]LimitStatus, 0, len(levels)) // an empty list in JSON, never null
	for _, l := range levels {
		e.Limits = append(e.Limits, statusOf(l))
	}
	e.Strikes, e.Override = standing.Strikes, overrideOf(standing.Own)
	if e.Strikes > 0 {
		e.LapseAt = limits.TimeOf(standing.LapseAt).UTC()
	}
	if standing.SilentUntil > 0 {
		e.SilentUntil = limits.TimeOf(standing.SilentUntil).UTC()
	}
	e.Next = Penalty{Action: ActionDrop}
	if ladder := run.policy.policy.Penalties.Ladder; len(ladder) > 0 {
		e.Rung = min(e.Strikes, len(ladder)-1)
		e.Next = ladder[e.Rung]
	}
	return e, nil
}

// Peek returns the verdict that Check would return, and changes nothing: it spends nothing, gives
// no strike, notifies no observer and adds no journal entry. It uses Options.Shared as Explain
// does.
func (g *Guard) Peek(m Message) (v Verdict, err error) {
	if g.channels.exact { // beside a round trip, an explanation costs little
		e, err := g.Explain(m)
		return e.Verdict, err
	}
	run, err := g.dryRun(&m)
	if err != nil {
		return v, err
	}
	var room otherPlaces
	d := run.channel.table.Peek(m.User.ID, &run.request, g.channels.places(run.channel, m.User.ID, &room)...)
	return run.verdict(&m, &d), nil
}

// dryRun is a message to judge without an effect.
type dryRun struct {
	at       time.Time
	channel  *channel
	policy   *compiled
	request  limits.Request
	degraded bool
}

// dryRun returns a dry run of a message. It returns an error if the message can't be judged.
func (g *Guard) dryRun(m *Message) (run dryRun, err error) {
	if run.at = m.SentAt; run.at.IsZero() {
		run.at = g.now()
	}
	if run.channel = g.channels.known.find(m.ChannelID); run.channel == nil {
		run.channel = g.channels.new(m.ChannelID, g.channels.base.Load())
	}
	run.policy, run.degraded = run.channel.policy.Load(), g.isDegraded()
	if err := m.fillRequest(&run.request, run.at, run.policy.exempt); err != nil {
		return run, err
	}
	run.request.Latest = g.present.Peek(run.request.At, m.User.ID, m.SentAt.IsZero())
	return run, nil
}

// verdict returns the verdict for a decision.
func (run *dryRun) verdict(m *Message, d *limits.Decision) (v Verdict) {
	v.fillCommon(m, run.at, run.degraded)
	v.decide(d, run.request.At)
	return v
}

func statusOf(l limits.Level) LimitStatus {
	s := LimitStatus{
		Name: l.Limit.Name(), Algorithm: Algorithm(l.Limit.Algorithm()), Per: Scope(l.Scope), Observes: !l.Decides,
		Used: int(l.Used), Capacity: int(l.Capacity), Granted: int(l.Granted), Remaining: int(l.Remaining),
		NextAt: limits.TimeOf(l.NextAt).UTC(), ResetAt: limits.TimeOf(l.ResetAt).UTC(), Role: Everyone, Own: l.Own, Picture: pictureOf(l.Picture),
	}
	if l.Role >= 0 {
		s.Role = Role(l.Role)
	}
	return s
}

// Picture is a limit's state in the terms of its algorithm, for a drawing of it. Fields that the
// algorithm doesn't have are zero. Fractions are rounded; decisions never use them.
type Picture struct {
	// Tokens are those of a TokenBucket, or of a Cascade's first bucket. They can be below 0 after
	// the capacity was lowered. ExtraTokens are those of a Cascade's second bucket.
	Tokens, ExtraTokens float64

	// Waiting is how many messages a LeakyBucket holds. Leaves is when the next of them leaves; it
	// is zero if none waits. The others follow, one per Every.
	Waiting int
	Leaves  time.Time

	// From and Until are the start and the end of a window. They are zero if no window is open.
	From, Until time.Time
	Count       int // messages in that window

	// A SlidingWindow's From and Until are those of the current slice. Count is the count of all
	// slices but the oldest, Previous that of the oldest one. Weight is the part of the oldest
	// slice which still counts, from 0 to 1. Estimate is Previous × Weight + Count. Slices are the
	// counts from the current slice to the oldest; nil if the limit's Slices are 0 or 1.
	Previous         int
	Weight, Estimate float64
	Slices           []int

	Times  int       // messages that count in a SlidingLog
	Oldest time.Time // time of the first of them; zero if there is none
}

func pictureOf(p limits.Picture) Picture {
	picture := Picture{
		Tokens: p.Tokens, ExtraTokens: p.ExtraTokens, Waiting: int(p.Waiting), Count: int(p.Count),
		Previous: int(p.Previous), Weight: p.Weight, Estimate: p.Estimate, Times: int(p.Times),
	}
	for _, count := range p.Slices {
		picture.Slices = append(picture.Slices, int(count))
	}
	if p.Until > 0 {
		picture.From, picture.Until = limits.TimeOf(p.From).UTC(), limits.TimeOf(p.Until).UTC()
	}
	if p.Times > 0 {
		picture.Oldest = limits.TimeOf(p.Oldest).UTC()
	}
	if p.Waiting > 0 {
		picture.Leaves = limits.TimeOf(p.Leaves).UTC()
	}
	return picture
}
