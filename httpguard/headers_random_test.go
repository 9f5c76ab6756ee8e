package httpguard

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/limits"
)

// Whatever the limits, the numbers and the messages, the headers are structured fields, and no
// client that trusts them retries too early.
func TestSetHeaders_StructuredFields(t *testing.T) {
	verdicts := 4500
	if testing.Short() {
		verdicts = 450
	}
	for i, algorithm := range limits.Algorithms() {
		t.Run(algorithm.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(35, uint64(i)))
			seen := map[string]int{}
			for total := 0; total < verdicts; {
				g, names := drawGuard(t, r, chatguard.Algorithm(algorithm.Name))
				at := monday
				for range 30 {
					at = at.Add(drawDuration(r, 10_000_000_000_000))
					drawChange(t, r, g, names, at)
					v := drawVerdict(t, r, g, at)
					secret := []string{"", "secret"}[r.IntN(2)]
					h := http.Header{}
					new(headerValues).add(h, inner.Of(g).Quotas(&v), inner.Of(g).Granted(&v), &v, secret)
					AddXRateLimit(h, g, v)
					checkFields(t, g, v, h, secret)
					total++
					seen[fmt.Sprint("allowed ", v.Allowed)]++
					seen[fmt.Sprint("never ", v.Never)]++
					seen[fmt.Sprint("granted ", inner.Of(g).Granted(&v) > 0)]++
				}
				if t.Failed() {
					t.Fatalf("with the policy %+v", g.Policy().Limits)
				}
			}
			if len(seen) < 6 || slices.Min(slices.Collect(maps.Values(seen))) < verdicts/100 {
				t.Errorf("some kinds of verdicts are too rare: %v", seen)
			}
		})
	}
}

// drawGuard returns a Guard whose first limit has the algorithm, and the names of its limits.
func drawGuard(t *testing.T, r *rand.Rand, algorithm chatguard.Algorithm) (g *chatguard.Guard, names []string) {
	all := limits.Algorithms()
	for {
		list := []chatguard.Limit{drawLimit(r, "limit-0", algorithm)}
		for i := range r.IntN(3) {
			list = append(list, drawLimit(r, "limit_"+strconv.Itoa(i+1), chatguard.Algorithm(all[r.IntN(len(all))].Name)))
		}
		p := chatguard.DefaultPolicy()
		p.Limits, p.Mode = list, chatguard.ModeEnforce
		g, err := chatguard.New(p, nil)
		if err != nil { // a burst that takes longer than the largest time
			continue
		}
		for _, l := range list {
			names = append(names, l.Name)
		}
		return g, names
	}
}

func drawLimit(r *rand.Rand, name string, algorithm chatguard.Algorithm) chatguard.Limit {
	n, every := 1+drawNumber(r, 1_000_000), 1+drawDuration(r, 10_000_000_000_000_000)
	l := chatguard.Limit{Name: name, Algorithm: algorithm}
	switch algorithm {
	case chatguard.TokenBucket:
		l.Burst, l.Refill = n, every
	case chatguard.LeakyBucket:
		l.Queue, l.Every = n-1, every
	case chatguard.DailyWindow:
		l.Messages, l.Timezone = n, []string{"UTC", "Pacific/Apia"}[r.IntN(2)]
		l.Period = []chatguard.Period{chatguard.PeriodDay, chatguard.PeriodWeek, chatguard.PeriodMonth}[r.IntN(3)]
	case chatguard.SlidingLog:
		l.Messages, l.Every = min(n, 1024), every
	case chatguard.Cascade:
		l.Burst, l.Refill = n, every
		l.ExtraBurst, l.ExtraRefill = 1+drawNumber(r, 100), 1+drawDuration(r, 10_000_000_000_000)
	default:
		l.Messages, l.Every = n, every
	}
	if r.IntN(6) == 0 {
		l.Mode = chatguard.ModeObserve
	}
	return l
}

// drawNumber returns a number from 0 to less than most, each order of magnitude as often.
func drawNumber(r *rand.Rand, most int64) int {
	for most > 1 && r.IntN(3) > 0 {
		most /= 10
	}
	return int(r.Int64N(max(1, most)))
}

func drawDuration(r *rand.Rand, most int64) time.Duration {
	return time.Duration(drawNumber(r, most))
}

// drawChange sometimes grants messages to the user, or sets numbers of their own.
func drawChange(t *testing.T, r *rand.Rand, g *chatguard.Guard, names []string, at time.Time) {
	key, name := chatguard.Key{ChannelID: "1", UserID: "7"}, names[r.IntN(len(names))]
	if r.IntN(4) == 0 {
		if _, err := inner.At(g, at).Grant(t.Context(), key, name, 1+drawNumber(r, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(10) == 0 {
		// Numbers that the limit can't have are an error, and change nothing.
		own := map[string]chatguard.Override{name: {Messages: 1 + drawNumber(r, 1000)}}
		_ = inner.At(g, at).SetUserOverride(t.Context(), key, chatguard.UserOverride{Limits: own})
	}
}

// drawVerdict judges a message, which may be older than others.
func drawVerdict(t *testing.T, r *rand.Rand, g *chatguard.Guard, at time.Time) (v chatguard.Verdict) {
	m := messageFrom("7", 0)
	m.SentAt = at
	if r.IntN(8) == 0 {
		m.SentAt = monday.Add(time.Duration(r.Int64N(1 + int64(at.Sub(monday)))))
	}
	for range 1 + r.IntN(4) {
		m.Cost = drawNumber(r, 10_000_000)
		v = mustCheck(t, g, m)
	}
	return v
}

// checkFields checks the headers of a verdict.
func checkFields(t *testing.T, g *chatguard.Guard, v chatguard.Verdict, h http.Header, secret string) {
	t.Helper()
	quotas := map[string]int64{}
	if text := h.Get(headerPolicy); text != "" {
		list, err := parseList(text)
		if err != nil {
			t.Errorf("RateLimit-Policy: %v", err)
		}
		for _, each := range list {
			q, _ := each.params["q"].(int64)
			w, _ := each.params["w"].(int64)
			if q < 1 || w < 1 || len(each.params) != 2 || quotas[each.name] != 0 {
				t.Errorf("RateLimit-Policy: %s", text)
			}
			quotas[each.name] = q
		}
	}
	wait := ""
	if !v.Allowed && !v.Never {
		wait = strconv.FormatInt(int64((v.RetryAfter+time.Second-1)/time.Second), 10)
	}
	if h.Get(headerRetry) != wait {
		t.Errorf("Retry-After: %q, and the wait is %s", h.Get(headerRetry), v.RetryAfter)
	}
	if quotas[v.Tightest] == 0 { // it only observes
		if len(h[headerLimit])+len(h[headerReset]) > 0 {
			t.Errorf("%s only observes, and has headers: %v", v.Tightest, h)
		}
		return
	}
	checkLimitField(t, g, v, h, quotas[v.Tightest], secret != "")
}

// checkLimitField checks the headers that describe the tightest limit, which has this quota.
func checkLimitField(t *testing.T, g *chatguard.Guard, v chatguard.Verdict, h http.Header, quota int64, partitioned bool) {
	t.Helper()
	list, err := parseList(h.Get(headerLimit))
	if err != nil || len(list) != 1 || list[0].name != v.Tightest {
		t.Errorf("RateLimit: %q, %v", h.Get(headerLimit), err)
		return
	}
	params, granted := list[0].params, int64(inner.Of(g).Granted(&v))
	left, ok := params["r"].(int64)
	more, timed := params["t"].(int64)
	key, keyed := params["pk"].([]byte)
	later, _ := strconv.ParseInt(h.Get(headerRetry), 10, 64)
	expected := 1
	if timed {
		expected++
	}
	if partitioned {
		expected++
	}
	switch {
	case !ok || len(params) != expected || keyed != partitioned || keyed && len(key) != 8:
		t.Errorf("RateLimit: %s", h.Get(headerLimit))
	case left != int64(v.Remaining) || left < 0 || left > quota+granted:
		t.Errorf("RateLimit: %s of %d and %d granted, and the verdict says %d", h.Get(headerLimit), quota, granted, v.Remaining)
	case more < 0 || later > 0 && more != later:
		t.Errorf("RateLimit: %s with Retry-After %d", h.Get(headerLimit), later)
	}
	if timed && granted == 0 && len(g.Policy().Limits) == 1 {
		m := messageFrom("7", 0)
		m.SentAt = v.At.Add(time.Duration(more) * time.Second)
		if then, err := inner.Of(g).Left(t.Context(), m); err != nil || int64(then.Remaining) < min(quota, left+1) {
			t.Errorf("RateLimit: %s, and then %d remain, %v", h.Get(headerLimit), then.Remaining, err)
		}
	}
	number := func(name string) int64 {
		n, err := strconv.ParseInt(h.Get(name), 10, 64)
		if err != nil || n < 0 {
			t.Errorf("%s: %q", name, h.Get(name))
		}
		return n
	}
	if number(headerRemaining) != left || number(headerQuota) != left+number(headerUsed) || number(headerQuota) != quota+granted {
		t.Errorf("X-RateLimit-*: %v", h)
	}
	if reset := time.Unix(number(headerReset), 0); reset.Before(v.ResetAt) || reset.Add(-time.Second).After(v.ResetAt) {
		t.Errorf("X-RateLimit-Reset: %s, and the limit's usage expires at %s", reset, v.ResetAt)
	}
}
