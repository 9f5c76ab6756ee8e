package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// Message is one chat line as the Guard sees it: who, where, when, and what it costs.
//
// ChannelID and User.ID are required; everything else may stay empty. Limits count by IDs, never by names, because names change.
type Message struct {
	ID              string    // the platform's ID of this message; needed to delete it
	ChannelID       string    // the channel it appeared in
	SourceChannelID string    // the channel it was written in, where a platform mirrors messages; empty means ChannelID
	User            User      // who wrote it
	Text            string    // what was written; the Guard doesn't read it
	SentAt          time.Time // when it was sent, from 1970 to February 2116; zero means now, by the Guard's clock
	Cost            int       // how many messages it counts as; 0 means 1, less is an error
}

// Validate returns nil where the message can be judged, and else why not, as Check does: ErrNoChannel, ErrNoUser, ErrLongID, ErrCost or ErrTime.
func (m *Message) Validate() error {
	at := m.SentAt
	if at.IsZero() {
		at = time.Unix(0, 0) // now is always fine
	}
	var q limits.Request
	return m.request(&q, at, 0)
}

// Mirrored reports whether the message was written in another channel than the one it appeared in.
func (m *Message) Mirrored() bool {
	return m.SourceChannelID != "" && m.SourceChannelID != m.ChannelID
}

// User is the author of a message.
type User struct {
	ID          string // stable for as long as the account lives
	Login       string // name used in addresses and commands; may change
	DisplayName string // name as shown; may be empty
	Roles       Roles  // what the user is in this channel; the zero value is an ordinary chatter
}

// Name is the name to show for the user: the display name, else the login, else the ID.
func (u *User) Name() string {
	switch {
	case u.DisplayName != "":
		return u.DisplayName
	case u.Login != "":
		return u.Login
	}
	return u.ID
}
