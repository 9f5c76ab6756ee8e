package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
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
	{"go-chi/httprate, as many headers", func(pass bool) (func(http.Handler) http.Handler, error) {
		limit := 1
		if pass {
			limit = many
		}
		return withHeaders(httprate.LimitByIP(limit, time.Hour)), nil
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
	{"chatguard, X-RateLimit too", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), &httpguard.LimitOptions{XRateLimit: true})
	}},
	{"chatguard, verdict kept", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), &httpguard.LimitOptions{KeepVerdict: true})
	}},
	{"chatguard, partition key", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), &httpguard.LimitOptions{PartitionSecret: "secret"})
	}},
	{"chatguard, no headers", func(pass bool) (func(http.Handler) http.Handler, error) {
		return newHTTPGuard(newWindow(pass), &httpguard.LimitOptions{Headers: func(http.Header, chatguard.Verdict) {}})
	}},
}

// withHeaders returns a middleware that also sets the four headers that httpguard can set and
// httprate doesn't, in the usual way.
func withHeaders(middleware func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		limited := middleware(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("RateLimit-Policy", `"requests";q=1;w=3600`)
			h.Set("RateLimit", `"requests";r=`+strconv.Itoa(len(h)))
			h.Set("X-RateLimit-Resource", "requests")
			h.Set("X-RateLimit-Used", strconv.Itoa(1000+len(h)))
			limited.ServeHTTP(w, r)
		})
	}
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

// answered is the handler behind a middleware.
var answered = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

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
	var names []string
	for _, c := range httpContestants {
		if s.only.MatchString("http/" + c.name) {
			field, names = append(field, c), append(names, c.name)
		}
	}
	if len(field) == 0 {
		return nil
	}
	for _, pass := range []bool{true, false} {
		title := "HTTP requests: " + outcome(pass)
		log.Print(title)
		laps, err := raceHTTP(s, field, pass)
		if err != nil {
			return err
		}
		fastestTable(title, names, laps).Print(s.out, s.markdown)
	}
	return nil
}

// The laps are longer than those of decisions, so that the garbage collector runs in each.
const (
	httpLaps  = 10 // per round
	httpShare = 64 // each lap has this part of the messages of a round
)

func raceHTTP(s *settings, field []httpContestant, pass bool) ([][]lap, error) {
	rng := sequence.Rand(1)
	handlers, laps := make([]http.Handler, len(field)), make([][]lap, len(field))
	for i, c := range field {
		middleware, err := c.open(pass)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		handlers[i] = middleware(answered)
	}
	for range httpLaps * s.rounds {
		for _, i := range rng.Perm(len(field)) {
			laps[i] = append(laps[i], serve(handlers[i], max(1, s.draws/httpShare)))
		}
	}
	return laps, nil
}

// serve sends n requests to a handler, one after another, after one that isn't measured.
func serve(handler http.Handler, n int) lap {
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
