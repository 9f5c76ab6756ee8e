package peers

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// identify is how a site knows who sends a request.
type identify = func(*http.Request) (chatguard.User, error)

// site is a handler behind httpguard.Limit. Its time is start, and stands still until it is set.
type site struct {
	facts   *facts
	now     time.Time
	refused atomic.Int32 // how many requests a limit refused
	handler http.Handler
}

// site returns a site with a limit.
func (f *facts) site(limit chatguard.Limit, who identify, opts *httpguard.LimitOptions) *site {
	f.Helper()
	return f.siteWith(chatguard.Policy{Limits: []chatguard.Limit{limit}}, who, opts)
}

// siteWith returns a site with a policy.
func (f *facts) siteWith(policy chatguard.Policy, who identify, opts *httpguard.LimitOptions) *site {
	f.Helper()
	s := &site{facts: f, now: start}
	g, err := chatguard.New(policy, &chatguard.Options{
		Now: func() time.Time { return s.now },
		Observer: func(_ chatguard.Message, v chatguard.Verdict) {
			if v.Throttled() {
				s.refused.Add(1)
			}
		},
	})
	if err != nil {
		f.Fatal(err)
	}
	settings := *cmp.Or(opts, &httpguard.LimitOptions{})
	settings.XRateLimit = true
	wrap, err := httpguard.Limit(g, who, &settings)
	if err != nil {
		f.Fatal(err)
	}
	s.handler = wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	return s
}

// request returns a request from an address.
func request(addr string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = addr
	return r
}

// do serves a request.
func (s *site) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// status serves a request and holds its status.
func (s *site) status(r *http.Request, theirs int) *httptest.ResponseRecorder {
	s.facts.Helper()
	w := s.do(r)
	s.facts.holds("status", w.Code, theirs)
	return w
}

// statuses serves requests from one address and holds their statuses.
func (s *site) statuses(addr string, theirs ...int) {
	s.facts.Helper()
	for _, want := range theirs {
		s.status(request(addr), want)
	}
}

// seconds is the time in X-RateLimit-Reset, in seconds since the beginning of a test.
func seconds(w *httptest.ResponseRecorder) int64 {
	unix, err := strconv.ParseInt(w.Header().Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return -1
	}
	return unix - start.Unix()
}

// parameter returns a number in a structured header, such as t in RateLimit.
func parameter(w *httptest.ResponseRecorder, header, name string) string {
	if found := regexp.MustCompile(`;` + name + `=(\d+)`).FindStringSubmatch(w.Header().Get(header)); found != nil {
		return found[1]
	}
	return ""
}

// addressKey is the key under which a /64, or an IPv4 address, counts. It is empty for a text that
// isn't an address.
func addressKey(text string) string {
	network := connguard.Network(httpguard.ClientAddress(request(text), nil), 64)
	if !network.IsValid() {
		return ""
	}
	return network.Addr().String()
}

// proxies lists the networks of trusted proxies.
func proxies(texts ...string) (networks []netip.Prefix) {
	for _, text := range texts {
		networks = append(networks, netip.MustParsePrefix(text))
	}
	return networks
}

// canonicalAddresses are addresses with the key that both httprate and tollbooth expect.
var canonicalAddresses = [][2]string{
	{"1.2.3.4", "1.2.3.4"},
	{"2001:DB8::21f:5bff:febf:ce22:8a2e", "2001:db8:0:21f::"},
	{"2001:0db8:85a3:0000:0000:8a2e:0370:7334", "2001:db8:85a3::"},
	{"fe80::1ff:fe23:4567:890a", "fe80::"},
	{"f:f:f:f:f:f:f:f", "f:f:f:f::"},
}

const noAddress = "a text that isn't an address is a key in the peer; chatguard has no key for it and refuses the request; either is right"

// costSite returns a site that reads the cost of a request from a header.
func costSite(f *facts, messages int, opts httpguard.LimitOptions) *site {
	opts.Cost = func(r *http.Request) int {
		n, err := strconv.Atoi(r.Header.Get("Cost"))
		if err != nil {
			return -1
		}
		return n
	}
	return f.site(chatguard.SlidingWindowLimit("x", messages, time.Minute), httpguard.Anonymous, &opts)
}

// costing returns a request of some cost.
func costing(n int) *http.Request {
	r := request("")
	r.Header.Set("Cost", strconv.Itoa(n))
	return r
}

// slowDown has httprate's own answer to a request that is refused.
var slowDown = httpguard.LimitOptions{Refused: func(w http.ResponseWriter, _ *http.Request, _ error) {
	http.Error(w, "Wow Slow Down Kiddo", http.StatusTooManyRequests)
}}

// answers serves a request and holds its status and its text.
func (s *site) answers(r *http.Request, status int, text string) {
	s.facts.Helper()
	w := s.status(r, status)
	s.facts.holds("text", strings.TrimSuffix(w.Body.String(), "\n"), text)
}
