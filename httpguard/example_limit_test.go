package httpguard_test

import (
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// An HTTP API whose clients have keys. Each key may make 100 requests at once and one more per
// second; each address may try 20 keys at once.
func ExampleLimit() {
	guard := newGuard(chatguard.TokenBucketLimit("requests", 100, time.Second))
	keys := newGuard(chatguard.TokenBucketLimit("keys", 20, 3*time.Second))
	byKey := mustLimit(guard, httpguard.ByKey("Authorization", userOf), &httpguard.LimitOptions{
		Authenticate: `Bearer realm="api"`,
		Logger:       slog.New(slog.DiscardHandler), // for mistakes of the server, answered with 500
	})
	byAddress := mustLimit(keys, httpguard.ByAddress(nil), nil)
	api := byAddress(byKey(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "42") })))

	for _, key := range []string{"anna's key", "wrong key"} {
		r := httptest.NewRequest("GET", "/answer", nil)
		r.Header.Set("Authorization", "Bearer "+key)
		answer := serve(api, r)
		fmt.Println(answer.Status, answer.Header["Www-Authenticate"], answer.Header["Ratelimit"])
	}
	// Output:
	// 200 OK [] ["keys";r=19;t=3, "requests";r=99;t=1]
	// 401 Unauthorized [Bearer realm="api"] ["keys";r=18;t=3]
}

// A log-in form. An address may make 20 attempts at once, and an account 3, from wherever they
// come; only failures count for the account. The limits are hidden from the client.
func ExampleLimit_logIn() {
	addresses := newGuard(chatguard.TokenBucketLimit("addresses", 20, time.Minute))
	accounts := newGuard(chatguard.FixedWindowLimit("accounts", 3, 15*time.Minute))
	hidden := &httpguard.LimitOptions{Headers: func(http.Header, chatguard.Verdict) {}}
	byAddress := mustLimit(addresses, httpguard.ByAddress(nil), hidden)
	byAccount := mustLimit(accounts, httpguard.ByValue(func(r *http.Request) string {
		return strings.ToLower(strings.TrimSpace(r.PostFormValue("account")))
	}), &httpguard.LimitOptions{Headers: hidden.Headers, Counts: func(status int) bool { return status >= 400 }})
	logIn := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("password") != "secret" {
			http.Error(w, "wrong account or password", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "welcome")
	})
	form := http.MaxBytesHandler(byAddress(byAccount(logIn)), 10<<10)

	for _, password := range []string{"secret", "guess", "guess", "secret", "guess", "secret"} {
		r := httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"account": {"Anna"}, "password": {password}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		fmt.Println(password, serve(form, r).Status)
	}
	// Output:
	// secret 200 OK
	// guess 403 Forbidden
	// guess 403 Forbidden
	// secret 200 OK
	// guess 403 Forbidden
	// secret 429 Too Many Requests
}

// An endpoint that sends one-time passwords by SMS: three per number and hour, ten per address and
// day, and a thousand per day in all, because each of them costs money.
func ExampleLimit_oneTimePassword() {
	numbers := newGuard(chatguard.SlidingLogLimit("numbers", 3, time.Hour))
	addresses := newGuard(chatguard.DailyWindowLimit("addresses", 10))
	budget := newGuard(chatguard.DailyWindowLimit("budget", 1000))
	limits := []func(http.Handler) http.Handler{ // the last one judges first
		mustLimit(budget, httpguard.Anonymous, nil),
		mustLimit(numbers, httpguard.ByValue(func(r *http.Request) string { return r.PostFormValue("number") }), nil),
		mustLimit(addresses, httpguard.ByAddress(nil), nil),
	}
	send := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }))
	for _, limit := range limits {
		send = limit(send)
	}

	for range 4 {
		r := httptest.NewRequest("POST", "/otp", strings.NewReader("number=%2B49301234567"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := serve(send, r)
		fmt.Println(answer.Status, answer.Header["Ratelimit-Policy"])
	}
	// Output:
	// 202 Accepted ["addresses";q=10;w=86400, "numbers";q=3;w=3600, "budget";q=1000;w=86400]
	// 202 Accepted ["addresses";q=10;w=86400, "numbers";q=3;w=3600, "budget";q=1000;w=86400]
	// 202 Accepted ["addresses";q=10;w=86400, "numbers";q=3;w=3600, "budget";q=1000;w=86400]
	// 429 Too Many Requests ["addresses";q=10;w=86400, "numbers";q=3;w=3600]
}

// Each route of a ServeMux has its own allowance, and uploads cost more.
func ExampleLimitOptions() {
	guard := newGuard(chatguard.TokenBucketLimit("requests", 10, time.Second))
	limit := mustLimit(guard, httpguard.ByAddress(nil), &httpguard.LimitOptions{
		Channel: func(r *http.Request) string { return r.Pattern },
		Cost: func(r *http.Request) int {
			if r.Method == http.MethodPost {
				return 5
			}
			return 1
		},
		Skip: func(r *http.Request) bool { return r.Method == http.MethodOptions },
		Refused: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"error": %q}`, err)
		},
	})
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /rooms", "POST /pictures"} {
		mux.Handle(pattern, limit(http.NotFoundHandler()))
	}
	for _, request := range []string{"GET /rooms", "POST /pictures", "POST /pictures", "POST /pictures"} {
		method, path, _ := strings.Cut(request, " ")
		answer := serve(mux, httptest.NewRequest(method, path, nil))
		fmt.Println(request, answer.StatusCode, answer.Header.Get("X-RateLimit-Remaining"))
	}
	// Output:
	// GET /rooms 404 9
	// POST /pictures 404 5
	// POST /pictures 404 0
	// POST /pictures 429 0
}

// mustLimit is httpguard.Limit for arguments that are right.
func mustLimit(guard *chatguard.Guard, identify func(*http.Request) (chatguard.User, error), opts *httpguard.LimitOptions) func(http.Handler) http.Handler {
	limit, err := httpguard.Limit(guard, identify, opts)
	if err != nil {
		log.Fatal(err)
	}
	return limit
}

// newGuard returns a Guard with one limit, whose clock stands still.
func newGuard(limit chatguard.Limit) *chatguard.Guard {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	guard, err := chatguard.New(chatguard.Policy{Limits: []chatguard.Limit{limit}}, &chatguard.Options{Now: func() time.Time { return noon }})
	if err != nil {
		log.Fatal(err)
	}
	return guard
}

// serve returns the handler's answer to a request.
func serve(handler http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result()
}
