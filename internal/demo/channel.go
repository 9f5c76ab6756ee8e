// Package demo makes what `chatguard demo` shows: two simulated channels, and what chatguard has
// done there in the last day and a half.
//
// It must not know the command line or the dashboard.
package demo

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/chat/faketwitch"
	"github.com/chatguard/chatguard/internal/config"
)

// First and Second are the demo's channels. The policy of the first one enforces. The second one is
// new and only observes.
const (
	First  = "gardenhour"
	Second = "teahouse"
)

// Moderator is the login of a moderator of the first channel.
const Moderator = "berta"

// Channels are the logins of the demo's channels.
var Channels = []string{First, Second}

// stream returns a crowd of a channel that is live. Raids come only when requested.
func stream(channel string, seed, evening uint64) *faketwitch.Crowd {
	c := &faketwitch.Crowd{Channel: channel, Seed: seed, Evening: evening, Rate: 4, Spammers: 2, Raiders: 30, RaidAt: -1, Surges: true}
	if channel == Second {
		c.Rate, c.Spammers, c.Raiders = 1.2, 1, 15
	}
	return c
}

// lull returns a crowd of a channel that is not live: a few regulars who write now and then.
func lull(channel string, seed, evening uint64) *faketwitch.Crowd {
	return &faketwitch.Crowd{Channel: channel, Seed: seed, Evening: evening, Rate: 1.0 / 40, Spammers: -1, RaidAt: -1, Surges: true}
}

// SetChannels sets the demo's channels and their policies, and how long their texts are known. The
// first has the default limits and the default ladder.
func SetChannels(c *config.Config) {
	c.Twitch.Channels = Channels
	c.Policy.Mode = chatguard.ModeEnforce
	c.TextRetention = 48 * time.Hour // previews of limits on repeated text cover all of the past
	second := c.Policy.Clone()
	second.Mode = chatguard.ModeObserve
	second.Limits = []chatguard.Limit{
		chatguard.TokenBucketLimit("burst", 5, 3*time.Second),
		chatguard.SlidingWindowLimit("hourly", 60, time.Hour),
	}
	c.Channels = map[string]chatguard.Policy{Second: second}
}
