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
//   - RateLimit describes the tightest limit: what remains of its quota (r), and if it is known,
//     after how many seconds more remains (t). Both headers follow the Internet-Draft
//     draft-ietf-httpapi-ratelimit-headers-11. It isn't a standard: later drafts may differ, and a
//     proposed change renames r and t.
//   - X-RateLimit-Resource, -Limit, -Used, -Remaining and -Reset describe the tightest limit, too:
//     its name, its quota with the granted messages that are left, how much of that is used and how
//     much remains, and the Unix time at which the whole quota is restored.
//
// The numbers agree with the verdict and are rounded so that no client retries too early.
// SetHeaders sets nothing for an exempt author, or if there are no limits. If the policy enforces,
// it omits limits that only observe. v must be a verdict of this Guard. The verdict in an error
// that SessionOptions.Refused receives isn't: it is about connecting, not about a message.
func SetHeaders(h http.Header, guard *chatguard.Guard, v chatguard.Verdict) {
	if v.Tightest != "" {
		delete(h, headerPolicy)
		delete(h, headerLimit)
		delete(h, headerRemaining)
	}
	new(headerValues).add(h, inner.Of(guard), &v, "")
}

// AddHeaders is like SetHeaders for a message that several Guards judge, or one Guard in several
// channels: RateLimit and RateLimit-Policy keep the limits that they list already, and
// X-RateLimit-* describe the limit of which least remains.
func AddHeaders(h http.Header, guard *chatguard.Guard, v chatguard.Verdict) {
	new(headerValues).add(h, inner.Of(guard), &v, "")
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

// headerValues has room for the headers of a response, because each value of an http.Header is a
// slice of its own.
type headerValues struct {
	values [10]string
	used   int
}

// set is setHeader without an allocation.
func (s *headerValues) set(h http.Header, name, value string) {
	i := s.used
	s.values[i] = value
	h[name] = s.values[i : i+1 : i+1]
	s.used++
}

// add is AddHeaders. With a secret, RateLimit has a partition key.
func (s *headerValues) add(h http.Header, guard inner.Guard, v *chatguard.Verdict, secret string) {
	var room [192]byte
	b, t := room[:0], headerTexts{}
	if v.RetryAfter > 0 && !v.Allowed {
		b = t.number(b, headerRetry, seconds(v.RetryAfter))
	}
	if v.Tightest != "" {
		policies, items, remaining := h[headerPolicy], h[headerLimit], h[headerRemaining]
		quotas, granted := guard.Quotas(v), guard.Granted(v)
		if policy := quotas.Text; len(policies) > 0 && policy != "" {
			b = t.end(append(appendList(b, policies), policy...), headerPolicy)
		} else if policy != "" {
			s.set(h, headerPolicy, policy)
		}
		if q := quotas.Find(v.Tightest); q != nil { // else the limit only observes, or no longer exists
			b = t.end(appendServiceLimit(appendList(b, items), q, v, granted, secret), headerLimit)
			if !v.Allowed || !isTighter(remaining, v.Remaining) {
				s.set(h, headerResource, q.Limit)
				b = t.tightest(b, q, v, granted)
			}
		}
	}
	t.setAll(h, s, string(b))
}

// seconds is Verdict.RetryAfterSeconds without a copy of the verdict.
func seconds(wait time.Duration) (n int64) {
	if n = int64(wait / time.Second); wait%time.Second > 0 {
		n++
	}
	return n
}

// isTighter reports whether a limit described before has no more left than this one.
func isTighter(before []string, remaining int) bool {
	if len(before) == 0 {
		return false
	}
	n, err := strconv.Atoi(before[0])
	return err == nil && n <= remaining
}

// headerTexts says which part of one text is the value of which header, so that all values take one
// allocation. The text isn't a field, because it would then be on the heap from the beginning.
type headerTexts struct {
	names [7]string
	ends  [7]int // of the values in the text
	count int
}

// end ends the value of a header.
func (t *headerTexts) end(b []byte, name string) []byte {
	t.names[t.count], t.ends[t.count] = name, len(b)
	t.count++
	return b
}

func (t *headerTexts) number(b []byte, name string, n int64) []byte {
	return t.end(strconv.AppendInt(b, n, 10), name)
}

// tightest adds X-RateLimit-* for a verdict whose tightest limit has this quota.
func (t *headerTexts) tightest(b []byte, q *limits.Quota, v *chatguard.Verdict, granted int) []byte {
	quota := max(q.Messages+granted, v.Remaining) // after a change, less may be allowed than remained
	b = t.number(b, headerQuota, int64(quota))
	b = t.number(b, headerUsed, int64(quota-v.Remaining))
	b = t.number(b, headerRemaining, int64(v.Remaining))
	return t.number(b, headerReset, v.ResetAt.Add(time.Second-1).Unix())
}

// setAll sets the headers to their parts of the text.
func (t *headerTexts) setAll(h http.Header, s *headerValues, text string) {
	start := 0
	for i, name := range t.names[:t.count] {
		s.set(h, name, text[start:t.ends[i]])
		start = t.ends[i]
	}
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
// verdict whose Tightest limit has this quota. ok is false if that time isn't known, which happens
// with a Cascade, a SlidingWindow or a SlidingLog that allows the message.
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
