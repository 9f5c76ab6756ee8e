package main

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// demoChannel and secondDemoChannel are the channels of the demo's crowds. The policy of the first
// one enforces. The second one is new and only observes.
const (
	demoChannel       = "gardenhour"
	secondDemoChannel = "teahouse"
)

// demoChannels are the logins of the demo's channels.
var demoChannels = []string{demoChannel, secondDemoChannel}

// demoCrowd returns a crowd of a channel that is live. Raids come only when requested.
func demoCrowd(channel string, seed, evening uint64) *faketwitch.Crowd {
	c := &faketwitch.Crowd{Channel: channel, Seed: seed, Evening: evening, Rate: 4, Spammers: 2, RaidAt: -1, Surges: true}
	if channel == secondDemoChannel {
		c.Rate, c.Spammers, c.Raiders = 1.2, 1, 15
	}
	return c
}

// demoLull returns a crowd of a channel that is not live: a few regulars who write now and then.
func demoLull(channel string, seed, evening uint64) *faketwitch.Crowd {
	return &faketwitch.Crowd{Channel: channel, Seed: seed, Evening: evening, Rate: 1.0 / 40, Spammers: -1, RaidAt: -1, Surges: true}
}

// setDemoChannels sets the demo's channels and their policies. The first has the default limits and
// the default ladder.
func setDemoChannels(c *config.Config) {
	c.Twitch.Channels = demoChannels
	c.Policy.Mode = chatguard.Enforce
	second := c.Policy.Clone()
	second.Mode = chatguard.Observe
	second.Limits = []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", 5, 3*time.Second),
		chatguard.SlidingWindowLimit("hourly", 60, time.Hour),
	}
	c.Channels = map[string]chatguard.Policy{secondDemoChannel: second}
}
