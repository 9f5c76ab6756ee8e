package chat

import (
	"context"
	"errors"
	"time"

	"github.com/chatguard/chatguard"
)

// ErrNoParent means that a message can't be replied to, for example because it was deleted.
var ErrNoParent = errors.New("the message can't be replied to")

// Moderator carries out penalties on a platform. Each call retries until it succeeds, until another
// try can't help, or until the context ends. A call succeeds if the message is already gone or the
// user is already banned. A Moderator is safe for concurrent use.
type Moderator interface {
	Delete(ctx context.Context, m chatguard.Message) error
	Warn(ctx context.Context, m chatguard.Message, reason string) error // also deletes the message
	Timeout(ctx context.Context, m chatguard.Message, length time.Duration, reason string) error
	Ban(ctx context.Context, m chatguard.Message, reason string) error

	Lift(ctx context.Context, channelID, userID string) error // lifts a timeout or a ban

	// Removed records a moderation action on a user, including the bot's own. The Moderator does
	// not shorten or lift timeouts and bans given by others.
	Removed(r Removal)

	// Left returns how many requests the platform accepts within a duration from now; more would
	// have to wait. A duration of 0 means now.
	Left(within time.Duration) int

	// Trouble returns why the platform currently refuses all requests, and how its last answer
	// failed, as text for people. Both are empty if nothing is wrong.
	Trouble() (refused, failed string)

	// SlowMode returns the minimum time between two messages of a user. on is false if slow mode is
	// off.
	SlowMode(ctx context.Context, channelID string) (on bool, wait time.Duration, err error)
	SetSlowMode(ctx context.Context, channelID string, on bool, wait time.Duration) error

	// Say sends text to a channel, in reply to a message if replyTo is its ID. The text is one line
	// of 1 to 500 characters, as hostile.OneLine returns it. Say doesn't retry. The error is
	// ErrNoParent if the platform refuses the text because it can't be a reply to that message.
	Say(ctx context.Context, channelID, text, replyTo string) error
}
