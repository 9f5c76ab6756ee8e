package config

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/inner"
	"github.com/chatguard/chatguard/internal/penalties"
	"github.com/chatguard/chatguard/internal/roles"
)

const withChannels = `
	timezone = "Europe/Berlin"
	[policy]
	mode = "enforce"
	[[limit]]
	name = "burst"
	algorithm = "token-bucket"
	burst = 3
	refill = "4s"
	roles.vip.burst = 6
	[[limit]]
	name = "daily"
	algorithm = "daily-window"
	messages = 300
	[penalties]
	ladder = ["delete", "timeout 30s"]
	strike_every = "0s"

	[channel."#GardenHour"]
	timezone = "America/Lima"
	[channel."#GardenHour".policy]
	exempt = []
	[channel."#GardenHour".penalties]
	ladder = ["warn"]
	[[channel."#GardenHour".limit]]
	name = "slow"
	algorithm = "token-bucket"
	burst = 1
	refill = "1m"
	[[channel."#GardenHour".limit]]
	name = "burst"
	algorithm = "token-bucket"
	burst = 9
	refill = "1s"

	[channel.12345.policy]
	mode = "observe"
	[channel.12345.penalties]
	forget_after = "0s"
	[[channel.12345.limit]]
	name = "line"
	algorithm = "leaky-bucket"
	every = "2s"
	queue = 0

	[channel."Room 7"]
	timezone = ""
`

// A channel's table has its own settings and inherits all others.
func TestChannel_Inherits(t *testing.T) {
	c := mustParse(t, "c.toml", withChannels, nil)
	want := c.Policy.Clone()
	want.Timezone = "America/Lima"
	want.Exempt = []chatguard.Role{}
	want.Penalties.Ladder = []chatguard.Penalty{{Action: penalties.Warn}}
	want.Limits = []chatguard.Limit{
		// replaces the inherited one, without its role
		{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 9, Refill: time.Second},
		c.Policy.Limits[1],
		{Name: "slow", Algorithm: chatguard.TokenBucket, Burst: 1, Refill: time.Minute},
	}
	assertEqual(t, "gardenhour", c.PolicyFor("gardenhour"), want)

	want = c.Policy.Clone()
	want.Mode = chatguard.ModeObserve
	want.Penalties.ForgetAfter = 0
	want.Limits = append(want.Limits, chatguard.Limit{Name: "line", Algorithm: chatguard.LeakyBucket, Every: 2 * time.Second})
	assertEqual(t, "12345", c.PolicyFor("12345"), want)
	assertEqual(t, "Room 7", c.PolicyFor("Room 7"), c.Policy)
	assertEqual(t, "how many", len(c.Channels), 3)
}

func TestPolicyFor_Names(t *testing.T) {
	c := mustParse(t, "c.toml", withChannels, nil)
	for _, f := range []struct {
		names []string
		zone  string
		mode  chatguard.Mode
		own   bool
	}{
		{[]string{"gardenhour", "1"}, "America/Lima", chatguard.ModeEnforce, true},
		{[]string{"#GARDENHOUR"}, "America/Lima", chatguard.ModeEnforce, true},
		{[]string{"", "gardenhour"}, "America/Lima", chatguard.ModeEnforce, true},
		{[]string{"somebody", "12345"}, "Europe/Berlin", chatguard.ModeObserve, true},
		// the first name wins
		{[]string{"gardenhour", "12345"}, "America/Lima", chatguard.ModeEnforce, true},
		{[]string{"Room 7"}, "Europe/Berlin", chatguard.ModeEnforce, true},
		// not a login, so a different name
		{[]string{"room 7"}, "Europe/Berlin", chatguard.ModeEnforce, false},
		{[]string{"somebody"}, "Europe/Berlin", chatguard.ModeEnforce, false},
		{[]string{""}, "Europe/Berlin", chatguard.ModeEnforce, false},
		{nil, "Europe/Berlin", chatguard.ModeEnforce, false},
	} {
		p := c.PolicyFor(f.names...)
		if _, own := c.OwnPolicy(f.names...); p.Timezone != f.zone || p.Mode != f.mode || own != f.own {
			t.Errorf("%q: zone %s, mode %s, own %v; want %+v", f.names, p.Timezone, p.Mode, own, f)
		}
	}
}

// The caller may modify what PolicyFor returns.
func TestPolicyFor_Copies(t *testing.T) {
	c := mustParse(t, "c.toml", withChannels, nil)
	for _, name := range []string{"gardenhour", "somebody"} {
		c.PolicyFor(name).Limits[0].Burst = 100
		if got := c.PolicyFor(name).Limits[0].Burst; got == 100 {
			t.Errorf("%s: a caller's change shows", name)
		}
	}
}

// The environment changes the settings for all channels, and therefore the settings that channels
// inherit. It does not change a channel's own settings.
func TestChannel_InheritsEnvironment(t *testing.T) {
	c := mustParse(t, "c.toml", withChannels, variables{
		"CHATGUARD_TIMEZONE": "UTC", "CHATGUARD_POLICY_MODE": "observe", "CHATGUARD_CHANNEL": "is a table of tables",
		"CHATGUARD_CHANNEL_GARDENHOUR_TIMEZONE": "Asia/Tokyo",
	})
	assertEqual(t, "inherited mode", c.PolicyFor("gardenhour").Mode, chatguard.ModeObserve)
	assertEqual(t, "own zone", c.PolicyFor("gardenhour").Timezone, "America/Lima")
	assertEqual(t, "inherited zone", c.PolicyFor("12345").Timezone, "UTC")
}

// A limit across all channels is the same in each of them; a Guard accepts nothing else.
func TestChannel_InheritsEverywhereLimit(t *testing.T) {
	c := mustParse(t, "c.toml", `
		timezone = "Europe/Berlin"
		[[limit]]
		name = "daily"
		algorithm = "daily-window"
		per = "user-everywhere"
		messages = 300
		[channel.a]
		timezone = "America/Lima"
		[[channel.a.limit]]
		name = "own"
		algorithm = "sliding-log"
		messages = 5
		every = "1m"
	`, nil)
	g, err := chatguard.New(c.Policy, nil)
	must(t, err)
	own := c.PolicyFor("a")
	if err := inner.At(g, time.Now()).SetChannelPolicy("1", own); err != nil || len(own.Limits) != 2 {
		t.Errorf("%+v, %v", own, err)
	}
}

// Every key of a limit is accepted, in all its forms.
func TestChannel_EveryKeyOfLimit(t *testing.T) {
	c := mustParse(t, "c.toml", `
		[[limit]]
		name = "slow"
		algorithm = "leaky-bucket"
		per = "channel"
		mode = "observe"
		count_throttled = true
		every = "1m30s"
		queue = 0
		roles.vip.queue = 7
		[[limit]]
		name = "month"
		algorithm = "user-window"
		per = "user-everywhere"
		mode = "enforce"
		count_throttled = false
		messages = 6_000_000
		every = "30d"
		roles.vip.messages = 7_000_000
		[[limit]]
		name = "bucket"
		algorithm = "token-bucket"
		per = "user"
		burst = 3
		refill = "1d"
		roles.vip.refill = "12h"
	`, nil)
	assertEqual(t, "limits", c.Policy.Limits, []chatguard.Limit{
		{
			Name: "slow", Algorithm: chatguard.LeakyBucket, Per: chatguard.PerChannel, Mode: chatguard.ModeObserve, CountThrottled: true,
			Every: 90 * time.Second, Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Queue: 7}},
		}, {
			Name: "month", Algorithm: chatguard.UserWindow, Per: chatguard.PerUserEverywhere, Messages: 6_000_000, Every: 30 * day,
			Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Messages: 7_000_000}},
		}, {
			Name: "bucket", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: day,
			Roles: map[chatguard.Role]chatguard.Override{roles.VIP: {Refill: 12 * time.Hour}},
		},
	})
}
