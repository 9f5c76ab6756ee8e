package peers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// tollbooth has the facts in tollbooth_test.go, tollbooth_bug_report_test.go,
// limiter/limiter_test.go and libstring/libstring_test.go of github.com/didip/tollbooth/v8 8.0.1.
// The tests of its settings only read what they wrote, and internal/time/rate is an older copy of
// golang.org/x/time/rate.
func tollbooth(f *facts) {
	f.group("1 per second", tollboothLimits)
	f.group("addresses", tollboothAddresses)
	f.group("addresses as keys", tollboothKeys)
	f.group("answers", tollboothAnswers)
	f.group("middleware", tollboothMiddleware)
	f.group("bug reports", tollboothBugs)
	f.lacks(5, "settings that are read again, a default message and a search in a list")
}

func tollboothLimits(f *facts) {
	const s = time.Second
	for range 3 { // by parts of a key, by a key, and with an expiry of keys
		f.run(chatguard.TokenBucketLimit("x", 1, s), step{want: []fact{yes}}, step{want: []fact{no}}, step{at: s, want: []fact{yes}})
	}
	f.run(chatguard.TokenBucketLimit("x", 1, 10*s), step{want: []fact{yes}}, step{want: []fact{no}},
		step{at: 7 * s, want: []fact{no}}, step{at: 10 * s, want: []fact{yes}})
	for range 2 { // with and without an expiry of keys
		g := f.guard(chatguard.TokenBucketLimit("x", 1, s/1000))
		f.every("1000 messages in time pass", 1000, func(i int) bool {
			a, err := check(g, step{at: time.Duration(i+1) * s / 1000}.message())
			return err == nil && a.Allowed
		})
		f.steps(g, step{at: s, want: []fact{no}})
	}
	for range 2 {
		f.holds("status by default", f.used(httpguard.Anonymous, nil).do(request("")).Code, 429)
	}
}

// used returns a site that allows one request per second, and has served it.
func (f *facts) used(who identify, opts *httpguard.LimitOptions) *site {
	f.Helper()
	s := f.site(chatguard.TokenBucketLimit("x", 1, time.Second), who, opts)
	s.do(request("127.0.0.1:12345"))
	return s
}

// realIP reads the client's address from X-Real-IP, as most of the peer's tests do.
var realIP = &httpguard.AddressOptions{TrustedProxies: proxies("192.0.2.1/32"), Header: "X-Real-IP"}

// from returns a request of a client behind the proxy of realIP.
func from(client string) *http.Request {
	r := request("192.0.2.1:1234")
	r.Header.Set("X-Real-IP", client)
	return r
}

const tollboothClient = "2601:7:1c82:4097:59a0:a80b:2841:b8c8"

func tollboothAddresses(f *facts) {
	forwarded := func(trusted ...string) *httpguard.AddressOptions {
		return &httpguard.AddressOptions{TrustedProxies: proxies(append(trusted, "192.0.2.1/32")...)}
	}
	both := from(tollboothClient)
	both.Header.Set("X-Forwarded-For", "10.10.10.10")
	for _, c := range []struct {
		opts        *httpguard.AddressOptions
		want, other string
	}{{forwarded(), "10.10.10.10", tollboothClient}, {realIP, tollboothClient, "10.10.10.10"}} {
		got := httpguard.ClientAddress(both, c.opts).String()
		f.holds("address in the chosen header", got, c.want)
		f.holds("the other header is skipped", got != c.other, true)
	}
	list := request("192.0.2.1:1234")
	list.Header.Set("X-Forwarded-For", "10.10.10.10,10.10.10.11")
	f.holds("last address", httpguard.ClientAddress(list, forwarded()).String(), "10.10.10.11")
	f.holds("address before one proxy", httpguard.ClientAddress(list, forwarded("10.10.10.11/32")).String(), "10.10.10.10")
	f.holds("address before more proxies than there are", httpguard.ClientAddress(list, forwarded("10.10.10.0/24")).String(), "10.10.10.10")
	lists := request("192.0.2.1:1234")
	lists.Header.Add("X-Forwarded-For", "8.8.8.8,8.8.4.4")
	lists.Header.Add("X-Forwarded-For", "10.10.10.10,10.10.10.11")
	f.holds("last address of the last header", httpguard.ClientAddress(lists, forwarded()).String(), "10.10.10.11")
}

func tollboothKeys(f *facts) {
	for _, c := range canonicalAddresses {
		f.holds(c[0], addressKey(c[0]), c[1])
	}
	for _, text := range []string{"not an IP", "not:an:IP"} {
		f.differs(text, addressKey(text), text, "", noAddress)
	}
	f.lacks(1, "the key of an empty address: the answer is 500")
	for _, client := range []string{
		tollboothClient, "172.217.0.46", tollboothClient, "172.217.0.46", tollboothClient, "172.217.0.46", tollboothClient, "172.217.0.46",
		tollboothClient, "172.217.0.46",
	} {
		want := client
		if client == tollboothClient {
			want = "2601:7:1c82:4097::"
		}
		f.holds("part of a key", connguard.Network(httpguard.ClientAddress(from(client), realIP), 64).Addr().String(), want)
	}
	f.lacks(30, "the other parts of a key (path, method, header, account): in chatguard, funcs return user and channel")
}

func tollboothAnswers(f *facts) {
	const other = "2601:7:1c82:4097:59a0:a80b:2841:b8c9" // in the same /64
	for _, second := range []string{other, tollboothClient} {
		s := f.site(chatguard.TokenBucketLimit("x", 1, time.Second), httpguard.ByAddress(realIP), nil)
		s.tollboothHeaders(s.status(from(tollboothClient), 200))
		w := s.status(from(second), 429)
		s.tollboothHeaders(w)
		f.holds("quota", parameter(w, "RateLimit-Policy", "q"), "1")
		f.holds("seconds of the quota", parameter(w, "RateLimit-Policy", "w"), "1")
		f.holds("observed refusals", s.refused.Load(), int32(1))
	}
	reached := 0
	own := &httpguard.LimitOptions{Refused: func(w http.ResponseWriter, _ *http.Request, _ error) {
		reached++
		w.WriteHeader(http.StatusNotAcceptable)
	}}
	s := f.site(chatguard.TokenBucketLimit("x", 1, time.Second), httpguard.ByAddress(realIP), own)
	s.status(from("172.217.0.46"), 200)
	s.status(from("172.217.0.46"), 406)
	f.holds("calls of the func for refused requests", reached, 1)
}

// tollboothHeaders holds the limit, what is left and when more is. The peer has older headers with
// the same numbers.
func (s *site) tollboothHeaders(w *httptest.ResponseRecorder) {
	s.facts.Helper()
	s.facts.holds("limit", w.Header().Get("X-RateLimit-Limit"), "1")
	s.facts.holds("remaining", w.Header().Get("X-RateLimit-Remaining"), "0")
	s.facts.holds("seconds until more is left", parameter(w, "RateLimit", "t"), "1")
}

func tollboothMiddleware(f *facts) {
	slow := chatguard.TokenBucketLimit("x", 1, 10*time.Second)
	f.site(chatguard.TokenBucketLimit("x", 1, time.Second), httpguard.ByAddress(nil), nil).statuses("127.0.0.1:12345", 200)
	f.site(slow, httpguard.ByAddress(nil), nil).statuses("127.0.0.1:12345", 200, 429)
	f.lacks(2, "the peer's own default texts")

	ended, cancel := context.WithCancel(context.Background())
	cancel()
	s := f.site(slow, httpguard.ByAddress(nil), nil)
	f.differs("status if the client has gone", s.do(request("127.0.0.1:12345").WithContext(ended)).Code, 503, 200,
		"the peer answers 503 if the request's context has ended; chatguard decides in memory and leaves it to the handler; either is right")

	s = f.site(slow, httpguard.ByAddress(nil), &slowDown)
	s.statuses("127.0.0.1:12345", 200)
	s.answers(request("127.0.0.1:12345"), 429, "Wow Slow Down Kiddo")

	s = f.site(slow, httpguard.ByAddress(realIP), nil)
	s.status(from("5.5.5.5"), 200)
	s.status(from("5.5.5.5"), 429)
	s.status(from("6.6.6.6"), 200)
}

func tollboothBugs(f *facts) {
	s := f.site(chatguard.TokenBucketLimit("x", 2, time.Second/2), httpguard.ByAddress(nil), nil)
	for range 2 { // each half second
		s.now = s.now.Add(time.Second / 2)
		s.statuses("127.0.0.1", 200)
	}
	f.holds("observed refusals", s.refused.Load(), int32(0))

	customer := func(r *http.Request) string { return r.Header.Get("X-Customer-ID") }
	s = f.site(chatguard.TokenBucketLimit("x", 1, time.Second), httpguard.ByValue(customer),
		&httpguard.LimitOptions{Skip: func(r *http.Request) bool { return customer(r) != "1234" && customer(r) != "5678" }})
	for _, c := range []struct {
		id     string
		status int
	}{{"1234", 200}, {"1234", 429}, {"777", 200}, {"777", 200}} {
		r := request("")
		r.Header.Set("X-Customer-ID", c.id)
		s.status(r, c.status)
	}

	posts := &httpguard.LimitOptions{Skip: func(r *http.Request) bool { return r.Method != http.MethodPost }}
	s = f.site(chatguard.TokenBucketLimit("x", 1, time.Second), httpguard.ByAddress(nil), posts)
	f.every("another method passes", 10, func(int) bool { return s.do(request("127.0.0.1")).Code == http.StatusOK })
	post := request("127.0.0.1")
	post.Method = http.MethodPost
	s.do(post)
	s.do(post)
	f.holds("observed refusals of 2 posts", s.refused.Load(), int32(1))
}
