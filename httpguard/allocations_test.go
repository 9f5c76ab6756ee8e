package httpguard

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// discarded is a ResponseWriter that allocates nothing.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) WriteHeader(status int)      { d.status = status }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }

// A flood of refused requests must cost little more than any other answer.
func TestLimit_Allocations(t *testing.T) {
	now := monday
	for _, test := range []struct {
		name  string
		every time.Duration // between requests
		opts  LimitOptions
		most  float64
	}{
		{"passed", time.Minute, LimitOptions{}, 3},
		{"refused", 0, LimitOptions{}, 5},
		{"passed, with the verdict", time.Minute, LimitOptions{KeepVerdict: true}, 6},
		{"passed, with X-RateLimit", time.Minute, LimitOptions{XRateLimit: true}, 5},
		{"refused, with X-RateLimit", 0, LimitOptions{XRateLimit: true}, 7},
		{"passed, with a partition key", time.Minute, LimitOptions{PartitionSecret: "secret"}, 3},
		{"passed, in flight", time.Minute, LimitOptions{MaxInFlight: 2}, 3},
		{"passed, counted by status", time.Minute, LimitOptions{Counts: func(status int) bool { return status >= 400 }}, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			guard := newEnforcingGuard(t, nil, &chatguard.Options{Now: func() time.Time { return now }})
			handler := mustLimit(t, guard, ByAddress(nil), &test.opts)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNoContent)
			}))
			r, w := httptest.NewRequest("GET", "/", nil), &discarded{header: http.Header{}}
			serve := func() {
				now = now.Add(test.every)
				clear(w.header)
				handler.ServeHTTP(w, r)
			}
			for range 10 {
				serve()
			}
			if got := testing.AllocsPerRun(100, serve); got > test.most {
				t.Errorf("%v allocations with status %d, at most %v wanted", got, w.status, test.most)
			}
		})
	}
}
