package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Person is a user as they were last seen in a channel.
type Person struct {
	UserID   string          `json:"user_id"`
	Login    string          `json:"login"`
	Roles    chatguard.Roles `json:"roles"`
	LastSeen time.Time       `json:"last_seen"`
}

// QuarterHour is how much a user's messages spent in a quarter of an hour.
type QuarterHour struct {
	At    time.Time // its beginning
	Spent int       // the cost of the messages that were judged and allowed, and as much of those that were throttled as counts all the same
}

// Minute is how busy a channel was in a minute.
type Minute struct {
	ChannelID string
	At        time.Time // its beginning
	Messages  uint32    // all of them
	Throttled uint32    // those that were throttled, or observed
	Observed  uint32    // of those that were throttled: only observed
}

// Target is the user that a change is about, and who makes it.
type Target struct {
	ChannelID string
	UserID    string
	Author    string
}
