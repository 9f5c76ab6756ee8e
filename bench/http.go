package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"time"

	"github.com/go-chi/httprate"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/bench/internal/report"
	"github.com/chatguard/chatguard/bench/internal/sequence"
	"github.com/chatguard/chatguard/httpguard"
)

// httpContestant is a middleware for HTTP handlers that limits requests by their address.
type httpContestant struct {
	name string
	// open returns the middleware. It passes either every request, or one an hour.
	open func(pass bool) (func(http.Handler) http.Handler, error)
}

// many is a number of requests that nobody reaches in a round.
const many = 1_000_000_000

var httpContestants = []httpContestant{
	{"go-chi/httprate", func(pass bool) (func(http.Handler) http.Handler, error) {
		limit := 1
		if pass {
			limit = many
		}
		return httprate.LimitByIP(limit, time.Hour), nil
	}},
	{"throttled/throttled", newThrottledHTTP},
	{"chatguard, token bucket", func(pass bool) (func(http.Handler) http.Handler, error) {
		limit := chatguard.TokenBucketLimit("requests", 1, time.Hour)
		if pass {
			limit = chatguard.TokenBucketLimit("requests", many, time.Microsecond)
		}
		return newHTTPGuard(limit, nil)
	}},
	{"chatguard, sliding window", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), nil)
	}},
	{"chatguard, partition key", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), &httpguard.LimitOptions{PartitionSecret: "secret"})
	}},
	{"chatguard, no headers", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), &httpguard.LimitOptions{Headers: func(http.Header, chatguard.Verdict) {}})
	}},
}

// newWindow returns the algorithm of httprate.
func newWindow(pass bool) chatguard.Limit {
	if pass {
		return chatguard.SlidingWindowLimit("requests", many, time.Hour)
	}
	return chatguard.SlidingWindowLimit("requests", 1, time.Hour)
}

func newHTTPGuard(limit chatguard.Limit, opts *httpguard.LimitOptions) (func(http.Handler) http.Handler, error) {
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, nil)
	if err != nil {
		return nil, err
	}
	return httpguard.Limit(guard, httpguard.ByAddress(nil), opts)
}

func newThrottledHTTP(pass bool) (func(http.Handler) http.Handler, error) {
	store, err := memstore.NewCtx(0)
	if err != nil {
		return nil, err
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerHour(1)}
	if pass {
		quota = throttled.RateQuota{MaxRate: throttled.PerSec(many), MaxBurst: many}
	}
	limiter, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		return nil, err
	}
	l := throttled.HTTPRateLimiterCtx{RateLimiter: limiter, VaryBy: &throttled.VaryBy{RemoteAddr: true}}
	return l.RateLimit, nil
}

// discarded is a ResponseWriter that costs nothing.
type discarded struct {
	header http.Header
	passed int // responses with status 204
}

func (d *discarded) Header() http.Header { return d.header }

func (d *discarded) WriteHeader(status int) {
	if status == http.StatusNoContent {
		d.passed++
	}
}

func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }

// measureHTTP measures the cost of a middleware for a request that passes, and for one that is
// refused. All requests come from one address.
func measureHTTP(s *settings, _ []uint64) error {
	var field []httpContestant
	for _, c := range httpContestants {
		if s.only.MatchString("http/" + c.name) {
			field = append(field, c)
		}
	}
	if len(field) == 0 {
		return nil
	}
	rng := sequence.Rand(1)
	for _, pass := range []bool{true, false} {
		title := "HTTP requests: refused"
		if pass {
			title = "HTTP requests: passed"
		}
		laps := make([][]lap, len(field))
		for round := range s.rounds {
			log.Printf("%s: round %d of %d", title, round+1, s.rounds)
			for _, i := range rng.Perm(len(field)) {
				middleware, err := field[i].open(pass)
				if err != nil {
					return fmt.Errorf("%s: %w", field[i].name, err)
				}
				laps[i] = append(laps[i], serve(middleware, max(1, s.draws/8)))
			}
		}
		httpTable(title, field, laps).Print(s.out, s.markdown)
	}
	return nil
}

// serve sends n requests through a middleware, one after another, after one that isn't measured.
func serve(middleware func(http.Handler) http.Handler, n int) lap {
	handler := middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	w, r := &discarded{header: http.Header{}}, httptest.NewRequest("GET", "/", nil)
	handler.ServeHTTP(w, r)
	w.passed = 0
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, used := time.Now(), report.ProcessorTime()
	for range n {
		clear(w.header)
		handler.ServeHTTP(w, r)
	}
	elapsed := time.Since(start)
	used = report.ProcessorTime() - used
	runtime.ReadMemStats(&after)
	each := float64(n)
	return lap{
		wall: float64(elapsed.Nanoseconds()) / each, processor: float64(used.Nanoseconds()) / each,
		allocs: float64(after.Mallocs-before.Mallocs) / each, passed: float64(w.passed) / each,
	}
}

func httpTable(title string, field []httpContestant, laps [][]lap) *report.Table {
	t := &report.Table{
		Title: title,
		Head:  []string{"", "ns", "× first", "processor ns", "× first", "allocations", "passed"},
		Note: "ns: wall time per request without a server, and processor time per request, each the median of the rounds. " +
			"× first: divided by the first row. Allocations and passed: of the last round.",
	}
	var first [2]float64
	for i, c := range field {
		var wall, processor []float64
		for _, l := range laps[i] {
			wall, processor = append(wall, l.wall), append(processor, l.processor)
		}
		medians := [2]float64{report.Median(wall), report.Median(processor)}
		if i == 0 {
			first = medians
		}
		last := laps[i][len(laps[i])-1]
		t.Add(c.name, fmt.Sprintf("%.0f", medians[0]), report.Ratio(medians[0], first[0]), fmt.Sprintf("%.0f", medians[1]), report.Ratio(medians[1], first[1]),
			fmt.Sprintf("%.2f", last.allocs), fmt.Sprintf("%.0f %%", 100*last.passed))
	}
	return t
}
