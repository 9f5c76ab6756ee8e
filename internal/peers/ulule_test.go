package peers

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/connguard"
	"github.com/chatguard/chatguard/httpguard"
)

// ulule has the facts in rate_test.go, network_test.go, drivers/store/tests/tests.go,
// drivers/store/memory/cache_test.go, and the tests of drivers/middleware/stdlib and gin of
// github.com/ulule/limiter/v3 3.11.2. Those of fasthttp have the same facts as those of gin.
func ulule(f *facts) {
	f.group("3 per minute", ululeStore)
	f.group("counters", ululeCounters)
	f.group("addresses", ululeAddresses)
	f.group("over HTTP", ululeHTTP)
	f.lacks(9, "a rate as a text such as 10-S: chatguard's text is that of a limit in JSON or TOML")
}

func ululeStore(f *facts) {
	const reason = "a peek when all is used says whether a message would pass; the peer's says whether one was refused; either is right"
	g := f.guard(chatguard.UserWindowLimit("x", 3, time.Minute))
	for i := 1; i <= 3; i++ {
		after := yes
		if i == 3 {
			after = yes.but(false, reason)
		}
		f.steps(g,
			step{do: look, want: []fact{remaining(3 - i + 1), yes}},
			step{want: []fact{quota(3), remaining(3 - i), atMost(time.Minute), yes}},
			step{do: look, want: []fact{remaining(3 - i), after}},
		)
	}
	for range 3 {
		f.steps(g, step{want: []fact{quota(3), remaining(0), atMost(time.Minute), no}})
	}
	fresh := []fact{quota(3), remaining(3), atMost(time.Minute), yes}
	f.steps(g,
		step{do: look, want: []fact{quota(3), remaining(0), atMost(time.Minute), no}},
		step{do: reset, want: fresh}, step{do: look, want: fresh},
		step{}, step{do: reset, want: fresh}, step{do: reset, want: fresh},
	)
}

func ululeCounters(f *facts) {
	const d = 50 * time.Millisecond
	limit := chatguard.UserWindowLimit("x", 100, d)
	f.run(limit,
		step{want: []fact{remaining(99), resetAfter(d)}}, step{cost: 2, want: []fact{remaining(97), resetAfter(d)}},
		step{at: d, want: []fact{remaining(99), resetAfter(d)}},
	)
	f.run(limit,
		step{do: left, want: []fact{remaining(100)}},
		step{do: left, want: []fact{remaining(100)}}, step{want: []fact{remaining(99), resetAfter(d)}}, step{want: []fact{remaining(98), resetAfter(d)}},
		step{do: reset, want: []fact{remaining(100)}}, step{want: []fact{remaining(99), resetAfter(d)}}, step{want: []fact{remaining(98), resetAfter(d)}},
	)
	f.lacks(3, "when a window ends that hasn't begun: it begins with the user's first message")

	const most = 20_000_000
	g := f.guard(chatguard.UserWindowLimit("x", most, time.Second))
	sum := 0
	var all sync.WaitGroup
	for i := 0; i < 200; i += 3 {
		for j := range 500 {
			sum += i + j
		}
		all.Go(func() {
			for j := range 500 {
				if i+j > 0 {
					_, _ = check(g, step{cost: i + j}.message()) // what is left shows an error
				}
			}
		})
	}
	all.Wait()
	f.steps(g, step{do: left, want: []fact{remaining(most - sum), resetAfter(time.Second)}})
}

func ululeAddresses(f *facts) {
	direct, proxied := (*httpguard.AddressOptions)(nil), &httpguard.AddressOptions{TrustedProxies: proxies("8.8.8.8/32")}
	named := &httpguard.AddressOptions{TrustedProxies: proxied.TrustedProxies, Header: "X-Real-IP"}
	plain, forwarded, single := request("8.8.8.8:8888"), request("8.8.8.8:8888"), request("8.8.8.8:8888")
	forwarded.Header.Set("X-Forwarded-For", "9.9.9.9, 7.7.7.7, 6.6.6.6")
	single.Header.Set("X-Real-IP", "6.6.6.6")
	for _, what := range []string{"address", "key"} {
		for _, r := range []*http.Request{plain, forwarded, single} {
			f.holds(what+" without a proxy", httpguard.ClientAddress(r, direct).String(), "8.8.8.8")
		}
		f.holds(what+" of a proxy", httpguard.ClientAddress(plain, proxied).String(), "8.8.8.8")
		f.differs(what+" in X-Forwarded-For", httpguard.ClientAddress(forwarded, proxied).String(), "9.9.9.9", "6.6.6.6",
			"the peer believes the first address of X-Forwarded-For, which any client can write; chatguard reads from the end, and is right")
		f.holds(what+" in X-Real-IP", httpguard.ClientAddress(single, named).String(), "6.6.6.6")
		v6 := httpguard.ClientAddress(request("[2001:db8:cafe:1234:beef::fafa]:8888"), direct)
		f.holds(what+" of a /48", connguard.Network(v6, 48).Addr().String(), "2001:db8:cafe::")
	}
	f.lacks(2, "IPv4 addresses that count together by a /24")
}

func ululeHTTP(f *facts) {
	perMinute := chatguard.UserWindowLimit("x", 10, time.Minute)
	for range 2 { // stdlib and gin
		s := f.site(perMinute, httpguard.Anonymous, nil)
		f.every("the first 10 pass", 10, func(int) bool { return s.do(request("")).Code == http.StatusOK })
		f.every("90 more are refused", 90, func(int) bool { return s.do(request("")).Code == http.StatusTooManyRequests })
		s = f.site(perMinute, httpguard.Anonymous, nil)
		var passed atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if s.do(request("")).Code == http.StatusOK {
					passed.Add(1)
				}
			})
		}
		all.Wait()
		f.holds("requests of 100 at once that pass", passed.Load(), int32(10))
	}
	n := 0
	other := f.site(perMinute, httpguard.ByValue(func(*http.Request) string { n++; return strconv.Itoa(n) }), nil)
	f.every("other keys pass", 100, func(int) bool { return other.do(request("")).Code == http.StatusOK })
	n = 0
	odd := &httpguard.LimitOptions{Skip: func(*http.Request) bool { n++; return n%2 == 1 }}
	s := f.site(perMinute, httpguard.Anonymous, odd)
	f.every("each second one passes, and 10 of the others", 99, func(i int) bool {
		passes := i < 20 || i%2 == 0
		return s.do(request("")).Code == http.StatusOK == passes
	})
}
