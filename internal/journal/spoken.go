package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Spoken is one message in the timeline: who spoke when, with which roles and at which cost. It doesn't say what.
type Spoken struct {
	At        time.Time       `json:"at"` // the message's time
	ChannelID string          `json:"channel"`
	UserID    string          `json:"user_id"`
	Login     string          `json:"login"`
	Roles     chatguard.Roles `json:"roles"`
	Cost      int             `json:"cost"`
}
