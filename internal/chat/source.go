package chat

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
)

// Source is a connection to a chat. Run reads until the context ends, reconnects by itself, and hands what it reads to the sink. It returns
// nil when the context ended, and an error only where trying again can't help.
type Source interface {
	Run(ctx context.Context, sink Sink) error
}

// Sink takes what a Source reads, in the order in which the chat sent it. Its methods are never called at the same time.
type Sink interface {
	// Messages takes messages, several at once where several had arrived. The slice is the Source's again when it returns. The Source may hand a
	// message over twice, as after a reconnect: they have the same ID then.
	Messages([]chatguard.Message)
	// Removed takes note that messages are gone, whoever removed them, the bot included.
	Removed(Removal)
}

// Removal says which messages somebody took away: one; all of a user's, who was timed out or banned; or, without either ID, all of the channel.
type Removal struct {
	ChannelID string
	MessageID string        // of the one message
	UserID    string        // whose messages; empty where the chat doesn't tell
	Silence   time.Duration // of a timeout; 0 for a ban, and where no user was silenced
	Banned    bool          // the user was banned for good
	By        string        // login of who did it; empty where the chat doesn't tell
	At        time.Time     // when, by the chat's clock; zero where it doesn't tell
}
