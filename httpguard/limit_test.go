package httpguard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/limitinfo"
)

// mustLimit is Limit for arguments that are right.
func mustLimit(t testing.TB, guard *chatguard.Guard, identify func(*http.Request) (chatguard.User, error), opts *LimitOptions) func(http.Handler) http.Handler {
	t.Helper()
	limit, err := Limit(guard, identify, opts)
	if err != nil {
		t.Fatal(err)
	}
	return limit
}

// limited is a handler behind Limit, whose Guard allows two requests and one more every 4 s.
type limited struct {
	guard   *chatguard.Guard
	now     time.Time
	handler http.Handler
	served  int
}

// newLimited returns a handler behind Limit that takes the user from a header.
func newLimited(t *testing.T, opts *LimitOptions) *limited {
	t.Helper()
	l := &limited{now: monday}
	l.guard = newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{chatguard.TokenBucketLimit("burst", 2, 4*time.Second)}
	}, &chatguard.Options{Now: func() time.Time { return l.now }})
	byKey := ByKey("X-User", func(name string) (chatguard.User, bool) { return chatguard.User{ID: name}, true })
	l.handler = mustLimit(t, l.guard, byKey, opts)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { l.served++ }))
	return l
}

func (l *limited) request(user string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/form", strings.NewReader("cost=2"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-User", user)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	return w
}

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder, status int, body string, headers map[string]string) {
	t.Helper()
	if w.Code != status || w.Body.String() != body {
		t.Errorf("%d %q, want %d %q", w.Code, w.Body, status, body)
	}
	for name, want := range headers {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestLimit_JudgesEachRequest(t *testing.T) {
	l := newLimited(t, nil)
	checkAnswer(t, l.request("anna", nil), 200, "", map[string]string{
		"RateLimit-Policy": `"burst";q=2;w=8`, "RateLimit": `"burst";r=1;t=4`, "Retry-After": "", "X-RateLimit-Limit": ""})
	checkAnswer(t, l.request("anna", nil), 200, "", map[string]string{"RateLimit": `"burst";r=0;t=4`})
	checkAnswer(t, l.request("anna", nil), 429, "Too many requests. Try again in 4 s.\n", map[string]string{
		"RateLimit-Policy": `"burst";q=2;w=8`, "RateLimit": `"burst";r=0;t=4`, "Retry-After": "4"})
	checkAnswer(t, l.request("ben", nil), 200, "", nil)
	l.now = l.now.Add(4 * time.Second)
	checkAnswer(t, l.request("anna", nil), 200, "", nil)
	if l.served != 4 {
		t.Errorf("the handler was called %d times", l.served)
	}
}

func TestLimit_Options(t *testing.T) {
	var verdict chatguard.Verdict
	l := newLimited(t, &LimitOptions{
		Channel: func(r *http.Request) string { return r.URL.Path },
		Cost:    func(*http.Request) int { return 2 },
		Skip:    func(r *http.Request) bool { return r.Method == http.MethodOptions },
		Headers: func(h http.Header, v chatguard.Verdict) { h.Set("X-Left", v.Limit) },
		Refused: func(w http.ResponseWriter, r *http.Request, err error) {
			verdict = err.(*chatguard.ThrottledError).Verdict
			w.WriteHeader(http.StatusTeapot)
		},
	})
	elsewhere := func(r *http.Request) { r.URL.Path = "/elsewhere" }
	preflight := func(r *http.Request) { r.Method = http.MethodOptions }
	checkAnswer(t, l.request("anna", nil), 200, "", map[string]string{"X-Left": "", "RateLimit": ""})
	checkAnswer(t, l.request("anna", nil), http.StatusTeapot, "", map[string]string{"X-Left": "burst", "Retry-After": "8"})
	checkAnswer(t, l.request("anna", elsewhere), 200, "", nil)
	checkAnswer(t, l.request("", preflight), 200, "", nil)
	if verdict.ChannelID != "/form" || verdict.UserID != "anna" || verdict.Allowed {
		t.Errorf("the verdict is %+v", verdict)
	}
}

func TestLimit_Refusals(t *testing.T) {
	const mistake = "The server could not process the request. This is a server error; see the server's log.\n"
	broken := errors.New("no route to 10.0.0.5")
	identifyAs := func(user string, err error) func(*http.Request) (chatguard.User, error) {
		return func(*http.Request) (chatguard.User, error) { return chatguard.User{ID: user}, err }
	}
	costs := func(n int) func(*http.Request) int { return func(*http.Request) int { return n } }
	for _, test := range []struct {
		name     string
		identify func(*http.Request) (chatguard.User, error)
		opts     LimitOptions
		status   int
		body     string
		log      string
	}{
		{"nobody", identifyAs("", ErrNobody), LimitOptions{Authenticate: `Bearer realm="api"`}, 401, "You are not signed in. Sign in, then try again.\n", ""},
		{"an error", identifyAs("", broken), LimitOptions{}, 500, mistake, "10.0.0.5"},
		{"no user ID", identifyAs("", nil), LimitOptions{}, 500, mistake, "the user ID is empty"},
		{"a reserved ID", identifyAs(connguard.AnonymousID, nil), LimitOptions{}, 500, mistake, "reserved"},
		{"a visitor without an ID", func(*http.Request) (chatguard.User, error) { return chatguard.User{Visitor: true}, nil }, LimitOptions{}, 500, mistake, "reserved"},
		{"a visitor with another ID", func(*http.Request) (chatguard.User, error) { return chatguard.User{ID: "anna", Visitor: true}, nil }, LimitOptions{}, 500, mistake, "reserved"},
		{"no channel", Anonymous, LimitOptions{Channel: func(*http.Request) string { return "" }}, 500, mistake, "the channel ID is empty"},
		{"a negative cost", Anonymous, LimitOptions{Cost: costs(-1)}, 500, mistake, "the cost is negative"},
		{"a negative cost, nearly nothing", Anonymous, LimitOptions{Cost: costs(math.MinInt)}, 500, mistake, "the cost is negative"},
		{"never", Anonymous, LimitOptions{Cost: costs(9)}, 429, "The request costs more than the limit ever allows.\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var logged bytes.Buffer
			test.opts.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			w := httptest.NewRecorder()
			mustLimit(t, newEnforcingGuard(t, nil, nil), test.identify, &test.opts)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				t.Error("served")
			})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
			checkAnswer(t, w, test.status, test.body, map[string]string{"WWW-Authenticate": test.opts.Authenticate, "Retry-After": ""})
			if (test.log != "") != (logged.Len() > 0) || !strings.Contains(logged.String(), test.log) {
				t.Errorf("log %q, want %q", &logged, test.log)
			}
		})
	}
}

// Two limits judge one request: by address, and by the account of a form.
func TestLimit_Nested(t *testing.T) {
	l := newLimited(t, nil)
	channel := func(name string) *LimitOptions {
		return &LimitOptions{Channel: func(*http.Request) string { return name }, KeepVerdict: true}
	}
	var form string
	var verdict chatguard.Verdict
	byAccount := mustLimit(t, l.guard, ByValue(func(r *http.Request) string { return r.PostFormValue("cost") }), channel("account"))
	l.handler = mustLimit(t, l.guard, ByAddress(nil), channel("address"))(byAccount(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		form = r.PostFormValue("cost")
		verdict, _ = VerdictFrom(r.Context())
	})))
	from := func(addr string) func(*http.Request) {
		return func(r *http.Request) { r.RemoteAddr = addr + ":1234" }
	}
	checkAnswer(t, l.request("", from("192.0.2.1")), 200, "", nil)
	if form != "2" || verdict.ChannelID != "account" || verdict.UserID != "value:2" {
		t.Errorf("the form's field is %q, the verdict %+v", form, verdict)
	}
	checkAnswer(t, l.request("", from("192.0.2.2")), 200, "", nil)
	checkAnswer(t, l.request("", from("192.0.2.3")), 429, "Too many requests. Try again in 4 s.\n", nil)
	for _, want := range []int{200, 429} { // the inner limit's refusals count for the outer one
		if got := l.request("", func(r *http.Request) {
			from("192.0.2.3")(r)
			r.Body = io.NopCloser(strings.NewReader("cost=3"))
		}).Code; got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

// Nested limits list all policies. With XRateLimit, X-RateLimit-* describe the limit of which least
// remains, or the one that refuses.
func TestLimit_NestedHeaders(t *testing.T) {
	l := newLimited(t, &LimitOptions{XRateLimit: true})
	wide := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{chatguard.TokenBucketLimit("all", 3, 20*time.Second)}
	}, &chatguard.Options{Now: func() time.Time { return l.now }})
	inner := l.handler
	byAddress := mustLimit(t, wide, ByAddress(nil), &LimitOptions{XRateLimit: true})
	l.handler = byAddress(inner)
	for _, test := range []struct {
		user, policy, left, x string
	}{
		{"anna", `"all";q=3;w=60, "burst";q=2;w=8`, `"all";r=2;t=20, "burst";r=1;t=4`, "burst 1"},
		{"ben", `"all";q=3;w=60, "burst";q=2;w=8`, `"all";r=1;t=20, "burst";r=1;t=4`, "all 1"},
		{"anna", `"all";q=3;w=60, "burst";q=2;w=8`, `"all";r=0;t=20, "burst";r=0;t=4`, "all 0"},
		{"ben", `"all";q=3;w=60`, `"all";r=0;t=20`, "all 0"},
	} {
		h := l.request(test.user, nil).Header()
		x := h.Get("X-RateLimit-Resource") + " " + h.Get("X-RateLimit-Remaining")
		if h.Get("RateLimit-Policy") != test.policy || h.Get("RateLimit") != test.left || x != test.x || len(h["Ratelimit"]) != 1 {
			t.Errorf("%s: %v", test.user, h)
		}
	}
	wide.Rewind(l.now)
	if err := wide.Reset(t.Context(), chatguard.Key{ChannelID: MainChannel, UserID: "address:192.0.2.1"}); err != nil {
		t.Fatal(err)
	}
	l.request("anna", nil)
	checkAnswer(t, l.request("anna", nil), 429, "Too many requests. Try again in 4 s.\n", map[string]string{
		"RateLimit": `"all";r=1;t=20, "burst";r=0;t=4`, "X-RateLimit-Resource": "burst", "Retry-After": "4"})
}

// X-RateLimit-* describe the limit that refuses, even if more of it remains.
func TestLimit_NestedRefusal(t *testing.T) {
	l := newLimited(t, &LimitOptions{XRateLimit: true})
	wide := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{chatguard.TokenBucketLimit("wide", 4, time.Second)}
	}, nil)
	five := func(*http.Request) int { return 5 }
	inside := mustLimit(t, wide, Anonymous, &LimitOptions{XRateLimit: true, Cost: five})
	l.handler = mustLimit(t, l.guard, Anonymous, &LimitOptions{XRateLimit: true})(inside(http.NotFoundHandler()))
	checkAnswer(t, l.request("", nil), 429, "The request costs more than the limit ever allows.\n", map[string]string{
		"X-RateLimit-Resource": "wide", "X-RateLimit-Remaining": "4", "RateLimit": `"burst";r=1;t=4, "wide";r=4;t=0`, "Retry-After": ""})
}

// A verdict never reaches another request, although its memory is used again.
func TestLimit_KeepsRequestsApart(t *testing.T) {
	l := newLimited(t, nil)
	identify := func(r *http.Request) (chatguard.User, error) { return chatguard.User{ID: r.Header.Get("X-User")}, nil }
	channel := func(r *http.Request) string { return r.Header.Get("X-User") + "'s" }
	var passed, refused atomic.Int32
	check := func(r *http.Request, v chatguard.Verdict, allowed bool, count *atomic.Int32) {
		count.Add(1)
		user := r.Header.Get("X-User")
		if v.UserID != user || v.ChannelID != user+"'s" || v.Allowed != allowed || (v.Limit == "") != allowed {
			t.Errorf("the verdict of %s: %+v", user, v)
		}
	}
	handler := mustLimit(t, l.guard, identify, &LimitOptions{KeepVerdict: true, Channel: channel, Refused: func(w http.ResponseWriter, r *http.Request, err error) {
		check(r, err.(*chatguard.ThrottledError).Verdict, false, &refused)
		w.WriteHeader(http.StatusTooManyRequests)
	}})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		v, _ := VerdictFrom(r.Context())
		check(r, v, true, &passed)
		if v.Remaining == 0 {
			panic(http.ErrAbortHandler)
		}
	}))
	var served sync.WaitGroup
	for worker := range 16 {
		served.Go(func() {
			for i := range 300 {
				r := httptest.NewRequest("GET", "/", nil)
				r.Header.Set("X-User", fmt.Sprint(worker, "-", i/4))
				func() {
					defer func() { _ = recover() }()
					handler.ServeHTTP(httptest.NewRecorder(), r)
				}()
			}
		})
	}
	served.Wait()
	if passed.Load() != 16*150 || refused.Load() != 16*150 {
		t.Errorf("%d passed, %d were refused", passed.Load(), refused.Load())
	}
}

// The verdict is kept whatever it says, and whatever counts.
func TestLimit_KeepsAnyVerdict(t *testing.T) {
	for name, opts := range map[string]LimitOptions{
		"counted":  {Counts: func(int) bool { return true }},
		"costless": {Cost: func(*http.Request) int { return 0 }},
	} {
		opts.KeepVerdict = true
		l, kept := newLimited(t, nil), false
		handler := mustLimit(t, l.guard, Anonymous, &opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, kept = VerdictFrom(r.Context())
		}))
		if handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)); !kept {
			t.Errorf("%s: not kept", name)
		}
	}
}

// A handler reads the verdict only if it is kept.
func TestLimit_KeepVerdict(t *testing.T) {
	l := newLimited(t, nil)
	var inner, outer bool
	for _, test := range []struct{ outer, inner bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
		limit := func(channel string, keep bool) func(http.Handler) http.Handler {
			return mustLimit(t, l.guard, Anonymous, &LimitOptions{KeepVerdict: keep, Channel: func(*http.Request) string { return fmt.Sprint(channel, test) }})
		}
		limit("outer", test.outer)(limit("inner", test.inner)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			v, ok := VerdictFrom(r.Context())
			inner, outer = ok && strings.HasPrefix(v.ChannelID, "inner"), ok && strings.HasPrefix(v.ChannelID, "outer")
		}))).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		if inner != test.inner || outer != (test.outer && !test.inner) {
			t.Errorf("%+v: inner %v, outer %v", test, inner, outer)
		}
	}
}

// A request that costs nothing passes, is told what is left, and spends nothing.
func TestLimit_CostsNothing(t *testing.T) {
	cost, l := 0, (*limited)(nil)
	var verdict chatguard.Verdict
	l = newLimited(t, &LimitOptions{Cost: func(*http.Request) int { return cost }, Headers: func(h http.Header, v chatguard.Verdict) {
		verdict = v
		SetHeaders(h, l.guard, v)
	}, Logger: slog.New(slog.DiscardHandler)})
	for _, test := range []struct {
		cost, status int
		left         string
	}{
		{0, 200, `"burst";r=2;t=0`}, {0, 200, `"burst";r=2;t=0`}, {1, 200, `"burst";r=1;t=4`}, {0, 200, `"burst";r=1;t=4`}, {1, 200, `"burst";r=0;t=4`},
		{0, 200, `"burst";r=0;t=4`}, {0, 200, `"burst";r=0;t=4`}, {1, 429, `"burst";r=0;t=4`}, {0, 200, `"burst";r=0;t=4`}, {-1, 500, ""},
	} {
		cost = test.cost
		w := l.request("anna", nil)
		if w.Code != test.status || w.Header().Get("RateLimit") != test.left || (w.Header().Get("Retry-After") != "") != (test.status == 429) {
			t.Errorf("cost %d: %d %v, want %d, %s", cost, w.Code, w.Header(), test.status, test.left)
		}
		if cost == 0 && (!verdict.Allowed || verdict.Throttled() || verdict.Spent != 0 || verdict.RetryAfter != 0 || verdict.Penalty != chatguard.Penalty{}) {
			t.Errorf("verdict %+v", verdict)
		}
	}
}

func TestLimit_KeepsCostOfFailures(t *testing.T) {
	l := newLimited(t, nil)
	l.handler = mustLimit(t, l.guard, ByAddress(nil), nil)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "broken", http.StatusInternalServerError)
	}))
	for _, want := range []int{500, 500, 429} {
		if got := l.request("", nil).Code; got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

func TestLimit_HoldsDelayed(t *testing.T) {
	l := newLimited(t, nil)
	p := l.guard.Policy()
	p.Limits = []chatguard.Limit{chatguard.LeakyBucketLimit("pace", time.Hour, 5)}
	if err := inner.At(l.guard, monday).SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, l.request("anna", nil), 200, "", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	canceled := func(r *http.Request) { *r = *r.WithContext(ctx) }
	checkAnswer(t, l.request("anna", canceled), 503, "The server stopped waiting for the request. Try again.\n", nil)
	if l.served != 1 {
		t.Errorf("served %d times", l.served)
	}
	waiting := chatguard.Message{ChannelID: MainChannel, User: chatguard.User{ID: "anna"}}
	if e, err := limitinfo.Explain(t.Context(), l.guard, waiting); err != nil || e.Limits[0].Used != 1 {
		t.Errorf("%+v, %v; want what the second request has spent back", e.Limits, err)
	}
	p.Limits = []chatguard.Limit{chatguard.LeakyBucketLimit("pace", time.Millisecond, 5)}
	if err := inner.At(l.guard, monday.Add(12*time.Hour)).SetPolicy(p); err != nil {
		t.Fatal(err)
	}
	l.now = l.now.Add(12 * time.Hour)
	for range 2 {
		checkAnswer(t, l.request("ben", nil), 200, "", nil)
	}
}

func TestLimit_MissingArguments(t *testing.T) {
	guard := newEnforcingGuard(t, nil, nil)
	door := mustDoor(t, guard, connguard.Options{})
	for _, test := range []struct {
		limit, sessions error
		want            string
	}{
		{second(Limit(nil, Anonymous, nil)), second(Sessions(nil, Anonymous, nil)), "is nil: pass the one that"},
		{second(Limit(guard, nil, nil)), second(Sessions(door, nil, nil)), "identify is nil"},
	} {
		for _, err := range []error{test.limit, test.sessions} {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		}
	}
	if v, ok := VerdictFrom(t.Context()); ok || v != (chatguard.Verdict{}) {
		t.Errorf("a verdict of no Limit: %+v", v)
	}
}

func second(_ func(http.Handler) http.Handler, err error) error { return err }
