package eventsub

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// Reasons to skip a frame that can be read.
const (
	Stale        twitch.SkipReason = "older than ten minutes"
	Repeated     twitch.SkipReason = "had already"
	OtherChannel twitch.SkipReason = "of another channel than was subscribed to"
)

// Kinds of frames.
const (
	frameWelcome      = "session_welcome"
	frameReconnect    = "session_reconnect"
	frameNotification = "notification"
	frameRevocation   = "revocation"
)

// maxFrameID limits the length of a frame's ID, which is kept for a while.
const maxFrameID = 128

// frame is one frame of EventSub.
type frame struct {
	Metadata struct {
		ID   string    `json:"message_id"`
		Kind string    `json:"message_type"`
		At   timestamp `json:"message_timestamp"`
	} `json:"metadata"`
	Payload struct {
		Session struct {
			ID           string `json:"id"`
			Keepalive    int64  `json:"keepalive_timeout_seconds"`
			ReconnectURL string `json:"reconnect_url"`
		} `json:"session"`
		Subscription struct {
			ID        string `json:"id"`
			Status    string `json:"status"`
			Kind      string `json:"type"`
			Condition struct {
				ChannelID string `json:"broadcaster_user_id"`
			} `json:"condition"`
		} `json:"subscription"`
		Event event `json:"event"`
	} `json:"payload"`
}

// readFrame reads a frame. Fields of a notification that have an unexpected type are ignored. The
// error is a SkipReason.
func readFrame(text []byte) (f frame, err error) {
	err = json.Unmarshal(text, &f) // continues after a value of the wrong type
	strange, _ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err != nil && strange == nil, f.Metadata.Kind == "":
		return f, twitch.Malformed
	case f.Metadata.Kind != frameNotification && strange != nil:
		return f, twitch.Malformed
	case f.Metadata.Kind != frameNotification:
		return f, nil
	case !twitch.IsID(f.Metadata.ID) || len(f.Metadata.ID) > maxFrameID:
		return f, twitch.NoMessageID
	}
	return f, nil
}

// timestamp is a time in a frame. A value that is not a valid time of a message is read as the zero
// time.
type timestamp struct{ time.Time }

// UnmarshalJSON reads a time in RFC 3339. It never fails, because a frame is useful without its
// time.
func (t *timestamp) UnmarshalJSON(data []byte) error {
	// Trim suffices: a time has no character that JSON escapes.
	at, err := time.Parse(time.RFC3339Nano, strings.Trim(string(data), `"`))
	if ms := at.UnixMilli(); err == nil && ms > 0 && ms <= twitch.MaxMillis {
		t.Time = at.Local()
	}
	return nil
}
