package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/roles"
)

func TestWritePolicy_RoundTrip(t *testing.T) {
	everything := DefaultPolicy()
	everything.Mode, everything.Timezone, everything.Exempt = chatguard.ModeEnforce, "Europe/Berlin", []chatguard.Role{}
	everything.ExemptKinds = []string{roles.Bits, roles.Resub}
	everything.Penalties.ForgetAfter = 0 // never
	everything.Penalties.Ladder = append(everything.Penalties.Ladder, chatguard.Penalty{Action: chatguard.ActionTimeout, Duration: penalties.MaxTimeout})
	everything.Limits[0].Roles = map[chatguard.Role]chatguard.Override{
		roles.Subscriber: {Burst: 5, Refill: 1500 * time.Millisecond}, roles.VIP: {}, roles.FirstTimer: {Burst: 1},
	}
	everything.Limits = append(everything.Limits,
		chatguard.Limit{
			Name: "slow", Algorithm: chatguard.LeakyBucket, Every: time.Minute, Queue: 3, Mode: chatguard.ModeObserve,
			Roles: map[chatguard.Role]chatguard.Override{roles.Subscriber: {Queue: chatguard.NoQueue}, roles.VIP: {Queue: 9}, roles.FirstTimer: {}},
		},
		chatguard.Limit{
			Name: "month", Algorithm: chatguard.SlidingWindow, Per: chatguard.PerUserEverywhere, Messages: 2147483647, Every: 720 * time.Hour,
			CountThrottled: true,
		},
		chatguard.Limit{Name: "tokyo", Algorithm: chatguard.DailyWindow, Messages: 10, Timezone: "Asia/Tokyo", ResetAt: "04:30"},
		chatguard.Limit{Name: "repeats", Algorithm: chatguard.SlidingLog, Per: chatguard.PerUserText, Messages: 1, Every: 30 * time.Second, FromLength: 500, CountEmotes: true},
		chatguard.Limit{Name: "copies", Algorithm: chatguard.TokenBucket, Per: chatguard.PerText, Burst: 3, Refill: time.Minute, Similar: true, Strikes: true},
		chatguard.Limit{Name: "crowd", Algorithm: chatguard.FixedWindow, Per: chatguard.PerChannel, Messages: 600, Every: 90 * time.Second},
	)
	for name, policy := range map[string]chatguard.Policy{"the default": DefaultPolicy(), "everything": everything} {
		written, err := WritePolicy(policy)
		must(t, err)
		read := mustParse(t, "chatguard.toml", string(written), nil)
		assertEqual(t, name+":\n"+string(written), read.Policy, policy)
	}
}

// Penalties may be given in days, and a role's queue may have length 0.
func TestWritePolicy_DaysAndNoQueue(t *testing.T) {
	read := mustParse(t, "chatguard.toml", `
		[[limit]]
		name = "slow"
		algorithm = "leaky-bucket"
		every = "1d"
		queue = 3
		roles.vip.queue = 0
		roles.subscriber = {}
		[penalties]
		ladder = ["delete", "timeout 14d"]
		forget_after = "2d"
	`, nil).Policy
	own := read.Limits[0].Roles
	if own[roles.VIP].Queue != chatguard.NoQueue || own[roles.Subscriber].Queue != 0 {
		t.Errorf("roles %+v", own)
	}
	if read.Penalties.Ladder[1].Duration != penalties.MaxTimeout || read.Penalties.ForgetAfter != 2*day {
		t.Errorf("penalties %+v", read.Penalties)
	}
}

func TestWritePolicy_Readable(t *testing.T) {
	const want = `timezone = "UTC"

[policy]
mode = "observe"
roles = ["broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "everyone", "first_timer"]
exempt = ["broadcaster", "lead_moderator", "moderator"]
exempt_messages = []

[[limit]]
name = "burst"
algorithm = "token-bucket"
burst = 3
refill = "4s"

[[limit]]
name = "daily"
algorithm = "daily-window"
messages = 300
reset_at = "00:00"

[penalties]
ladder = ["delete", "delete", "warn", "timeout 30s", "timeout 10m"]
strike_every = "10s"
forget_after = "30m"
`
	if _, err := WritePolicy(chatguard.Policy{}); !errors.Is(err, ErrNoLimits) {
		t.Errorf("without limits: %v", err)
	}
	got, err := WritePolicy(DefaultPolicy())
	if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		t.Errorf("%v\n%s", err, got)
	}
}
