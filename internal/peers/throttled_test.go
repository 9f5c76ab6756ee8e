package peers

import (
	"errors"
	"net/http"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// throttled has the facts in rate_test.go, http_test.go, deprecated_test.go and varyby_test.go of
// github.com/throttled/throttled/v2 2.15.0.
func throttled(f *facts) {
	f.group("burst of 5, 1 per second", throttledBurst)
	f.group("3 per 10 ms", func(f *facts) {
		g := f.guard(chatguard.TokenBucketLimit("x", 1, 10*time.Millisecond/3))
		f.every("each third message is refused", 27, func(i int) bool {
			a, err := check(g, step{}.message())
			return err == nil && (i == 0 || i%3 != 0 || !a.Allowed)
		})
	})
	f.group("a peek has the wait", func(f *facts) {
		const refill = time.Second / 3
		f.run(chatguard.TokenBucketLimit("x", 1, refill),
			step{want: []fact{yes, retryAfter(0)}},
			step{want: []fact{no, retryAfter(refill)}},
			step{do: left, want: []fact{yes, remaining(0)}},
			step{do: peek, want: []fact{retryAfter(refill)}},
		)
	})
	f.group("over HTTP", throttledHTTP)
	f.group("by path", throttledPaths)
	f.group("addresses", func(f *facts) {
		f.holds("with a port", addressKey("1.2.3.4:1234"), "1.2.3.4")
		f.holds("in brackets", addressKey("[::]:1234"), "::")
		f.holds("without a port", addressKey("1.2.3.4"), "1.2.3.4")
	})
	f.lacks(6, "the text of a key made of parts of a request: in chatguard, a func returns it")
	f.lacks(3, "a store whose updates fail: a Guard decides in memory")
}

func throttledBurst(f *facts) {
	const s, most = time.Second, 5
	at := func(t time.Duration, cost, left int, reset time.Duration) step {
		return step{at: t, cost: cost, want: []fact{yes, quota(most), remaining(left), resetAfter(reset), retryAfter(0)}}
	}
	f.run(chatguard.TokenBucketLimit("x", most, s),
		step{cost: 6, want: []fact{no, quota(most), remaining(5), resetAfter(0), never}},
		at(0, 1, 4, s), at(0, 1, 3, 2*s), at(0, 1, 2, 3*s), at(0, 1, 1, 4*s), at(0, 1, 0, 5*s),
		step{cost: 1, want: []fact{no, quota(most), remaining(0), resetAfter(5 * s), retryAfter(s)}},
		at(3*s, 1, 2, 3*s), at(3100*time.Millisecond, 1, 1, 3900*time.Millisecond), at(4*s, 1, 1, 4*s),
		at(8*s, 1, 4, s), at(9500*time.Millisecond, 1, 4, s),
		step{at: 9500 * time.Millisecond, do: left, want: []fact{yes, quota(most), remaining(4), resetAfter(s), retryAfter(0)}},
		at(9500*time.Millisecond, 2, 2, 3*s),
		step{at: 9500 * time.Millisecond, cost: 5, want: []fact{no, quota(most), remaining(2), resetAfter(3 * s), retryAfter(3 * s)}},
		step{at: 15 * s, cost: 6, want: []fact{no, quota(most), remaining(5), resetAfter(0), never}},
	)
}

func throttledHTTP(f *facts) {
	s := f.site(chatguard.UserWindowLimit("x", 3, time.Minute), httpguard.Anonymous, nil)
	w := s.status(request(""), http.StatusOK)
	f.holds("remaining", w.Header().Get("X-RateLimit-Remaining"), "2")
	f.holds("reset", seconds(w), int64(60))
	f.lacks(1, "a limit of 1 of which 2 are left, as a double of the peer's tests says")

	one := chatguard.UserWindowLimit("x", 1, time.Minute)
	s = f.site(one, httpguard.Anonymous, nil)
	s.do(request(""))
	w = s.status(request(""), http.StatusTooManyRequests)
	f.holds("Retry-After", w.Header().Get("Retry-After"), "60")

	broken := func(*http.Request) (chatguard.User, error) { return chatguard.User{}, errors.New("broken") }
	quiet := &httpguard.LimitOptions{Logger: silent}
	f.site(one, broken, quiet).status(request(""), http.StatusInternalServerError)

	own := &httpguard.LimitOptions{Logger: silent, Refused: func(w http.ResponseWriter, _ *http.Request, err error) {
		if _, ok := errors.AsType[*chatguard.ThrottledError](err); ok {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNotImplemented)
	}}
	s = f.site(one, httpguard.Anonymous, own)
	s.do(request(""))
	s.status(request(""), http.StatusBadRequest)
	f.site(one, broken, own).status(request(""), http.StatusNotImplemented)
}

func throttledPaths(f *facts) {
	s := f.site(chatguard.TokenBucketLimit("x", 2, 30*time.Second), httpguard.Anonymous,
		&httpguard.LimitOptions{Channel: func(r *http.Request) string { return r.URL.Path }})
	for _, want := range []struct {
		path      string
		status    int
		remaining string
		reset     int64
		retry     string
	}{
		{"/foo", 200, "1", 30, ""}, {"/foo", 200, "0", 60, ""}, {"/foo", 429, "0", 60, "30"}, {"/bar", 200, "1", 30, ""},
	} {
		r := request("")
		r.URL.Path = want.path
		w := s.status(r, want.status)
		f.holds("limit", w.Header().Get("X-RateLimit-Limit"), "2")
		f.holds("remaining", w.Header().Get("X-RateLimit-Remaining"), want.remaining)
		f.holds("seconds until the reset", seconds(w), want.reset)
		if want.retry != "" {
			f.holds("Retry-After", w.Header().Get("Retry-After"), want.retry)
		}
	}
}
