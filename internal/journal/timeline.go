package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// TimelineMessage is one message in the timeline: its author, time, roles, cost and kind. It does
// not contain the text.
type TimelineMessage struct {
	At        time.Time       `json:"at"` // the message's time
	ChannelID string          `json:"channel"`
	UserID    string          `json:"user_id"`
	Login     string          `json:"login"`
	Roles     chatguard.Roles `json:"roles"`
	Cost      int             `json:"cost"`
	// MessageKind is zero for an ordinary message.
	MessageKind chatguard.MessageKind `json:"message_kind,omitzero"`
}
