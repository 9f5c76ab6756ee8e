package config

import (
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/roles"
)

func TestPart(t *testing.T) {
	day := chatguard.DailyWindowLimit("day", 301)
	day.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 3}}
	bucket := chatguard.TokenBucketLimit("burst", 3, 4*time.Second)
	bucket.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 5}, roles.Subscriber: {Refill: time.Second}}
	queue := chatguard.LeakyBucketLimit("queue", time.Second, 4)
	queue.Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Queue: 1}, roles.Subscriber: {Queue: 9}}
	whole := chatguard.Policy{Roles: roles.Twitch, Limits: []chatguard.Limit{day, bucket, queue, chatguard.SlidingLogLimit("log", 10, time.Minute)}}
	half := whole.Clone()
	half.Limits[0].Messages, half.Limits[0].Roles = 150, map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 1}}
	half.Limits[1].Burst, half.Limits[1].Refill = 1, 8*time.Second
	half.Limits[1].Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Burst: 2}, roles.Subscriber: {Refill: 2 * time.Second}}
	half.Limits[2].Queue, half.Limits[2].Every = 1, 2*time.Second
	half.Limits[2].Roles = map[chatguard.Role]chatguard.Override{roles.VIP: {Queue: chatguard.NoQueue}, roles.Subscriber: {Queue: 4}}
	half.Limits[3].Messages = 5
	before := whole.Clone()
	got, err := Part(whole, 0.5)
	must(t, err)
	assertEqual(t, "half", got, half)
	assertEqual(t, "the whole afterwards", whole, before)
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	got, err = Part(whole, 1)
	must(t, err)
	assertEqual(t, "all", got, whole)
}

// TestPart_NeverAboveTheWhole checks that nodes with equal shares together have no more than the
// policy, in capacity and in rate.
func TestPart_NeverAboveTheWhole(t *testing.T) {
	for nodes := 1; nodes <= 30; nodes++ {
		for _, messages := range []int{30, 31, 100, 299, 1000} {
			p := chatguard.Policy{Limits: []chatguard.Limit{
				chatguard.TokenBucketLimit("a", messages, 7*time.Millisecond),
				chatguard.LeakyBucketLimit("b", 7*time.Millisecond, messages),
				chatguard.FixedWindowLimit("c", messages, time.Hour),
			}}
			part, err := Part(p, 1/float64(nodes))
			must(t, err)
			a, b, c := part.Limits[0], part.Limits[1], part.Limits[2]
			if a.Burst*nodes > messages || (b.Queue+1)*nodes > messages+1 || c.Messages*nodes > messages || c.Every != time.Hour ||
				a.Refill < time.Duration(nodes)*7*time.Millisecond || b.Every != a.Refill {
				t.Errorf("1/%d of %d is %+v", nodes, messages, part.Limits)
			}
			if c.Messages != messages/nodes {
				t.Errorf("1/%d of %d is %d", nodes, messages, c.Messages)
			}
		}
	}
}

func TestPart_TooSmall(t *testing.T) {
	role := chatguard.FixedWindowLimit("of roles", 10, time.Hour)
	role.Roles = map[chatguard.Role]chatguard.Override{roles.FirstTimer: {Messages: 1}}
	for _, l := range []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", 1, time.Second),
		chatguard.LeakyBucketLimit("queue", time.Second, 0),
		chatguard.DailyWindowLimit("day", 1),
		role,
	} {
		_, err := Part(chatguard.Policy{Limits: []chatguard.Limit{l}}, 0.5)
		if err == nil || !strings.HasPrefix(err.Error(), `limit "`+l.Name+`": a share of 0.5 is less than one message`) {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	_, err := Part(chatguard.Policy{Limits: []chatguard.Limit{chatguard.TokenBucketLimit("slow", 1e9, 1000*time.Hour)}}, 1e-9)
	if err == nil || err.Error() != `limit "slow": a share of it refills too slowly: raise the share` {
		t.Error(err)
	}
}

func TestShared_Part(t *testing.T) {
	c := mustParse(t, "c.toml", "[shared]\nmode = \"shares\"\nshare = 1\n", variables{"CHATGUARD_SHARED_SHARE": "0.5"})
	assertEqual(t, "the configured policy", c.Policy, DefaultPolicy())
	got, err := c.Shared.Part(c.Policy)
	if err != nil || got.Limits[0].Burst != 1 || got.Limits[1].Messages != 150 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = Shared{Mode: ShareOff, Share: 0.5}.Part(c.Policy)
	must(t, err)
	assertEqual(t, "the policy in another mode", got, c.Policy)
}

// TestParse_SharedPassword checks that secrets come from the environment and are never shown.
func TestParse_SharedPassword(t *testing.T) {
	c := mustParse(t, "c.toml", "", variables{"CHATGUARD_SHARED_PASSWORD": "geheim", "CHATGUARD_SHARED_SENTINEL_PASSWORD": "secreto", "CHATGUARD_SHARED_TEXT_KEY": "eine lange, geheime Zeile"})
	if c.Shared.Password != "geheim" || c.Shared.Password.String() != "hidden" {
		t.Errorf("%+v", c.Shared)
	}
	if c.Shared.SentinelPassword != "secreto" || c.Shared.SentinelPassword.String() != "hidden" {
		t.Errorf("%+v", c.Shared)
	}
	if c.Shared.TextKey != "eine lange, geheime Zeile" || c.Shared.TextKey.String() != "hidden" {
		t.Errorf("%+v", c.Shared)
	}
	_, err := Parse("c.toml", nil, variables{"CHATGUARD_SHARED_TEXT_KEY": "geheim"}.lookup)
	if err == nil || !strings.Contains(err.Error(), "CHATGUARD_SHARED_TEXT_KEY: is shorter than 16 characters: use a long random text (openssl rand -hex 24)") {
		t.Error(err)
	}
	_, err = Parse("c.toml", nil, variables{"CHATGUARD_SHARED_URL": "redis://:geheim@127.0.0.1"}.lookup)
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Error(err)
	}
}
