package httpguard

import (
	"net/http"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// headersOf checks the messages in order and returns the headers of the last verdict.
func headersOf(t *testing.T, g *chatguard.Guard, messages ...chatguard.Message) map[string]string {
	t.Helper()
	h := http.Header{}
	for _, m := range messages {
		h = http.Header{}
		SetHeaders(h, g, mustCheck(t, g, m))
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

// The headers agree with the verdict; monday is noon UTC, Unix time 1767614400.
func TestSetHeaders_MatchVerdict(t *testing.T) {
	const policy = `"burst";q=3;w=12, "daily";q=300;w=86400`
	queue := func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "slow", Algorithm: chatguard.LeakyBucket, Every: time.Second, Queue: 2}}
	}
	for _, test := range []struct {
		name     string
		change   func(*chatguard.Policy)
		messages []chatguard.Message
		want     map[string]string
	}{
		{"the first", nil, repeat(1, messageFrom("7", 0)), map[string]string{
			"Ratelimit-Policy": policy, "Ratelimit": `"burst";r=2;t=4`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "2", "X-Ratelimit-Used": "1", "X-Ratelimit-Reset": "1767614404", "X-Ratelimit-Resource": "burst"}},
		{"the last that passes", nil, repeat(3, messageFrom("7", 0.5)), map[string]string{
			"Ratelimit-Policy": policy, "Ratelimit": `"burst";r=0;t=4`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "3", "X-Ratelimit-Reset": "1767614413", "X-Ratelimit-Resource": "burst"}},
		{"throttled: waits are rounded up", nil, append(repeat(3, messageFrom("7", 0)), messageFrom("7", 0.999)), map[string]string{
			"Retry-After": "4", "Ratelimit-Policy": policy, "Ratelimit": `"burst";r=0;t=4`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "3", "X-Ratelimit-Reset": "1767614412", "X-Ratelimit-Resource": "burst"}},
		{"half a second left", nil, append(repeat(3, messageFrom("7", 0)), messageFrom("7", 3.5)), map[string]string{
			"Retry-After": "1", "Ratelimit-Policy": policy, "Ratelimit": `"burst";r=0;t=1`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "3", "X-Ratelimit-Reset": "1767614412", "X-Ratelimit-Resource": "burst"}},
		{"never", nil, []chatguard.Message{{ChannelID: "1", User: chatguard.User{ID: "7"}, SentAt: monday, Cost: 4}}, map[string]string{
			"Ratelimit-Policy": policy, "Ratelimit": `"burst";r=3;t=0`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "3", "X-Ratelimit-Used": "0", "X-Ratelimit-Reset": "1767614400", "X-Ratelimit-Resource": "burst"}},
		{"exempt", nil, repeat(4, messageFrom("7", 0, chatguard.Moderator)), map[string]string{}},
		{"no limits", func(p *chatguard.Policy) { p.Limits = nil }, repeat(1, messageFrom("7", 0)), map[string]string{}},
		{"observed", func(p *chatguard.Policy) { p.Mode = chatguard.Observe }, repeat(4, messageFrom("7", 0)), map[string]string{
			"Ratelimit-Policy": policy, "Ratelimit": `"burst";r=0;t=4`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "3", "X-Ratelimit-Reset": "1767614412", "X-Ratelimit-Resource": "burst"}},
		{"the day, which ends at midnight", func(p *chatguard.Policy) { p.Limits = p.Limits[1:]; p.Limits[0].Messages = 1 }, repeat(2, messageFrom("7", 0)), map[string]string{
			"Retry-After": "43200", "Ratelimit-Policy": `"daily";q=1;w=86400`, "Ratelimit": `"daily";r=0;t=43200`,
			"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "1", "X-Ratelimit-Reset": "1767657600", "X-Ratelimit-Resource": "daily"}},
		{"a queue", queue, repeat(2, messageFrom("7", 0)), map[string]string{
			"Ratelimit-Policy": `"slow";q=3;w=3`, "Ratelimit": `"slow";r=1;t=1`,
			"X-Ratelimit-Limit": "3", "X-Ratelimit-Remaining": "1", "X-Ratelimit-Used": "2", "X-Ratelimit-Reset": "1767614402", "X-Ratelimit-Resource": "slow"}},
		{"a window of half a second", func(p *chatguard.Policy) {
			p.Limits = []chatguard.Limit{{Name: "fast", Algorithm: chatguard.UserWindow, Messages: 5, Every: 500 * time.Millisecond}}
		}, repeat(1, messageFrom("7", 0)), map[string]string{
			"Ratelimit-Policy": `"fast";q=5;w=1`, "Ratelimit": `"fast";r=4;t=1`,
			"X-Ratelimit-Limit": "5", "X-Ratelimit-Remaining": "4", "X-Ratelimit-Used": "1", "X-Ratelimit-Reset": "1767614401", "X-Ratelimit-Resource": "fast"}},
		{"a log, whose messages come back one by one", func(p *chatguard.Policy) {
			p.Limits = []chatguard.Limit{{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 2, Every: 10 * time.Second}}
		}, []chatguard.Message{messageFrom("7", 0), messageFrom("7", 9)}, map[string]string{
			"Ratelimit-Policy": `"log";q=2;w=10`, "Ratelimit": `"log";r=0`,
			"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "2", "X-Ratelimit-Reset": "1767614419", "X-Ratelimit-Resource": "log"}},
		{"the same, throttled", func(p *chatguard.Policy) {
			p.Limits = []chatguard.Limit{{Name: "log", Algorithm: chatguard.SlidingLog, Messages: 2, Every: 10 * time.Second}}
		}, []chatguard.Message{messageFrom("7", 0), messageFrom("7", 9), messageFrom("7", 9)}, map[string]string{
			"Retry-After": "1", "Ratelimit-Policy": `"log";q=2;w=10`, "Ratelimit": `"log";r=0;t=1`,
			"X-Ratelimit-Limit": "2", "X-Ratelimit-Remaining": "0", "X-Ratelimit-Used": "2", "X-Ratelimit-Reset": "1767614419", "X-Ratelimit-Resource": "log"}},
		{"a limit that only observes isn't spoken of", func(p *chatguard.Policy) { p.Limits[0].Mode = chatguard.Observe; p.Limits[0].Burst = 2 }, repeat(2, messageFrom("7", 0)), map[string]string{
			"Ratelimit-Policy": `"daily";q=300;w=86400`, "Ratelimit": `"daily";r=298;t=43200`,
			"X-Ratelimit-Limit": "300", "X-Ratelimit-Remaining": "298", "X-Ratelimit-Used": "2", "X-Ratelimit-Reset": "1767657600", "X-Ratelimit-Resource": "daily"}},
		{"what it would have throttled has no numbers", func(p *chatguard.Policy) { p.Limits[0].Mode = chatguard.Observe; p.Limits[0].Burst = 1 }, repeat(2, messageFrom("7", 0)), map[string]string{
			"Ratelimit-Policy": `"daily";q=300;w=86400`}},
		{"only observing limits", func(p *chatguard.Policy) { p.Limits = p.Limits[:1]; p.Limits[0].Mode = chatguard.Observe }, repeat(1, messageFrom("7", 0)), map[string]string{}},
		{"a role's numbers", func(p *chatguard.Policy) {
			p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {Burst: 5}, chatguard.FirstTimer: {Burst: 1}}
		},
			repeat(1, messageFrom("7", 0, chatguard.Subscriber, chatguard.FirstTimer)), map[string]string{
				"Ratelimit-Policy": `"burst";q=5;w=20, "daily";q=300;w=86400`, "Ratelimit": `"burst";r=4;t=4`,
				"X-Ratelimit-Limit": "5", "X-Ratelimit-Remaining": "4", "X-Ratelimit-Used": "1", "X-Ratelimit-Reset": "1767614404", "X-Ratelimit-Resource": "burst"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := headersOf(t, newEnforcingGuard(t, test.change, nil), test.messages...)
			if len(got) != len(test.want) {
				t.Errorf("got %v", got)
			}
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s: %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestSetHeaders_UserOverride(t *testing.T) {
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits[0].Roles = map[chatguard.Role]chatguard.Override{chatguard.Subscriber: {Burst: 5}}
		p.Limits = append(p.Limits, chatguard.Limit{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 1000, Every: time.Hour})
	}, nil)
	mustCheck(t, g, messageFrom("7", 0))
	for channel, own := range map[string]map[string]chatguard.Override{"1": {"burst": {Refill: 2 * time.Second}}, "": {"total": {Messages: 2000}}} {
		key := chatguard.Key{ChannelID: channel, UserID: "7"}
		if channel == "" {
			key.Per = chatguard.PerUserEverywhere
		}
		if err := g.At(monday).SetUserOverride(key, chatguard.UserOverride{Limits: own}); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[string]string{
		"7": `"burst";q=3;w=6, "daily";q=300;w=86400, "total";q=2000;w=3600`,
		"8": `"burst";q=5;w=20, "daily";q=300;w=86400, "total";q=1000;w=3600`,
	} {
		if got := headersOf(t, g, messageFrom(user, 1, chatguard.Subscriber))["Ratelimit-Policy"]; got != want {
			t.Errorf("user %s: %s, want %s", user, got, want)
		}
	}
}

func TestSetHeaders_UnknownChannel(t *testing.T) {
	g := newEnforcingGuard(t, func(p *chatguard.Policy) {
		p.Limits = []chatguard.Limit{{Name: "total", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 10, Every: time.Hour}}
	}, nil)
	if err := g.At(monday).SetUserOverride(chatguard.Key{UserID: "7", Per: chatguard.PerUserEverywhere}, chatguard.UserOverride{Limits: map[string]chatguard.Override{"total": {Messages: 5}}}); err != nil {
		t.Fatal(err)
	}
	v, err := g.Peek(messageFrom("7", 0))
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
	if _, err := g.At(monday).Grant(chatguard.Key{ChannelID: "1", UserID: "7"}, "daily", 5); err != nil {
		t.Fatal(err)
	}
	got := headersOf(t, g, messageFrom("7", 0))
	if got["X-Ratelimit-Limit"] != "5" || got["X-Ratelimit-Remaining"] != "5" || got["X-Ratelimit-Used"] != "0" || got["Ratelimit"] != `"daily";r=5;t=43200` {
		t.Errorf("got %v", got)
	}
}

func TestSetHeaders_PolicyChange(t *testing.T) {
	g := newEnforcingGuard(t, nil, nil)
	p := g.ChannelPolicy("1")
	p.Limits[0].Burst = 10
	if err := g.At(monday).SetChannelPolicy("1", p); err != nil {
		t.Fatal(err)
	}
	if got := headersOf(t, g, messageFrom("7", 0))["X-Ratelimit-Limit"]; got != "10" {
		t.Errorf("after the change: %s", got)
	}
	v := mustCheck(t, g, messageFrom("7", 0))
	p.Limits = p.Limits[1:]
	if err := g.At(monday).SetChannelPolicy("1", p); err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	SetHeaders(h, g, v) // the limit no longer exists
	if len(h) != 1 || h.Get("Ratelimit-Policy") != `"daily";q=300;w=86400` {
		t.Errorf("a verdict by the limits before: %v", h)
	}
	h = http.Header{}
	if SetHeaders(h, g, chatguard.Verdict{}); len(h) != 0 {
		t.Errorf("a message that couldn't be judged: %v", h)
	}
}
