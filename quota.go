package chatguard

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/sharing"
)

// Quota is a limit with the numbers that apply to one user.
type Quota struct {
	Limit    string // the limit's name
	Messages int    // how many messages of cost 1 the whole quota allows
	// Window is the time in which the whole quota is restored. For a DailyWindow, it is the length
	// of the present day, week or month in the limit's time zone.
	Window time.Duration
	// Step is the time to restore one message of a bucket. It is 0 for windows, logs and cascades.
	Step time.Duration

	// gradual means that messages are restored little by little, and that the verdict doesn't say
	// when the next one is restored.
	gradual bool
}

// Quotas are the quotas of one user, in the policy's order. The zero value holds none. Quotas never
// change, and are safe for concurrent use.
type Quotas struct {
	list     []Quota
	policy   string // see String
	tightest string // the verdict's tightest limit
}

// Quotas returns the quotas that apply now to the author of the message that v is about. They have
// the author's own numbers, or else those of the author's roles. If the policy enforces, Quotas
// omits limits that only observe. The result is empty if the author is exempt, or if there are no
// limits.
func (g *Guard) Quotas(v Verdict) Quotas {
	if v.Tightest == "" {
		return Quotas{}
	}
	quotas := g.channels.quotas(&v)
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

// MoreAfter returns the maximum time from v until more messages of the quota remain; v must be a
// verdict whose Tightest limit has this quota. ok is false if that time isn't known, which happens
// with a Cascade, a SlidingWindow or a SlidingLog that allows the message.
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

// newQuotas returns the quotas of a user with the given roles and own numbers at a time. They stay
// the same during a span of time that contains it.
func (c *compiled) newQuotas(roles Roles, own numbers, at time.Time) (q Quotas, during limits.Period) {
	p := &c.policy
	q.list, during = make([]Quota, 0, len(p.Limits)), limits.Period{End: math.MaxInt64}
	var b []byte
	for _, l := range p.Limits {
		if p.Mode == ModeEnforce && l.Mode == ModeObserve {
			continue
		}
		if n, ok := own[l.Per][l.Name]; ok {
			l = l.withOverride(overrideFrom(n))
		} else {
			l = l.withRoles(roles)
		}
		each := l.quota()
		if l.Algorithm == DailyWindow {
			present := c.sets[l.Per].PeriodOf(l.Name, at.Unix())
			each.Window = time.Duration(present.End-present.Start) * time.Second
			during = limits.Period{Start: max(during.Start, present.Start), End: min(during.End, present.End)}
		}
		if q.list = append(q.list, each); len(b) > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendQuote(b, each.Limit) // letters, digits, - and _ only
		b = strconv.AppendInt(append(b, ";q="...), int64(each.Messages), 10)
		b = strconv.AppendInt(append(b, ";w="...), roundUp(each.Window, time.Second), 10)
	}
	q.policy = string(b)
	return q, during
}

// quota returns the quota of a user with the limit's numbers. That of a DailyWindow has no Window.
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
	case SlidingWindow, SlidingLog:
		q.gradual = true
	}
	if q.Step != 0 {
		q.Window = q.Step * time.Duration(q.Messages)
	}
	return q
}

// quotas returns the quotas of the verdict's user.
func (cs *channels) quotas(v *Verdict) Quotas {
	policy := cs.base.Load()
	var own numbers
	var table *limits.Table
	if c := cs.known.find(v.ChannelID); c != nil {
		policy, table = c.policy.Load(), c.table
	}
	if cs.exact {
		at := v.At.UnixNano()
		own[limits.PerUser] = cs.rows.KnownOverride(sharing.Key{ChannelID: v.ChannelID, UserID: v.UserID}, at).Numbers
		own[limits.PerUserEverywhere] = cs.rows.KnownOverride(sharing.Key{UserID: v.UserID}, at).Numbers
	} else {
		own[limits.PerUser], own[limits.PerUserEverywhere] = numbersOf(table, v.UserID, v.At), numbersOf(cs.everywhere.Load(), v.UserID, v.At)
	}
	if own[limits.PerUser] != nil || own[limits.PerUserEverywhere] != nil {
		for scope, set := range policy.sets {
			if set != nil {
				own[scope] = set.Fitting(own[scope])
			}
		}
		q, _ := policy.newQuotas(v.roles, own, v.At)
		return q
	}
	return policy.quotasOf(v.roles, v.At)
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

// knownQuotas are quotas that stay the same during a span of time.
type knownQuotas struct {
	Quotas
	during limits.Period
}

// quotasOf returns the quotas of users with those roles and without their own numbers at a time.
func (c *compiled) quotasOf(roles Roles, at time.Time) Quotas {
	roles &= allRoles
	if known, ok := c.quotas.Load(roles); ok {
		if k := known.(*knownQuotas); k.during.Start <= at.Unix() && at.Unix() < k.during.End {
			return k.Quotas
		}
	}
	q, during := c.newQuotas(roles, numbers{}, at)
	c.quotas.Store(roles, &knownQuotas{q, during})
	return q
}
