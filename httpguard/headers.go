package httpguard

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/limits"
)

// SetHeaders describes one of the Guard's verdicts in a response's headers, for clients that limit
// their own rate:
//
//   - Retry-After is the number of whole seconds until a throttled message would pass. It is absent
//     if waiting never helps.
//   - RateLimit-Policy lists each limit that applies to the author, with its quota (q) and the
//     seconds in which the whole quota is restored (w).
//   - RateLimit describes the tightest limit: what remains of its quota (r), and after how many
//     seconds more remains (t). For a sliding window, a sliding log or a cascade, t is absent unless
//     RetryAfter is positive. Both headers follow the Internet-Draft
//     draft-ietf-httpapi-ratelimit-headers-11. It isn't a standard: later drafts may differ, and a
//     proposed change renames r and t.
//
// The numbers agree with the verdict and are rounded so that no client retries too early.
// SetHeaders sets nothing for an exempt author, or if there are no limits. If the policy enforces,
// it omits limits that only observe. It also omits limits on repeated text, because other texts
// have their own allowance; only Retry-After is set if one of them throttles. v must be a verdict
// of this Guard. The verdict in an error that SessionOptions.Refused receives isn't: it is about
// connecting, not about a message. X-RateLimit-* stay as they are; see AddXRateLimit.
func SetHeaders(h http.Header, guard *chatguard.Guard, v chatguard.Verdict) {
	if v.Tightest != "" {
		delete(h, headerPolicy)
		delete(h, headerLimit)
	}
	AddHeaders(h, guard, v)
}

// AddHeaders is like SetHeaders for a message that several Guards judge, or one Guard in several
// channels: RateLimit and RateLimit-Policy keep the limits that they list already.
func AddHeaders(h http.Header, guard *chatguard.Guard, v chatguard.Verdict) {
	g := inner.Of(guard)
	new(headerValues).add(h, g.Quotas(&v), g.Granted(&v), &v, "")
}

// The names of the headers in canonical form.
const (
	headerRetry     = "Retry-After"
	headerPolicy    = "Ratelimit-Policy"
	headerLimit     = "Ratelimit"
	headerResource  = "X-Ratelimit-Resource"
	headerQuota     = "X-Ratelimit-Limit"
	headerUsed      = "X-Ratelimit-Used"
	headerRemaining = "X-Ratelimit-Remaining"
	headerReset     = "X-Ratelimit-Reset"
)

// setHeader is http.Header.Set for a name in canonical form.
func setHeader(h http.Header, name, value string) { h[name] = []string{value} }

// headerValues has room for the headers of an answer, because each value of an http.Header is a
// slice of its own: three of a verdict and two of a refusal, or five X-RateLimit.
type headerValues struct {
	values [5]string
	used   int
}

// set is setHeader without an allocation.
func (s *headerValues) set(h http.Header, name, value string) {
	i := s.used
	s.values[i] = value
	h[name] = s.values[i : i+1 : i+1]
	s.used++
}

// add is AddHeaders. With a secret, RateLimit has a partition key. One text has all values, so that
// they take one allocation. quotas and granted are those of inner.Guard.
func (s *headerValues) add(h http.Header, quotas *limits.Quotas, granted int, v *chatguard.Verdict, secret string) {
	var room [128]byte
	b := room[:0]
	if v.RetryAfter > 0 && !v.Allowed {
		b = strconv.AppendInt(b, seconds(v.RetryAfter), 10)
	}
	retryEnd, policy := len(b), quotas.Text
	if policy != "" && len(h[headerPolicy]) > 0 {
		b = append(appendList(b, h[headerPolicy]), policy...)
	}
	policyEnd := len(b)
	if q := quotas.Find(v.Tightest); q != nil { // else the limit only observes, is on repeated text, or no longer exists
		b = appendServiceLimit(appendList(b, h[headerLimit]), q, v, granted, secret)
	}
	text := string(b)
	if retryEnd > 0 {
		s.set(h, headerRetry, text[:retryEnd])
	}
	if policyEnd > retryEnd {
		policy = text[retryEnd:policyEnd]
	}
	if policy != "" {
		s.set(h, headerPolicy, policy)
	}
	if len(text) > policyEnd {
		s.set(h, headerLimit, text[policyEnd:])
	}
}

// AddXRateLimit describes the tightest limit of a verdict in the headers that older clients read:
// X-RateLimit-Limit is its quota with the granted messages that are left, -Used and -Remaining are
// how much of that is used and how much remains, -Reset is the Unix time at which the whole quota
// is restored, and -Resource is the limit's name. If they describe a limit already, they keep the
// one of which less remains; a limit that throttles replaces any other. AddXRateLimit sets nothing
// if SetHeaders sets no RateLimit.
func AddXRateLimit(h http.Header, guard *chatguard.Guard, v chatguard.Verdict) {
	g := inner.Of(guard)
	addXRateLimit(h, g.Quotas(&v), g.Granted(&v), &v)
}

// addXRateLimit is AddXRateLimit.
func addXRateLimit(h http.Header, quotas *limits.Quotas, granted int, v *chatguard.Verdict) {
	q := quotas.Find(v.Tightest)
	if q == nil || v.Allowed && isTighter(h[headerRemaining], v.Remaining) {
		return
	}
	quota := max(q.Messages+granted, v.Remaining) // after a change, less may be allowed than remained
	var room [80]byte
	b, ends := room[:0], [4]int{}
	for i, n := range [...]int64{int64(quota), int64(quota - v.Remaining), int64(v.Remaining), v.ResetAt.Add(time.Second - 1).Unix()} {
		b = strconv.AppendInt(b, n, 10)
		ends[i] = len(b)
	}
	text, values, start := string(b), new(headerValues), 0
	values.set(h, headerResource, q.Limit)
	for i, name := range [...]string{headerQuota, headerUsed, headerRemaining, headerReset} {
		values.set(h, name, text[start:ends[i]])
		start = ends[i]
	}
}

// isTighter reports whether a limit described before has no more left than this one.
func isTighter(before []string, remaining int) bool {
	if len(before) == 0 {
		return false
	}
	n, err := strconv.Atoi(before[0])
	return err == nil && n <= remaining
}

// seconds is Verdict.RetryAfterSeconds without a copy of the verdict.
func seconds(wait time.Duration) (n int64) {
	if n = int64(wait / time.Second); wait%time.Second > 0 {
		n++
	}
	return n
}

// appendList appends the items that a header has already, to which another one will be added.
func appendList(b []byte, before []string) []byte {
	for _, value := range before {
		b = append(append(b, value...), ", "...)
	}
	return b
}

// appendServiceLimit appends the item of RateLimit for a verdict whose tightest limit has this
// quota.
func appendServiceLimit(b []byte, q *limits.Quota, v *chatguard.Verdict, granted int, secret string) []byte {
	b = append(append(append(b, '"'), q.Limit...), '"') // letters, digits, - and _ only
	b = strconv.AppendInt(append(b, ";r="...), int64(v.Remaining), 10)
	if more, ok := moreAfter(q, v, granted); ok {
		b = strconv.AppendInt(append(b, ";t="...), seconds(more), 10)
	}
	if secret == "" {
		return b
	}
	return append(appendPartition(append(b, ";pk=:"...), secret, v), ':')
}

// appendPartition appends the partition key of a verdict, in base64.
func appendPartition(b []byte, secret string, v *chatguard.Verdict) []byte {
	var room [256]byte
	text := append(append(room[:0], secret...), 0)
	text = append(append(append(text, v.ChannelID...), 0), v.UserID...)
	sum := sha256.Sum256(text)
	var key [12]byte
	base64.StdEncoding.Encode(key[:], sum[:8])
	return append(b, key[:]...)
}

// moreAfter returns the maximum time from v until more messages of the quota remain; v must be a
// verdict whose Tightest limit has this quota. ok is false if that time isn't known: for a Cascade,
// a SlidingWindow or a SlidingLog without RetryAfter.
func moreAfter(q *limits.Quota, v *chatguard.Verdict, granted int) (wait time.Duration, ok bool) {
	whole := max(0, v.ResetAt.Sub(v.At))
	switch {
	case v.RetryAfter > 0:
		return v.RetryAfter, true
	case q.Gradual:
		return 0, false
	case q.Step == 0:
		return whole, true
	}
	return max(0, whole-time.Duration(max(0, q.Messages+granted-v.Remaining-1))*q.Step), true
}
