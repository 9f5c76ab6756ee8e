package limittest

import (
	"time"

	"github.com/chatguard/chatguard"
)

// EveryAlgorithm returns a limit of each algorithm, with few messages.
func EveryAlgorithm() []chatguard.Limit {
	return []chatguard.Limit{
		chatguard.TokenBucketLimit("bucket", 3, 4*time.Second),
		chatguard.LeakyBucketLimit("leaky", 4*time.Second, 2),
		chatguard.FixedWindowLimit("fixed", 5, 10*time.Second),
		{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 40, Timezone: "UTC"},
		chatguard.UserWindowLimit("user", 5, 10*time.Second),
		chatguard.SlidingWindowLimit("sliding", 5, 10*time.Second),
		{Name: "sliced", Algorithm: chatguard.SlidingWindow, Messages: 6, Every: 10 * time.Second, Slices: 5},
		chatguard.SlidingLogLimit("log", 5, 10*time.Second),
		chatguard.CascadeLimit("cascade", 2, 4*time.Second, 2, 10*time.Second),
	}
}

// Scopes are those that need no text.
var Scopes = []chatguard.Scope{chatguard.PerUser, chatguard.PerUserEverywhere, chatguard.PerChannel, chatguard.PerEverywhere}
