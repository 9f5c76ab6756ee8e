package chat

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
)

// Message is a message as a chat delivers it: the part that is judged, and what else the chat says.
type Message struct {
	chatguard.Message
	// SourceChannelID is the channel in which the message was written, if the chat mirrors
	// messages. Empty means ChannelID.
	SourceChannelID string
	Color           string // of the author's name, such as "#1e90ff"; may be empty
}

// Mirrored reports whether the message was written in a different channel from the one in which it
// appeared.
func (m *Message) Mirrored() bool {
	return m.SourceChannelID != "" && m.SourceChannelID != m.ChannelID
}

// Source is a connection to a chat. Run reads until the context ends, reconnects on its own, and
// passes messages and removals to the sink. It returns nil if the context ended, or an error if
// another try can't help.
type Source interface {
	Run(ctx context.Context, sink Sink) error
}

// Sink receives what a Source reads, in the order in which the chat sent it. Messages may be called
// concurrently for different channels, but not for the same one. Removed may be called at any time.
type Sink interface {
	// Messages receives one or more messages that arrived together. read is when this machine read
	// the first of them; zero means unknown. When Messages returns, the Source may reuse the slice.
	// The Source may deliver a message twice with the same ID, for example after a reconnect.
	Messages(read time.Time, messages []Message)
	// Removed reports that somebody removed messages, possibly the bot itself.
	Removed(Removal)
	// Lifted reports that somebody ended a timeout or a ban, possibly the bot itself.
	Lifted(Lift)
}

// Lift says whose timeout or ban somebody ended.
type Lift struct {
	ChannelID string
	UserID    string
	At        time.Time // time by the chat's clock; zero if unknown
}

// Removal says which messages somebody removed: one message, or all messages of a user who was
// timed out or banned. If MessageID and UserID are empty, all messages in the channel were removed.
type Removal struct {
	ChannelID string
	MessageID string // set if a single message was removed
	UserID    string // author; empty if the chat doesn't say
	Login     string // of a user who was timed out or banned; empty if the chat doesn't say
	// Silence is the duration of a timeout; 0 for a ban, or if no user was silenced.
	Silence time.Duration
	Banned  bool      // the user was banned permanently
	By      string    // moderator's login; empty if unknown
	At      time.Time // time by the chat's clock; zero if unknown
}
