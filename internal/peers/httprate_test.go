package peers

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/httpguard"
)

// httprate has the facts in httprate_test.go, client_ip_test.go, limiter_test.go,
// local_counter_test.go and limiter_internal_test.go of github.com/go-chi/httprate 0.16.1.
func httprate(f *facts) {
	f.group("addresses", httprateAddresses)
	f.group("buckets of addresses", httprateBuckets)
	f.group("keys", httprateKeys)
	f.group("statuses", httprateStatuses)
	f.group("costs", httprateCosts)
	f.group("headers", httprateHeaders)
	f.group("own headers", httprateOwnHeaders)
	f.group("own answers", httprateAnswers)
	f.group("own numbers", httprateNumbers)
	f.group("two counts", httprateCounts)
	f.group("windows that begin with a request", httprateWindows)
	f.lacks(2, "a store that says where its windows begin")
}

func httprateAddresses(f *facts) {
	for _, c := range append([][2]string{
		{"::ffff:192.0.2.1", "192.0.2.1"}, {"::ffff:c000:201", "192.0.2.1"}, {"0000:0000:0000:0000:0000:FFFF:C000:0201", "192.0.2.1"},
		{"::ffff:192.0.2.2", "192.0.2.2"}, {"::ffff:0.0.0.0", "0.0.0.0"}, {"::ffff:255.255.255.255", "255.255.255.255"},
		{"::192.0.2.1", "::"},
	}, canonicalAddresses...) {
		f.holds(c[0], addressKey(c[0]), c[1])
	}
	f.differs("NAT64", addressKey("64:ff9b::192.0.2.1"), "64:ff9b::", "192.0.2.1",
		"all clients behind NAT64 have one key in the peer; chatguard counts the IPv4 address within, and is right")
	for _, text := range []string{"::ffff:192.0.2.999", "not an IP", "not:an:IP"} {
		f.differs(text, addressKey(text), text, "", noAddress)
	}
	f.lacks(1, "the key of an empty address: the answer is 500")
}

func httprateBuckets(f *facts) {
	hourly := chatguard.SlidingWindowLimit("x", 1, time.Hour)
	named := &httpguard.AddressOptions{TrustedProxies: proxies("203.0.113.1/32"), Header: "Client-IP"}
	byHeader, byAddress := f.site(hourly, httpguard.ByAddress(named), nil), f.site(hourly, httpguard.ByAddress(nil), nil)
	for _, c := range []struct {
		addr   string
		status int
	}{
		{"192.0.2.1", 200}, {"::ffff:c000:201", 429}, {"::ffff:192.0.2.1", 429},
		{"::ffff:192.0.2.2", 200}, {"0000:0000:0000:0000:0000:FFFF:C000:0202", 429}, {"192.0.2.2", 429},
	} {
		r := request("203.0.113.1:1234")
		r.Header.Set("Client-IP", c.addr)
		byHeader.status(r, c.status)
		byAddress.status(request("["+c.addr+"]:1234"), c.status)
	}
	window := func(messages int) *site {
		return f.site(chatguard.SlidingWindowLimit("x", messages, 2*time.Second), httpguard.ByAddress(nil), nil)
	}
	s := window(3)
	s.statuses("1.1.1.1:100", 200)
	s.statuses("2.2.2.2:200", 200)
	s = window(1)
	s.statuses("1.1.1.1:100", 200, 429)
	s.statuses("2.2.2.2:200", 200)
	s = window(1)
	s.statuses("2001:DB8::21f:5bff:febf:ce22:1111", 200)
	s.statuses("2001:DB8::21f:5bff:febf:ce22:2222", 429)
	s.statuses("2002:DB8::21f:5bff:febf:ce22:1111", 200)
}

func httprateKeys(f *facts) {
	perMinute := func(n int) chatguard.Limit { return chatguard.SlidingWindowLimit("x", n, time.Minute) }
	type tenant struct{}
	byTenant := httpguard.ByValue(func(r *http.Request) string { name, _ := r.Context().Value(tenant{}).(string); return name })
	s := f.site(perMinute(2), byTenant, nil)
	for _, c := range []struct {
		tenant string
		status int
	}{{"acme", 200}, {"acme", 200}, {"acme", 429}, {"globex", 200}} {
		s.status(request("").WithContext(context.WithValue(context.Background(), tenant{}, c.tenant)), c.status)
	}

	s = f.site(perMinute(2), byTenant, nil)
	for i, theirs := range []int{200, 200, 429} {
		f.differs("status without a key", s.do(request(strconv.Itoa(i+1)+".1.1.1:1")).Code, theirs, 401,
			"requests without a key share one in the peer, against which its own test warns; chatguard answers with 401, and is right")
	}

	s = f.site(perMinute(1), httpguard.ByAddress(nil), &httpguard.LimitOptions{Channel: func(r *http.Request) string { return r.URL.Path }})
	for _, c := range []struct {
		path   string
		status int
	}{{"/a", 200}, {"/b", 200}, {"/a", 429}} {
		r := request("1.2.3.4:1111")
		r.URL.Path = c.path
		s.status(r, c.status)
	}
	both := httpguard.ByValue(func(r *http.Request) string {
		return httpguard.ClientAddress(r, nil).String() + " " + r.Header.Get("Tenant")
	})
	f.site(perMinute(2), both, nil).statuses("1.2.3.4:1111", 200, 200, 429)

	spoofed := request("203.0.113.5:4444")
	spoofed.Header.Set("True-Client-IP", "1.2.3.4")
	f.differs("address in a header of the client", httpguard.ClientAddress(spoofed, nil).String(), "1.2.3.4", "203.0.113.5",
		"a deprecated func of the peer believes a header that any client can write; chatguard reads it only from the proxies it is told of, and is right")
}

func httprateStatuses(f *facts) {
	f.site(chatguard.SlidingWindowLimit("x", 3, 4*time.Second), httpguard.Anonymous, nil).statuses("", 200, 200, 200)
	f.site(chatguard.SlidingWindowLimit("x", 3, 2*time.Second), httpguard.Anonymous, nil).statuses("", 200, 200, 200, 429)
}

func httprateCosts(f *facts) {
	for cost, statuses := range [][]int{
		{200, 200, 200, 200}, {200, 200, 200, 429}, {200, 429, 429, 429}, {200, 429, 429, 429}, {429, 429, 429, 429},
	} {
		s := costSite(f, 3, httpguard.LimitOptions{})
		for _, status := range statuses {
			s.status(costing(cost), status)
		}
	}
}

func httprateHeaders(f *facts) {
	for _, c := range []struct{ costs, statuses, remaining []int }{
		{[]int{1, 1, 1, 1, 1, 1}, []int{200, 200, 200, 200, 200, 429}, []int{4, 3, 2, 1, 0, 0}},
		{[]int{2, 2, 1, 2, 10, 1}, []int{200, 200, 200, 429, 429, 429}, []int{3, 1, 0, 0, 0, 0}},
		{[]int{0, 0, 0, 0, 0, 0}, []int{200, 200, 200, 200, 200, 200}, []int{5, 5, 5, 5, 5, 5}},
		{[]int{10, 10, 10, 10, 10, 10}, []int{429, 429, 429, 429, 429, 429}, []int{5, 5, 5, 5, 5, 5}},
	} {
		s := costSite(f, 5, httpguard.LimitOptions{})
		for i, cost := range c.costs {
			w := s.status(costing(cost), c.statuses[i])
			f.holds("limit", w.Header().Get("X-RateLimit-Limit"), "5")
			f.holds("remaining", w.Header().Get("X-RateLimit-Remaining"), strconv.Itoa(c.remaining[i]))
			if c.remaining[i] == 5 {
				f.differs("reset in the future", seconds(w) > 0, true, false,
					"the peer says when its window ends even if nothing is used; chatguard says that all is there now; either is right")
				continue
			}
			f.holds("reset in the future", seconds(w) > 0, true)
		}
	}
}

func httprateOwnHeaders(f *facts) {
	none := func(http.Header, chatguard.Verdict) {}
	own := func(h http.Header, v chatguard.Verdict) {
		h.Set("RateLimit-Limit", "1")
		h.Set("RateLimit-Remaining", strconv.Itoa(v.Remaining))
		h.Set("RateLimit-Reset", strconv.FormatInt(v.ResetAt.Unix(), 10))
		h.Set("RateLimit-Retry", strconv.Itoa(v.RetryAfterSeconds()))
	}
	for _, c := range []struct {
		headers func(http.Header, chatguard.Verdict)
		names   []string
	}{{none, nil}, {own, []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "RateLimit-Retry"}}} {
		h := costSite(f, 1, httpguard.LimitOptions{Headers: c.headers}).do(costing(2)).Header()
		for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Increment", "X-RateLimit-Reset", "Retry-After", ""} {
			f.holds(name, len(h.Values(name)), 0)
		}
		for _, name := range c.names {
			f.holds(name, h.Get(name) != "", true)
		}
	}
}

func httprateAnswers(f *facts) {
	s := f.site(chatguard.SlidingWindowLimit("x", 3, 4*time.Second), httpguard.Anonymous, &slowDown)
	for range 3 {
		s.answers(request(""), 200, "")
	}
	s = f.site(chatguard.SlidingWindowLimit("x", 3, 2*time.Second), httpguard.Anonymous, &slowDown)
	for range 3 {
		s.answers(request(""), 200, "")
	}
	s.answers(request(""), 429, "Wow Slow Down Kiddo")

	byName := httpguard.ByValue(func(r *http.Request) string { return r.FormValue("username") })
	s = f.site(chatguard.SlidingWindowLimit("x", 5, time.Minute), byName, nil)
	login := func() *http.Request {
		r := request("")
		r.URL.RawQuery = "username=alice"
		return r
	}
	for range 5 {
		s.answers(login(), 200, "")
	}
	for range 3 {
		w := s.status(login(), 429)
		f.differs("text", strings.TrimSuffix(w.Body.String(), "\n"), "Too Many Requests", "Too many requests. Try again in 72 s.",
			"chatguard's answer says how long to wait; either is right")
	}
}

// httprateNumbers gives requests another limit than the site's.
func httprateNumbers(f *facts) {
	limit := chatguard.SlidingWindowLimit("x", 3, time.Minute)
	limit.Roles = map[chatguard.Role]chatguard.Override{"one": {Messages: 1}, "five": {Messages: 5}}
	who := func(r *http.Request) (chatguard.User, error) {
		return chatguard.User{ID: "2", Roles: chatguard.Roles{chatguard.Role(r.Header.Get("Role"))}}, nil
	}
	policy := chatguard.Policy{Limits: []chatguard.Limit{limit}, Roles: []chatguard.Role{"five", "one"}}
	s := f.siteWith(policy, who, &slowDown)
	const slow = "Wow Slow Down Kiddo"
	for _, c := range []struct {
		role   string
		status int
		text   string
	}{
		{"", 200, ""}, {"one", 429, slow}, {"", 200, ""}, {"", 200, ""}, {"", 429, slow},
		{"five", 200, ""}, {"five", 200, ""}, {"five", 429, slow},
	} {
		r := request("")
		r.Header.Set("Role", c.role)
		s.answers(r, c.status, c.text)
	}
}

// httprateCounts has the counts of two windows in one number: at the beginning of a window, the
// previous one counts in full.
func httprateCounts(f *facts) {
	const most, m = 1000, time.Minute
	used := func(at time.Duration, previous, current int) step {
		return step{at: at, do: left, want: []fact{remaining(most - previous - current)}}
	}
	f.run(chatguard.SlidingWindowLimit("x", most, m),
		used(0, 0, 0), step{cost: 1}, used(0, 0, 1), step{cost: 99}, used(0, 0, 100),
		used(m, 100, 0), step{at: m, cost: 20}, used(m, 100, 20), step{at: m, cost: 20}, used(m, 100, 40),
		used(2*m, 40, 0), step{at: 2 * m, cost: 1}, used(2*m, 40, 1), step{at: 2 * m, cost: 9}, used(2*m, 40, 10),
		step{at: 2 * m, cost: 20}, used(2*m, 40, 30),
		used(4*m, 0, 0),
	)
}

// httprateWindows has windows that begin with the first request, wherever in a second that is.
func httprateWindows(f *facts) {
	const every = time.Second
	for _, offset := range []time.Duration{0, 347 * time.Millisecond, every - 1} {
		aligned := fact{name: "aligned to the offset", theirs: time.Duration(0), of: func(a answer) any { return a.ResetAt.Sub(start.Add(offset)) % every }}
		steps := []step{{at: offset, want: []fact{resetAfter(every)}}}
		for _, d := range []time.Duration{0, 1, 250 * time.Millisecond, every - 1} {
			steps = append(steps, step{at: offset + d, want: []fact{resetAfter(every - d), atMost(every), aligned}})
		}
		f.run(chatguard.UserWindowLimit("x", 10, every), append(steps, step{at: offset + every, want: []fact{resetAfter(every)}})...)
	}
}
