package peers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// flaskApp is a handler behind one httpguard.Limit for each limiter of an application, the first
// one outermost.
type flaskApp struct {
	*facts
	now        time.Time
	user, role string // of the next requests
	handler    http.Handler
}

// flaskLimiter limits each route by the default limits or by its own ones.
type flaskLimiter struct {
	limits   string            // as in "1 second, 2 minute"; those of the application begin with "app"
	routes   map[string]string // other limits of a route, which includes its method if the limiter's options do
	suspects chatguard.Override
	observes bool
	options  httpguard.LimitOptions
}

// flaskLimits reads limits, which are windows that begin with the first request.
func flaskLimits(text string, suspects chatguard.Override) (list []chatguard.Limit) {
	units := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	for each := range strings.SplitSeq(text, ", ") {
		words := strings.Fields(each)
		if len(words) == 0 {
			continue
		}
		scope := chatguard.PerUser
		switch words[0] {
		case "app":
			scope, words = chatguard.PerUserEverywhere, words[1:]
		case "all":
			scope, words = chatguard.PerChannel, words[1:]
		}
		n, _ := strconv.Atoi(words[0])
		l := chatguard.UserWindowLimit(strings.Join(words, "-"), n, units[words[1]])
		if l.Per = scope; suspects.Messages > 0 {
			l.Roles = map[chatguard.Role]chatguard.Override{"suspect": suspects}
		}
		list = append(list, l)
	}
	return list
}

// flask returns an application with limiters. Its handler answers 400 to a path that ends with
// "bad".
func (f *facts) flask(limiters ...flaskLimiter) *flaskApp {
	f.Helper()
	a := &flaskApp{facts: f, now: start.Add(time.Second / 2), user: "127.0.0.1"}
	a.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		if strings.HasSuffix(r.URL.Path, "bad") {
			status = http.StatusBadRequest
		}
		w.WriteHeader(status)
	})
	for i := range limiters {
		l := &limiters[len(limiters)-1-i]
		policy := chatguard.Policy{Limits: flaskLimits(l.limits, l.suspects), Roles: []chatguard.Role{"friend", "suspect"}, Exempt: []chatguard.Role{"friend"}}
		if l.observes {
			policy.Mode = chatguard.ModeObserve
		}
		g, err := chatguard.New(policy, &chatguard.Options{Now: func() time.Time { return a.now }})
		if err != nil {
			f.Fatal(err)
		}
		for route, limits := range l.routes {
			p := policy
			p.Limits = flaskLimits(limits, l.suspects)
			if err := g.SetChannelPolicy(route, p); err != nil {
				f.Fatal(err)
			}
		}
		if l.options.Channel == nil {
			l.options.Channel = func(r *http.Request) string { return r.URL.Path }
		}
		who := func(*http.Request) (chatguard.User, error) {
			return chatguard.User{ID: a.user, Roles: chatguard.Roles{chatguard.Role(a.role)}}, nil
		}
		l.options.XRateLimit = true
		wrap, err := httpguard.Limit(g, who, &l.options)
		if err != nil {
			f.Fatal(err)
		}
		a.handler = wrap(a.handler)
	}
	return a
}

// ask asks for a path, or with another method as in "POST /path".
func (a *flaskApp) ask(what string) *httptest.ResponseRecorder {
	method, path, ok := strings.Cut(what, " ")
	if !ok {
		method, path = http.MethodGet, what
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// get asks several times and holds the statuses.
func (a *flaskApp) get(what string, theirs ...int) {
	a.Helper()
	for _, want := range theirs {
		a.holds("status of "+what, a.ask(what).Code, want)
	}
}

// repeats asks n times and holds one status for all.
func (a *flaskApp) repeats(n int, what string, theirs int) {
	a.Helper()
	a.every(fmt.Sprintf("%d of %s", theirs, what), n, func(int) bool { return a.ask(what).Code == theirs })
}

// forward moves the clock by seconds.
func (a *flaskApp) forward(seconds int) { a.now = a.now.Add(time.Duration(seconds) * time.Second) }

// headers holds X-RateLimit-Limit and -Remaining, and when X-RateLimit-Reset is, in seconds from
// the beginning of a test, which is half a second after a whole one.
func (a *flaskApp) headers(w *httptest.ResponseRecorder, limit, remaining string, reset int64) {
	a.Helper()
	a.holds("X-RateLimit-Limit", w.Header().Get("X-RateLimit-Limit"), limit)
	a.holds("X-RateLimit-Remaining", w.Header().Get("X-RateLimit-Remaining"), remaining)
	a.holds("X-RateLimit-Reset", seconds(w), reset)
}
