package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Person is a user as last seen in a channel.
type Person struct {
	UserID string `json:"user_id"`
	Login  string `json:"login"`
	// DisplayName is empty if it equals the login, or if the chat has none.
	DisplayName string          `json:"display_name,omitempty"`
	Roles       chatguard.Roles `json:"roles"`
	LastSeen    time.Time       `json:"last_seen"`
}

// QuarterHour is a user's usage in a quarter of an hour.
type QuarterHour struct {
	At time.Time // start of the quarter
	// Spent is the cost of the allowed messages, plus the part of the throttled messages' cost that
	// counts.
	Spent int
}

// Minute is a channel's activity in one minute.
type Minute struct {
	ChannelID string
	At        time.Time // start of the minute
	Messages  uint32    // all messages
	Throttled uint32    // including those that were only observed
	Observed  uint32    // throttled messages that were only observed
	Low       uint32    // allowed at low priority
}

// Target is the user that a change is about, and the author of the change.
type Target struct {
	ChannelID string
	UserID    string
	Author    string
}

// Key returns the key of the user's state in the channel.
func (t Target) Key() chatguard.Key {
	return chatguard.Key{ChannelID: t.ChannelID, UserID: t.UserID}
}
