package twitch

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// The reasons to skip a frame that can be read.
const (
	Stale        SkipReason = "older than ten minutes"
	Repeated     SkipReason = "had already"
	OtherChannel SkipReason = "of another channel than was subscribed to"
)

// The kinds of frames.
const (
	frameWelcome      = "session_welcome"
	frameReconnect    = "session_reconnect"
	frameNotification = "notification"
	frameRevocation   = "revocation"
)

// maxFrameID bounds the ID of a frame, which is remembered for a while.
const maxFrameID = 128

// eventFrame is one frame of EventSub.
type eventFrame struct {
	Metadata struct {
		ID   string    `json:"message_id"`
		Kind string    `json:"message_type"`
		At   eventTime `json:"message_timestamp"`
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

// readFrame reads a frame. A notification may have parts of another type than is known: they are as good as not there. The error is a SkipReason.
func readFrame(text []byte) (f eventFrame, err error) {
	err = json.Unmarshal(text, &f) // which reads on after a value of another type
	strange, _ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err != nil && strange == nil, f.Metadata.Kind == "":
		return f, Malformed
	case f.Metadata.Kind != frameNotification && strange != nil:
		return f, Malformed
	case f.Metadata.Kind != frameNotification:
		return f, nil
	case !isID(f.Metadata.ID) || len(f.Metadata.ID) > maxFrameID:
		return f, NoMessageID
	}
	return f, nil
}

// eventTime is a time in a frame. What isn't a time that a message may have is as good as none.
type eventTime struct{ time.Time }

// UnmarshalJSON reads a time in RFC 3339. It never fails: a frame is of use without its time.
func (t *eventTime) UnmarshalJSON(data []byte) error {
	at, err := time.Parse(time.RFC3339Nano, strings.Trim(string(data), `"`)) // a time has nothing that JSON would escape
	if ms := at.UnixMilli(); err == nil && ms > 0 && ms <= maxMillis {
		t.Time = at.Local()
	}
	return nil
}
