package httpguard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
		XRateLimit: true,
		Skip:       func(r *http.Request) bool { return r.Method == http.MethodOptions },
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

// An API behind a proxy, which names the client in X-Real-IP. The monitoring's network is never
// limited, and one address may have two requests in flight.
func ExampleAddressOptions() {
	guard := newGuard(chatguard.TokenBucketLimit("requests", 10, time.Second))
	addresses := &httpguard.AddressOptions{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: "X-Real-IP", IPv6Bits: 56,
	}
	limit := mustLimit(guard, httpguard.ByAddress(addresses), &httpguard.LimitOptions{
		Skip:            httpguard.FromNetworks([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, addresses),
		MaxInFlight:     2,
		KeepVerdict:     true,
		PartitionSecret: "a secret of all processes",
		Refused: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, httpguard.ErrInFlight) {
				http.Error(w, "wait for your other requests", http.StatusTooManyRequests)
				return
			}
			http.Error(w, "later", http.StatusTooManyRequests)
		},
	})
	api := limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verdict, judged := httpguard.VerdictFrom(r.Context())
		fmt.Fprintf(w, "%q %t", verdict.UserID, judged)
	}))
	for _, address := range []string{"2001:db8:0:1::7", "2001:db8:0:2::7", "192.0.2.7"} {
		r := httptest.NewRequest("GET", "/answer", nil)
		r.RemoteAddr = "10.1.1.1:4711"
		r.Header.Set("X-Real-IP", address)
		answer := serve(api, r)
		body, _ := io.ReadAll(answer.Body)
		fmt.Printf("%s %q\n", body, answer.Header["Ratelimit"])
	}
	// Output:
	// "address:2001:db8::/56" true ["\"requests\";r=9;t=1;pk=:KMIFibcv7TI=:"]
	// "address:2001:db8::/56" true ["\"requests\";r=8;t=1;pk=:KMIFibcv7TI=:"]
	// "" false []
}

// A handler that judges by two Guards describes both limits.
func ExampleAddHeaders() {
	header := http.Header{}
	for _, name := range []string{"searches", "requests"} {
		guard := newGuard(chatguard.TokenBucketLimit(name, 3, time.Minute))
		verdict, err := guard.Check(context.Background(), chatguard.Message{ChannelID: "main", User: chatguard.User{ID: "anna"}})
		if err != nil {
			log.Fatal(err)
		}
		httpguard.AddHeaders(header, guard, verdict)
		httpguard.AddXRateLimit(header, guard, verdict)
	}
	fmt.Println(header.Get("RateLimit"))
	fmt.Println(header.Get("X-RateLimit-Resource"), header.Get("X-RateLimit-Remaining"))
	// Output:
	// "searches";r=2;t=60, "requests";r=2;t=60
	// searches 2
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
