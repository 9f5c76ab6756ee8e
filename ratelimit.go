package chatguard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// SetHeaders describes a verdict on a message in a response's headers, for clients that limit their
// own rate:
//
//   - Retry-After is the number of whole seconds until a throttled message would pass. It is absent
//     if waiting never helps.
//   - RateLimit-Policy lists each limit that applies to the author, with its quota (q) and the
//     seconds in which the whole quota is restored (w).
//   - RateLimit describes the tightest limit: what remains of its quota (r), and if it is known,
//     after how many seconds more remains (t). Both headers follow
//     draft-ietf-httpapi-ratelimit-headers-10.
//   - X-RateLimit-Limit, -Remaining and -Reset describe the tightest limit, too: its quota, what
//     remains, and the Unix time at which the whole quota is restored.
//
// The numbers agree with the verdict and are rounded so that no client retries too early.
// SetHeaders sets nothing for an exempt author, or if there are no limits. It omits limits that
// only observe in an enforcing policy. m must be the message that v is about.
func (g *Guard) SetHeaders(h http.Header, m Message, v Verdict) {
	if v.RetryAfter > 0 && !v.Allowed {
		setHeader(h, "Retry-After", strconv.Itoa(v.RetryAfterSeconds()))
	}
	if v.Tightest == "" {
		return
	}
	list := g.quotas(&m, v.At)
	setHeader(h, "Ratelimit-Policy", list.header)
	q, ok := list.find(v.Tightest)
	if !ok {
		return // the limit only observes, or no longer exists
	}
	setHeader(h, "Ratelimit", q.serviceLimit(&v))
	// Remaining may include grants, so it can exceed the capacity.
	setHeader(h, "X-Ratelimit-Limit", strconv.Itoa(max(q.capacity, v.Remaining)))
	setHeader(h, "X-Ratelimit-Remaining", strconv.Itoa(v.Remaining))
	setHeader(h, "X-Ratelimit-Reset", strconv.FormatInt(ceilUnix(v.ResetAt), 10))
}

// setHeader is http.Header.Set for a name in canonical form.
func setHeader(h http.Header, name, value string) { h[name] = []string{value} }

// RetryAfterSeconds returns RetryAfter in whole seconds, rounded up, as used in a Retry-After
// header. It is 0 if the message passes or if waiting never helps.
func (v *Verdict) RetryAfterSeconds() int { return int(roundUp(v.RetryAfter, time.Second)) }

// ceilUnix returns t as Unix time, rounded up to whole seconds.
func ceilUnix(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// quota is a limit with the numbers that apply to a user.
type quota struct {
	name     string
	capacity int
	window   time.Duration // time in which the whole quota is restored
	step     time.Duration // time to restore one message; 0 if all are restored at once
	// gradual means that messages are restored one by one, and that the verdict doesn't say when
	// the next one is restored.
	gradual bool
}

// quotas holds the quotas of one user, in the policy's order.
type quotas struct {
	list   []quota
	header string // value of the RateLimit-Policy header
}

// newQuotas returns the quotas of a user with the given roles and own numbers.
func newQuotas(p *Policy, roles Roles, own numbers) *quotas {
	q := &quotas{list: make([]quota, 0, len(p.Limits))}
	var b []byte
	for _, l := range p.Limits {
		if p.Mode == Enforce && l.Mode == LimitObserves {
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
		b = strconv.AppendQuote(b, each.name) // letters, digits, - and _ only
		b = strconv.AppendInt(append(b, ";q="...), int64(each.capacity), 10)
		b = strconv.AppendInt(append(b, ";w="...), roundUp(each.window, time.Second), 10)
	}
	q.header = string(b)
	return q
}

// quota returns the quota of a user with the limit's numbers.
func (l Limit) quota() quota {
	q := quota{name: l.Name, capacity: l.Messages, window: l.Every}
	switch l.Algorithm {
	case TokenBucket:
		q.capacity, q.step = l.Burst, l.Refill
	case LeakyBucket:
		q.capacity, q.step = l.Queue+1, l.Every
	case DailyWindow:
		q.window = 24 * time.Hour
	case SlidingWindow, SlidingLog:
		q.gradual = true
	}
	if q.step != 0 {
		q.window = q.step * time.Duration(q.capacity)
	}
	return q
}

func (q *quotas) find(limit string) (quota, bool) {
	for _, each := range q.list {
		if each.name == limit {
			return each, true
		}
	}
	return quota{}, false
}

// serviceLimit returns the RateLimit header for a verdict whose tightest limit has this quota.
func (q *quota) serviceLimit(v *Verdict) string {
	b := strconv.AppendQuote(make([]byte, 0, 64), q.name)
	b = strconv.AppendInt(append(b, ";r="...), int64(v.Remaining), 10)
	if more, ok := q.waitForMore(v); ok {
		b = strconv.AppendInt(append(b, ";t="...), roundUp(more, time.Second), 10)
	}
	return string(b)
}

// waitForMore returns the maximum time from the verdict until more messages remain. ok is false if
// that time isn't known, as for a bucket while the user has grants.
func (q *quota) waitForMore(v *Verdict) (wait time.Duration, ok bool) {
	whole := max(0, v.ResetAt.Sub(v.At))
	switch {
	case v.RetryAfter > 0:
		return v.RetryAfter, true
	case q.gradual:
		return 0, false
	case q.step == 0:
		return whole, true
	}
	return max(0, whole-time.Duration(max(0, q.capacity-v.Remaining-1))*q.step), true
}

// quotas returns the quotas of the message's author at that time.
func (g *Guard) quotas(m *Message, at time.Time) *quotas {
	policy := g.base.Load()
	var own numbers
	if c := g.channels.find(m.ChannelID); c != nil {
		policy, own[limits.PerUser] = c.policy.Load(), numbersOf(c.table, m.User.ID, at)
	}
	own[limits.PerUserEverywhere] = numbersOf(g.everywhere.Load(), m.User.ID, at)
	if own[limits.PerUser] != nil || own[limits.PerUserEverywhere] != nil {
		return newQuotas(&policy.policy, m.User.Roles, own)
	}
	return policy.quotasOf(m.User.Roles)
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
func (c *compiled) quotasOf(roles Roles) *quotas {
	roles &= allRoles
	if known, ok := c.quotas.Load(roles); ok {
		return known.(*quotas)
	}
	q := newQuotas(&c.policy, roles, numbers{})
	c.quotas.Store(roles, q)
	return q
}
