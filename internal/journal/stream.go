package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Stream is a broadcast of a channel. A short interruption belongs to its stream.
type Stream struct {
	ChannelID string    `json:"channel"`
	Start     time.Time `json:"start"`
	// Seen is when the stream was last known to run. It is the stream's end once it has Ended.
	Seen  time.Time `json:"seen"`
	Ended bool      `json:"ended"`
}

// Throttling sums up the throttled messages of a channel in a period.
type Throttling struct {
	Users         int `json:"users"`    // with throttled messages
	Messages      int `json:"messages"` // that were throttled
	ObservedUsers int `json:"observed_users"`
	Observed      int `json:"observed_messages"` // messages that were only observed
	TimedOut      int `json:"timed_out_users"`
	Banned        int `json:"banned_users"`
	// Top are the users with the most throttled messages, the highest number first.
	Top []UserThrottling `json:"top"`
}

// UserThrottling sums up the throttled messages of a user in a channel and a period.
type UserThrottling struct {
	UserID      string `json:"user_id"`
	Login       string `json:"login"`
	DisplayName string `json:"display_name"`
	Throttled   int    `json:"throttled"` // throttled messages
	Observed    int    `json:"observed"`  // messages that were only observed
	TimedOut    int    `json:"timed_out"` // timeouts by chatguard
	Banned      int    `json:"banned"`    // bans by chatguard
}

// Add counts an entry of the user.
func (u *UserThrottling) Add(o Outcome) {
	switch {
	case o.Result == Observed:
		u.Observed++
		return
	case o.Result == Done && o.Action == chatguard.ActionTimeout:
		u.TimedOut++
	case o.Result == Done && o.Action == chatguard.ActionBan:
		u.Banned++
	}
	u.Throttled++
}
