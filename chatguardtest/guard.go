package chatguardtest

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
)

// NewThrottlingGuard returns a Guard that throttles all messages in the channels, for users of any
// role. It allows all messages in other channels. Its verdicts name the limit "test", and their
// RetryAfter is one hour. The Guard's clock stands still at the time of the call, so the channels
// stay throttled. For a server with package httpguard, the channel is httpguard.MainChannel, unless
// its options name another one.
//
// NewThrottlingGuard panics if a channel ID is empty or longer than 256 bytes.
func NewThrottlingGuard(channelIDs ...string) *chatguard.Guard {
	now := time.Now()
	guard, err := chatguard.New(chatguard.Policy{}, &chatguard.Options{Now: func() time.Time { return now }})
	if err != nil {
		panic(err)
	}
	one := chatguard.TokenBucketLimit("test", 1, time.Hour)
	one.Per = chatguard.PerChannel
	for _, id := range channelIDs {
		if err := guard.SetChannelPolicy(id, chatguard.Policy{Limits: []chatguard.Limit{one}}); err != nil {
			panic(err)
		}
		if _, err := guard.Check(context.Background(), chatguard.Message{ChannelID: id, User: chatguard.User{ID: "test"}}); err != nil {
			panic(err)
		}
	}
	return guard
}
