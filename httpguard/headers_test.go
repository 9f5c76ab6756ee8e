package httpguard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
)

// headersOf checks the messages in order and returns the headers of the last verdict, with
// X-RateLimit.
func headersOf(t *testing.T, g *chatguard.Guard, messages ...chatguard.Message) map[string]string {
	t.Helper()
	h := http.Header{}
	for _, m := range messages {
		h = http.Header{}
		v := mustCheck(t, g, m)
		SetHeaders(h, g, v)
		AddXRateLimit(h, g, v)
	}
	flat := map[string]string{}
	for name := range h {
		flat[name] = h.Get(name)
	}
	return flat
}

func repeat(n int, m chatguard.Message) []chatguard.Message {
	all := make([]chatguard.Message, n)
	for i := range all {
		all[i] = m
	}
	return all
}

// sent are the headers of a verdict.
type sent struct {
	policy string // RateLimit-Policy
	left   string // RateLimit
	x      string // X-RateLimit-Limit, -Remaining, -Used, -Reset and -Resource
	retry  string // Retry-After
	others int    // the number of other headers
}

func sentBy(h map[string]string) sent {
	x := strings.TrimSpace(fmt.Sprintln(h["X-Ratelimit-Limit"], h["X-Ratelimit-Remaining"], h["X-Ratelimit-Used"], h["X-Ratelimit-Reset"], h["X-Ratelimit-Resource"]))
	s := sent{policy: h["Ratelimit-Policy"], left: h["Ratelimit"], x: x, retry: h["Retry-After"], others: len(h)}
	for _, name := range []string{"Ratelimit-Policy", "Ratelimit", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Used", "X-Ratelimit-Reset", "X-Ratelimit-Resource", "Retry-After"} {
		if h[name] != "" {
			s.others--
		}
	}
	return s
}

// The headers agree with the verdict; monday is noon UTC, Unix time 1767614400.
func TestSetHeaders_MatchVerdict(t *testing.T) {
	const policy = `"burst";q=3;w=12, "daily";q=300;w=86400`
	queue := func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "slow", Algorithm: chatguard.LeakyBucket, Every: time.Second, Queue: 2}}
	}
	log := func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 2, Every: 10 * time.Second}}
	}
	copies := func(p *chatguard.Policy) {
		p.Limits = append(p.Limits, chatguard.Limit{Name: "copies", Algorithm: chatguard.SlidingLog, Per: chatguard.PerText, Messages: 1, Every: 10 * time.Second})
	}
	pasted := func(user string, seconds float64) chatguard.Message {
		m := messageFrom(user, seconds)
		m.Text = "join my channel, it is the best"
		return m
	}
	for _, test := range []struct {
		name     string
		change   func(*chatguard.Policy)
		messages []chatguard.Message
		want     sent
	}{
		{"the first", nil, repeat(1, messageFrom("7", 0)), sent{policy: policy, left: `"burst";r=2;t=4`, x: "3 2 1 1767614404 burst"}},
		{"the last that passes", nil, repeat(3, messageFrom("7", 0.5)), sent{policy: policy, left: `"burst";r=0;t=4`, x: "3 0 3 1767614413 burst"}},
		{"throttled: waits are rounded up", nil, append(repeat(3, messageFrom("7", 0)), messageFrom("7", 0.999)), sent{policy: policy, left: `"burst";r=0;t=4`, x: "3 0 3 1767614412 burst", retry: "4"}},
		{"half a second left", nil, append(repeat(3, messageFrom("7", 0)), messageFrom("7", 3.5)), sent{policy: policy, left: `"burst";r=0;t=1`, x: "3 0 3 1767614412 burst", retry: "1"}},
		{"never", nil, []chatguard.Message{{ChannelID: "1", User: chatguard.User{ID: "7"}, SentAt: monday, Cost: 4}}, sent{policy: policy, left: `"burst";r=3;t=0`, x: "3 3 0 1767614400 burst"}},
		{"exempt", nil, repeat(4, messageFrom("7", 0, chatguard.RoleModerator)), sent{}},
		{"no limits", func(p *chatguard.Policy) { p.Limits = nil }, repeat(1, messageFrom("7", 0)), sent{}},
		{"observed", func(p *chatguard.Policy) { p.Mode = chatguard.ModeObserve }, repeat(4, messageFrom("7", 0)), sent{policy: policy, left: `"burst";r=0;t=4`, x: "3 0 3 1767614412 burst"}},
		{"the day, which ends at midnight", func(p *chatguard.Policy) { p.Limits = p.Limits[1:]; p.Limits[0].Messages = 1 }, repeat(2, messageFrom("7", 0)), sent{policy: `"daily";q=1;w=86400`, left: `"daily";r=0;t=43200`, x: "1 0 1 1767657600 daily", retry: "43200"}},
		{"a queue", queue, repeat(2, messageFrom("7", 0)), sent{policy: `"slow";q=3;w=3`, left: `"slow";r=1;t=1`, x: "3 1 2 1767614402 slow"}},
		{"a window of half a second", func(p *chatguard.Policy) {
			p.Limits = []chatguard.Limit{{Name: "fast", Algorithm: chatguard.UserWindow, Messages: 5, Every: 500 * time.Millisecond}}
		}, repeat(1, messageFrom("7", 0)), sent{policy: `"fast";q=5;w=1`, left: `"fast";r=4;t=1`, x: "5 4 1 1767614401 fast"}},
		{"a log, whose messages come back one by one", log, []chatguard.Message{messageFrom("7", 0), messageFrom("7", 9)}, sent{policy: `"log";q=2;w=10`, left: `"log";r=0`, x: "2 0 2 1767614419 log"}},
		{"the same, throttled", log, []chatguard.Message{messageFrom("7", 0), messageFrom("7", 9), messageFrom("7", 9)}, sent{policy: `"log";q=2;w=10`, left: `"log";r=0;t=1`, x: "2 0 2 1767614419 log", retry: "1"}},
		{"a limit that only observes isn't spoken of", func(p *chatguard.Policy) { p.Limits[0].Mode = chatguard.ModeObserve; p.Limits[0].Burst = 2 }, repeat(2, messageFrom("7", 0)), sent{policy: `"daily";q=300;w=86400`, left: `"daily";r=298;t=43200`, x: "300 298 2 1767657600 daily"}},
		{"what it would have throttled has no numbers", func(p *chatguard.Policy) { p.Limits[0].Mode = chatguard.ModeObserve; p.Limits[0].Burst = 1 }, repeat(2, messageFrom("7", 0)), sent{policy: `"daily";q=300;w=86400`}},
		{"a limit on repeated text has no quota of the user", copies, repeat(1, pasted("7", 0)), sent{policy: policy, left: `"burst";r=2;t=4`, x: "3 2 1 1767614404 burst"}},
		{"one that throttles", copies, repeat(2, pasted("7", 0)), sent{policy: policy, retry: "10"}},
		{"only one on repeated text", func(p *chatguard.Policy) { copies(p); p.Limits = p.Limits[2:] }, repeat(1, pasted("7", 0)), sent{}},
		{"only observing limits", func(p *chatguard.Policy) { p.Limits = p.Limits[:1]; p.Limits[0].Mode = chatguard.ModeObserve }, repeat(1, messageFrom("7", 0)), sent{}},
		{"a role's numbers", func(p *chatguard.Policy) {
			p.Roles = []chatguard.Role{chatguard.RoleModerator, "subscriber", "first_timer"}
			p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{"subscriber": {Burst: 5}, "first_timer": {Burst: 1}}
		}, repeat(1, messageFrom("7", 0, "subscriber", "first_timer")), sent{policy: `"burst";q=5;w=20, "daily";q=300;w=86400`, left: `"burst";r=4;t=4`, x: "5 4 1 1767614404 burst"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := sentBy(headersOf(t, newEnforcingGuard(t, test.change, nil), test.messages...)); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestSetHeaders_UserOverride(t *testing.T) {
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{"subscriber": {Burst: 5}}
		p.Limits = append(p.Limits, chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1000, Every: time.Hour})
	}, nil)
	mustCheck(t, g, messageFrom("7", 0))
	for channel, own := range map[string]map[string]chatguard.Override{"1": {"burst": {Refill: 2 * time.Second}}, "": {"total": {Messages: 2000}}} {
		key := chatguard.Key{ChannelID: channel, UserID: "7"}
		if channel == "" {
			key.Per = chatguard.PerUserEverywhere
		}
		if err := inner.At(g, monday).SetUserOverride(t.Context(), key, chatguard.UserOverride{Limits: own}); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[string]string{
		"7": `"burst";q=3;w=6, "daily";q=300;w=86400, "total";q=2000;w=3600`,
		"8": `"burst";q=5;w=20, "daily";q=300;w=86400, "total";q=1000;w=3600`,
	} {
		if got := headersOf(t, g, messageFrom(user, 1, "subscriber"))["Ratelimit-Policy"]; got != want {
			t.Errorf("user %s: %s, want %s", user, got, want)
		}
	}
}

func TestSetHeaders_UnknownChannel(t *testing.T) {
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 10, Every: time.Hour}}
	}, nil)
	if err := inner.At(g, monday).SetUserOverride(t.Context(), chatguard.Key{UserID: "7", Per: chatguard.PerUserEverywhere}, chatguard.UserOverride{Limits: map[string]chatguard.Override{"total": {Messages: 5}}}); err != nil {
		t.Fatal(err)
	}
	v, err := g.Peek(t.Context(), messageFrom("7", 0))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	if SetHeaders(h, g, v); h.Get("Ratelimit-Policy") != `"total";q=5;w=3600` {
		t.Errorf("got %v", h)
	}
}

func TestSetHeaders_Grants(t *testing.T) {
	g := newEnforcingGuard(t, func(p *chatguard.Policy) { p.Limits = p.Limits[1:]; p.Limits[0].Messages = 1 }, nil)
	if _, err := inner.At(g, monday).Grant(t.Context(), chatguard.Key{ChannelID: "1", UserID: "7"}, "daily", 5); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 5 1", "5 4 1"} { // the regular message is used first
		got := headersOf(t, g, messageFrom("7", 0))
		if x := got["X-Ratelimit-Limit"] + " " + got["X-Ratelimit-Remaining"] + " " + got["X-Ratelimit-Used"]; x != want {
			t.Errorf("%s, want %s", x, want)
		}
	}
	bucket := newEnforcingGuard(t, func(p *chatguard.Policy) { p.Limits = p.Limits[:1] }, &chatguard.Options{Now: func() time.Time { return monday }})
	if _, err := bucket.Grant(t.Context(), chatguard.Key{ChannelID: "1", UserID: "7"}, "burst", 5); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`8 7 1 "burst";r=7;t=4`, `8 6 2 "burst";r=6;t=4`, `8 5 3 "burst";r=5;t=4`, `7 4 3 "burst";r=4;t=4`} {
		m := messageFrom("7", 0)
		m.SentAt = time.Time{}
		got := headersOf(t, bucket, m)
		if x := got["X-Ratelimit-Limit"] + " " + got["X-Ratelimit-Remaining"] + " " + got["X-Ratelimit-Used"] + " " + got["Ratelimit"]; x != want {
			t.Errorf("%s, want %s", x, want)
		}
	}
}

func TestSetHeaders_PolicyChange(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	p := g.ChannelPolicy("1")
	p.Limits[0].Burst = 10
	if err := inner.At(g, monday).SetChannelPolicy("1", p); err != nil {
		t.Fatal(err)
	}
	if got := headersOf(t, g, messageFrom("7", 0))["X-Ratelimit-Limit"]; got != "10" {
		t.Errorf("after the change: %s", got)
	}
	v := mustCheck(t, g, messageFrom("7", 0))
	p.Limits = p.Limits[1:]
	if err := inner.At(g, monday).SetChannelPolicy("1", p); err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	SetHeaders(h, g, v) // the limit no longer exists
	AddXRateLimit(h, g, v)
	if len(h) != 1 || h.Get("Ratelimit-Policy") != `"daily";q=300;w=86400` {
		t.Errorf("a verdict by the limits before: %v", h)
	}
	p.Limits = []chatguard.Limit{{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 1}}
	v = mustCheck(t, g, messageFrom("8", 0))
	if err := inner.At(g, monday).SetChannelPolicy("1", p); err != nil {
		t.Fatal(err)
	}
	if v.Tightest != "daily" || v.Remaining < 2 {
		t.Fatalf("%d remain of %s", v.Remaining, v.Tightest)
	}
	h = http.Header{}
	if AddXRateLimit(h, g, v); h.Get("X-RateLimit-Used") != "0" || h.Get("X-RateLimit-Limit") != h.Get("X-RateLimit-Remaining") {
		t.Errorf("less is allowed than remained: %v", h)
	}
	h = http.Header{}
	if SetHeaders(h, g, chatguard.Verdict{}); len(h) != 0 {
		t.Errorf("a message that couldn't be judged: %v", h)
	}
}

// SetHeaders replaces what the headers list, and AddHeaders adds to it.
func TestAddHeaders_Keeps(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	v := mustCheck(t, g, messageFrom("7", 0))
	observing := newEnforcingGuard(t, func(p *chatguard.Policy) { p.Limits = p.Limits[:1]; p.Limits[0].Mode = chatguard.ModeObserve }, nil)
	observed := mustCheck(t, observing, messageFrom("7", 0))
	const policy, left = `"burst";q=3;w=12, "daily";q=300;w=86400`, `"burst";r=2;t=4`
	for _, test := range []struct {
		name         string
		describe     func(http.Header)
		policy, left string
	}{
		{"set", func(h http.Header) { SetHeaders(h, g, v) }, policy, left},
		{"added", func(h http.Header) { AddHeaders(h, g, v) }, `"a";q=1;w=1, ` + policy, `"a";r=1, ` + left},
		{"nothing to add", func(h http.Header) { AddHeaders(h, observing, observed) }, `"a";q=1;w=1`, `"a";r=1`},
	} {
		h := http.Header{"Ratelimit-Policy": {`"a";q=1;w=1`}, "Ratelimit": {`"a";r=1`}}
		if test.describe(h); fmt.Sprint(h["Ratelimit-Policy"], h["Ratelimit"]) != fmt.Sprint([]string{test.policy}, []string{test.left}) {
			t.Errorf("%s: %v", test.name, h)
		}
	}
}

// A handler that adds a value to a header changes no other one.
func TestLimit_HeadersAreSeparate(t *testing.T) {
	l := newLimited(t, &LimitOptions{XRateLimit: true})
	for range 3 {
		h := l.request("anna", nil).Header()
		before := h.Clone()
		for name, values := range before {
			h.Add(name, "more")
			for other := range before {
				if want := before[other]; other != name && fmt.Sprint(h[other]) != fmt.Sprint(want) {
					t.Errorf("another %s changes %s: %q, want %q", name, other, h[other], want)
				}
			}
			h[name] = values
		}
	}
}
