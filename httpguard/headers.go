package httpguard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
)

// SetHeaders describes one of the Guard's verdicts in a response's headers, for clients that limit
// their own rate:
//
//   - Retry-After is the number of whole seconds until a throttled message would pass. It is absent
//     if waiting never helps.
//   - RateLimit-Policy lists each limit that applies to the author, with its quota (q) and the
//     seconds in which the whole quota is restored (w).
//   - RateLimit describes the tightest limit: what remains of its quota (r), and if it is known,
//     after how many seconds more remains (t). Both headers follow the Internet-Draft
//     draft-ietf-httpapi-ratelimit-headers-10. It isn't a standard: later drafts may differ, and a
//     proposed change renames r and t.
//   - X-RateLimit-Resource, -Limit, -Used, -Remaining and -Reset describe the tightest limit, too:
//     its name, its quota, how much of the quota is used and how much remains, and the Unix time at
//     which the whole quota is restored.
//
// The numbers agree with the verdict and are rounded so that no client retries too early.
// SetHeaders sets nothing for an exempt author, or if there are no limits. If the policy enforces,
// it omits limits that only observe. v must be a verdict of this Guard. The verdict in an error
// that SessionOptions.Refused receives isn't: it is about connecting, not about a message.
func SetHeaders(h http.Header, guard *chatguard.Guard, v chatguard.Verdict) {
	if v.RetryAfter > 0 && !v.Allowed {
		setHeader(h, "Retry-After", strconv.Itoa(v.RetryAfterSeconds()))
	}
	if v.Tightest == "" {
		return
	}
	quotas := guard.Quotas(v)
	setHeader(h, "Ratelimit-Policy", quotas.String())
	q, ok := quotas.Tightest()
	if !ok {
		return // the limit only observes, or no longer exists
	}
	setHeader(h, "Ratelimit", serviceLimit(q, v))
	// Remaining may include grants, so it can exceed the quota.
	quota := max(q.Messages, v.Remaining)
	setHeader(h, "X-Ratelimit-Resource", q.Limit)
	setHeader(h, "X-Ratelimit-Limit", strconv.Itoa(quota))
	setHeader(h, "X-Ratelimit-Used", strconv.Itoa(quota-v.Remaining))
	setHeader(h, "X-Ratelimit-Remaining", strconv.Itoa(v.Remaining))
	setHeader(h, "X-Ratelimit-Reset", strconv.FormatInt(v.ResetAt.Add(time.Second-1).Unix(), 10))
}

// setHeader is http.Header.Set for a name in canonical form.
func setHeader(h http.Header, name, value string) { h[name] = []string{value} }

// serviceLimit returns the RateLimit header for a verdict whose tightest limit has this quota.
func serviceLimit(q chatguard.Quota, v chatguard.Verdict) string {
	b := strconv.AppendQuote(make([]byte, 0, 64), q.Limit)
	b = strconv.AppendInt(append(b, ";r="...), int64(v.Remaining), 10)
	if more, ok := q.MoreAfter(v); ok {
		b = strconv.AppendInt(append(b, ";t="...), int64((more+time.Second-1)/time.Second), 10)
	}
	return string(b)
}
