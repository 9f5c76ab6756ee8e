package journal

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/roles"
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
	// MessageKinds are empty for an ordinary message.
	MessageKinds roles.Kinds `json:"message_kind,omitempty"`
	// Print is that of the text. It is zero if the text is empty, or if there is no print any more.
	Print chatguard.TextPrint `json:"-"`
}
