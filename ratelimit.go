package chatguard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// SetHeaders says in an answer's header what a verdict on a message means for its author, for programs that pace themselves:
//
//   - Retry-After, of a throttled message: whole seconds until the same one would pass; none where no waiting helps
//   - RateLimit-Policy: each limit that the author is held to, with its quota q and the seconds w in which that comes back,
//     and RateLimit: what remains (r) of the tightest one, and after how many seconds there is more (t), where that is known
//     (draft-ietf-httpapi-ratelimit-headers-10)
//   - X-RateLimit-Limit, -Remaining and -Reset: of the tightest limit the quota, what remains, and the Unix time at which all of it is back
//
// Numbers agree with the verdict and are rounded so that nobody comes too early. For an exempt author, and without limits, nothing is set;
// limits that only observe in an enforcing policy aren't spoken of. The message has to be the one that the verdict is on.
func (g *Guard) SetHeaders(h http.Header, m Message, v Verdict) {
	if v.RetryAfter > 0 && !v.Allowed {
		set(h, "Retry-After", strconv.Itoa(v.RetryAfterSeconds()))
	}
	if v.Tightest == "" {
		return
	}
	list := g.quotas(&m, v.At)
	set(h, "Ratelimit-Policy", list.header)
	q, ok := list.find(v.Tightest)
	if !ok {
		return // it only observes, or the policy has lost it since
	}
	set(h, "Ratelimit", q.serviceLimit(&v))
	set(h, "X-Ratelimit-Limit", strconv.Itoa(max(q.capacity, v.Remaining))) // granted messages come on top
	set(h, "X-Ratelimit-Remaining", strconv.Itoa(v.Remaining))
	set(h, "X-Ratelimit-Reset", strconv.FormatInt(ceilUnix(v.ResetAt), 10))
}

// set is http.Header.Set for a name that is in canonical form.
func set(h http.Header, name, value string) { h[name] = []string{value} }

// RetryAfterSeconds is RetryAfter in whole seconds, rounded up: what a Retry-After header says. It is 0 for a message that passes, and where no
// waiting helps.
func (v *Verdict) RetryAfterSeconds() int { return int(roundedUp(v.RetryAfter, time.Second)) }

// ceilUnix is the first whole second since 1970 that isn't before t.
func ceilUnix(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// quota is a limit as it holds for a user.
type quota struct {
	name     string
	capacity int
	window   time.Duration // in which all of it comes back
	step     time.Duration // between two messages that come back; 0 where all come back together
	gradual  bool          // they come back one by one, and the verdict doesn't tell when
}

// quotas are those of one user, in the policy's order.
type quotas struct {
	list   []quota
	header string // RateLimit-Policy
}

// newQuotas returns what a user with those roles, and with numbers of their own, is held to.
func newQuotas(p *Policy, roles Roles, own numbers) *quotas {
	q := &quotas{list: make([]quota, 0, len(p.Limits))}
	var b []byte
	for _, l := range p.Limits {
		if p.Mode == Enforce && l.Mode == LimitObserves {
			continue
		}
		if n, ok := own[l.Per][l.Name]; ok {
			l = l.with(overrideFrom(n))
		} else {
			l = l.forRoles(roles)
		}
		each := l.quota()
		if q.list = append(q.list, each); len(b) > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendQuote(b, each.name) // letters, digits, - and _ only
		b = strconv.AppendInt(append(b, ";q="...), int64(each.capacity), 10)
		b = strconv.AppendInt(append(b, ";w="...), roundedUp(each.window, time.Second), 10)
	}
	q.header = string(b)
	return q
}

// quota is the limit as it holds for whoever has its numbers.
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

// serviceLimit is the RateLimit header of a verdict that this limit is the tightest of.
func (q *quota) serviceLimit(v *Verdict) string {
	b := strconv.AppendQuote(make([]byte, 0, 64), q.name)
	b = strconv.AppendInt(append(b, ";r="...), int64(v.Remaining), 10)
	if more, ok := q.more(v); ok {
		b = strconv.AppendInt(append(b, ";t="...), roundedUp(more, time.Second), 10)
	}
	return string(b)
}

// more is how long after the verdict there is more than what remains, at the latest: messages that were granted hide when the next one of a bucket's
// own comes back. ok is false where that isn't known.
func (q *quota) more(v *Verdict) (wait time.Duration, ok bool) {
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

// quotas returns what the message's author is held to at that time.
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

// numbers are what a user has of their own, by the scope and the name of the limit.
type numbers [limits.Scopes]map[string]limits.Numbers

// numbersOf returns what a user has of their own in a table, nil for nothing.
func numbersOf(table *limits.Table, userID string, at time.Time) map[string]limits.Numbers {
	if table == nil || !table.HasOwn() {
		return nil
	}
	return table.OwnOf(userID, at.UnixNano()).Numbers
}

// quotasOf returns what users of those roles are held to who have no numbers of their own.
func (c *compiled) quotasOf(roles Roles) *quotas {
	roles &= allRoles
	if known, ok := c.quotas.Load(roles); ok {
		return known.(*quotas)
	}
	q := newQuotas(&c.policy, roles, numbers{})
	c.quotas.Store(roles, q)
	return q
}
