package chat

import (
	"context"
	"time"

	"github.com/chatguard/chatguard"
)

// Moderator carries out penalties on a platform. Each call tries until it succeeds, until trying again can't help, or until the
// context ends. It is safe for concurrent use. What is already so (the message is gone, the user is banned) counts as success.
type Moderator interface {
	Delete(ctx context.Context, m chatguard.Message) error
	Warn(ctx context.Context, m chatguard.Message, reason string) error // and delete
	Timeout(ctx context.Context, m chatguard.Message, length time.Duration, reason string) error
	Ban(ctx context.Context, m chatguard.Message, reason string) error

	Lift(ctx context.Context, channelID, userID string) error // a timeout or a ban

	// Removed takes note of what somebody did to a user, the bot included: what others have given isn't made shorter, nor lifted.
	Removed(r Removal)

	// Left returns how many requests the platform takes within a time from now; more would have to wait. 0 is now.
	Left(within time.Duration) int

	// Trouble returns, for people, why the platform refuses all requests for now, and how its last answer failed. Both are empty if nothing is wrong.
	Trouble() (refused, failed string)

	// SlowMode returns how long everyone has to wait between two messages of theirs: on is false where they needn't.
	SlowMode(ctx context.Context, channelID string) (on bool, wait time.Duration, err error)
	SetSlowMode(ctx context.Context, channelID string, on bool, wait time.Duration) error

	// Say says something in a channel, as an answer to a message where that is named. It tries once.
	Say(ctx context.Context, channelID, text, replyTo string) error
}
