package chatguard

import (
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
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
	// Own means that the user's own numbers apply, not a role's. A change of policy may leave
	// numbers that a limit can't have any more. They don't apply.
	Own     bool    `json:"own"`
	Picture Picture `json:"-"` // the state, for a drawing of it
}

// Explain returns the status of the message's author in every limit, and what Check would decide
// about the message. It changes nothing: it spends nothing, gives no strike, notifies no observer
// and adds no journal entry. It returns the same errors as Check. With Options.Shared it reads the
// rows in the store; while that is away, the verdict is Degraded.
func (g *Guard) Explain(m Message) (e Explanation, err error) {
	i, err := g.inquire(&m)
	if err != nil {
		return e, err
	}
	var d limits.Decision
	var levels []limits.Level
	var standing limits.Standing
	if g.channels.exact {
		var offline bool
		d, levels, standing, offline = g.rows().Explain(i.channel.shared, m.User.ID, i.policy.places, &i.request)
		i.degraded = i.degraded || offline
	} else {
		var room otherPlaces
		d, levels, standing = i.channel.table.Explain(m.User.ID, &i.request, g.channels.places(i.channel, m.User.ID, &room)...)
	}
	e.Verdict = i.verdict(&m, &d)
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
	e.Next = Penalty{Action: Drop}
	if ladder := i.policy.policy.Penalties.Ladder; len(ladder) > 0 {
		e.Rung = min(e.Strikes, len(ladder)-1)
		e.Next = ladder[e.Rung]
	}
	return e, nil
}

// Peek returns the verdict that Check would return, and changes nothing: it spends nothing, gives
// no strike, notifies no observer and adds no journal entry. It uses Options.Shared as Explain
// does.
func (g *Guard) Peek(m Message) (v Verdict, err error) {
	if g.channels.exact { // reading the store takes longer than explaining
		e, err := g.Explain(m)
		return e.Verdict, err
	}
	i, err := g.inquire(&m)
	if err != nil {
		return v, err
	}
	var room otherPlaces
	d := i.channel.table.Peek(m.User.ID, &i.request, g.channels.places(i.channel, m.User.ID, &room)...)
	return i.verdict(&m, &d), nil
}

// inquiry is a message that is judged without an effect.
type inquiry struct {
	at       time.Time
	channel  *channel
	policy   *compiled
	request  limits.Request
	degraded bool
}

// inquire returns an inquiry about a message. It returns an error if the message can't be judged.
func (g *Guard) inquire(m *Message) (i inquiry, err error) {
	if i.at = m.SentAt; i.at.IsZero() {
		i.at = g.now()
	}
	if i.channel = g.channels.find(m.ChannelID); i.channel == nil {
		i.channel = g.channels.new(m.ChannelID, g.channels.base.Load())
	}
	i.policy, i.degraded = i.channel.policy.Load(), g.isDegraded()
	if err := m.fillRequest(&i.request, i.at, i.policy.exempt); err != nil {
		return i, err
	}
	i.request.Latest = g.present.Peek(i.request.At, m.User.ID, m.SentAt.IsZero())
	return i, nil
}

// verdict returns the verdict with a decision.
func (i *inquiry) verdict(m *Message, d *limits.Decision) (v Verdict) {
	v.fillCommon(m, i.at, i.degraded)
	v.decide(d, i.request.At)
	return v
}

// IsExempt reports whether the message's author, or its kind, is exempt from the limits at the
// message's time: by the policy in force, or by the author's override. It judges nothing, so it
// costs much less than Peek. With Options.Shared, it asks no store: the override counts as far as
// the Guard knows it. A message that can't be judged isn't exempt.
func (g *Guard) IsExempt(m Message) bool {
	at := m.SentAt
	if at.IsZero() {
		at = g.now()
	}
	var q limits.Request
	if m.fillRequest(&q, at, g.channels.inForce(m.ChannelID).exempt) != nil {
		return false
	}
	var own limits.Own
	if g.channels.exact {
		own = g.rows().KnownOverride(sharing.Key{ChannelID: m.ChannelID, UserID: m.User.ID}, q.At)
	} else if c := g.channels.find(m.ChannelID); c != nil && c.table.HasOwn() {
		own = c.table.OwnOf(m.User.ID, q.At)
	}
	return own.IsExempt(q.Exempt, q.At)
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

// Quota is a limit with the numbers that apply to one user.
type Quota struct {
	Limit    string        // the limit's name
	Messages int           // how many messages of cost 1 the whole quota allows
	Window   time.Duration // in which the whole quota is restored
	// Step is the time to restore one message of a bucket. It is 0 for windows and logs.
	Step time.Duration

	// gradual means that messages are restored one by one, and that the verdict doesn't say when
	// the next one is restored.
	gradual bool
}

// Quotas are the quotas of one user, in the policy's order. The zero value holds none. Quotas never
// change, and are safe for concurrent use.
type Quotas struct {
	list     []Quota
	policy   string // see String
	tightest string // the verdict's tightest limit
}

// Quotas returns the quotas that apply now to the author of the message that v is about, with the
// numbers for the author's roles and the author's own numbers. It omits limits that only observe in
// an enforcing policy. The result is empty if the author is exempt, or if there are no limits.
func (g *Guard) Quotas(v Verdict) Quotas {
	if v.Tightest == "" {
		return Quotas{}
	}
	quotas := g.quotas(&v)
	quotas.tightest = v.Tightest
	return quotas
}

// All returns the quotas in the policy's order.
func (q Quotas) All() iter.Seq[Quota] { return slices.Values(q.list) }

// Tightest returns the quota of the limit that the verdict's Tightest names. ok is false if that
// limit only observes, if it no longer exists, or if there are no quotas.
func (q Quotas) Tightest() (tightest Quota, ok bool) {
	for _, each := range q.list {
		if each.Limit == q.tightest {
			return each, true
		}
	}
	return Quota{}, false
}

// String returns the value of the header RateLimit-Policy: each limit with its quota (q) and its
// window in seconds (w), as in `"burst";q=3;w=12, "daily";q=300;w=86400`. It is empty if there are
// no quotas.
func (q Quotas) String() string { return q.policy }

// MoreAfter returns the maximum time from v until more messages remain of the quota; v must be a
// verdict whose Tightest limit has this quota. ok is false if that time isn't known, as for a
// bucket while the user has grants.
func (q Quota) MoreAfter(v Verdict) (wait time.Duration, ok bool) {
	whole := max(0, v.ResetAt.Sub(v.At))
	switch {
	case v.RetryAfter > 0:
		return v.RetryAfter, true
	case q.gradual:
		return 0, false
	case q.Step == 0:
		return whole, true
	}
	return max(0, whole-time.Duration(max(0, q.Messages-v.Remaining-1))*q.Step), true
}

// newQuotas returns the quotas of a user with the given roles and own numbers.
func newQuotas(p *Policy, roles Roles, own numbers) Quotas {
	q := Quotas{list: make([]Quota, 0, len(p.Limits))}
	var b []byte
	for _, l := range p.Limits {
		if p.Mode == Enforce && l.Mode == Observe {
			continue
		}
		if n, ok := own[l.Per][l.Name]; ok {
			l = l.withOverride(overrideFrom(n))
		} else {
			l = l.withRoles(roles)
		}
		each := l.quota()
		if q.list = append(q.list, each); len(b) > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendQuote(b, each.Limit) // letters, digits, - and _ only
		b = strconv.AppendInt(append(b, ";q="...), int64(each.Messages), 10)
		b = strconv.AppendInt(append(b, ";w="...), roundUp(each.Window, time.Second), 10)
	}
	q.policy = string(b)
	return q
}

// quota returns the quota of a user with the limit's numbers.
func (l Limit) quota() Quota {
	q := Quota{Limit: l.Name, Messages: l.Messages, Window: l.Every}
	switch l.Algorithm {
	case TokenBucket:
		q.Messages, q.Step = l.Burst, l.Refill
	case Cascade:
		q.Messages, q.gradual = l.Burst+l.ExtraBurst, true
		q.Window = max(l.Refill*time.Duration(l.Burst), l.ExtraRefill*time.Duration(l.ExtraBurst))
	case LeakyBucket:
		q.Messages, q.Step = l.Queue+1, l.Every
	case DailyWindow:
		q.Window = day
	case SlidingWindow, SlidingLog:
		q.gradual = true
	}
	if q.Step != 0 {
		q.Window = q.Step * time.Duration(q.Messages)
	}
	return q
}

// quotas returns the quotas of the verdict's user.
func (g *Guard) quotas(v *Verdict) Quotas {
	policy := g.channels.base.Load()
	var own numbers
	var table *limits.Table
	if c := g.channels.find(v.ChannelID); c != nil {
		policy, table = c.policy.Load(), c.table
	}
	if g.channels.exact {
		at := v.At.UnixNano()
		own[limits.PerUser] = g.rows().KnownOverride(sharing.Key{ChannelID: v.ChannelID, UserID: v.UserID}, at).Numbers
		own[limits.PerUserEverywhere] = g.rows().KnownOverride(sharing.Key{UserID: v.UserID}, at).Numbers
	} else {
		own[limits.PerUser], own[limits.PerUserEverywhere] = numbersOf(table, v.UserID, v.At), numbersOf(g.channels.everywhere.Load(), v.UserID, v.At)
	}
	if own[limits.PerUser] != nil || own[limits.PerUserEverywhere] != nil {
		for scope, set := range policy.sets {
			if set != nil {
				own[scope] = set.Fitting(own[scope])
			}
		}
		return newQuotas(&policy.policy, v.roles, own)
	}
	return policy.quotasOf(v.roles)
}

// numbers holds a user's own numbers, by the scope and the name of the limit.
type numbers [limits.Scopes]map[string]limits.Numbers

// numbersOf returns a user's own numbers in a table, or nil if there are none.
func numbersOf(table *limits.Table, userID string, at time.Time) map[string]limits.Numbers {
	if table == nil || !table.HasOwn() {
		return nil
	}
	return table.OwnOf(userID, at.UnixNano()).Numbers
}

// quotasOf returns the quotas of users with those roles and without their own numbers.
func (c *compiled) quotasOf(roles Roles) Quotas {
	roles &= allRoles
	if known, ok := c.quotas.Load(roles); ok {
		return *known.(*Quotas)
	}
	q := newQuotas(&c.policy, roles, numbers{})
	c.quotas.Store(roles, &q)
	return q
}
