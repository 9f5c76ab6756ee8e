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
// try can't help, or until the context ends. The error matches ErrUnanswered if the result of a try
// isn't known. A call succeeds if the message is already gone or the user is already banned. A
// Moderator is safe for concurrent use.
type Moderator interface {
	Delete(ctx context.Context, m chatguard.Message) error
	// Warn warns the author. It doesn't delete the message.
	Warn(ctx context.Context, m chatguard.Message, reason string) error
	Timeout(ctx context.Context, m chatguard.Message, length time.Duration, reason string) error
	Ban(ctx context.Context, m chatguard.Message, reason string) error

	// Lift lifts a timeout or a ban. The error matches ErrNotSilenced if there is none.
	Lift(ctx context.Context, channelID, userID string) error

	// Removed records a moderation action on a user, including the bot's own. The Moderator does
	// not shorten or lift timeouts and bans given by others.
	Removed(r Removal)
	// Lifted records that somebody ended a user's timeout or ban.
	Lifted(l Lift)
	// Wrote records that a user sent a message. A timeout or ban from before is over.
	Wrote(channelID, userID string, at time.Time)

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

// Errors of a Moderator, for errors.Is.
var (
	// ErrFutile means that a weaker penalty for the message would fail, too.
	ErrFutile = errors.New("no penalty is possible")
	// ErrNotSilenced means that there is no timeout or ban to lift.
	ErrNotSilenced = errors.New("the user is neither timed out nor banned")
	// ErrUnanswered means that the penalty may have been carried out or not.
	ErrUnanswered = errors.New("it isn't known whether the penalty was carried out")
)

// kindError is an error that also matches one of the errors above.
type kindError struct {
	error
	kind error
}

func (e *kindError) Is(target error) bool { return target == e.kind }
func (e *kindError) Unwrap() error        { return e.error }

// NewError returns an error with a text that also matches kind, which is ErrFutile or
// ErrUnanswered.
func NewError(kind error, text string) error { return Mark(kind, errors.New(text)) }

// Mark returns the error with the same text that also matches kind, which is ErrFutile or
// ErrUnanswered.
func Mark(kind, err error) error { return &kindError{err, kind} }

// HeldError means that the platform carries out no more penalties of this kind in the channel for a
// while. It has refused this one, or nothing was sent. Weaker penalties are still possible.
type HeldError struct {
	Why  string        // for people
	Wait time.Duration // until the platform may carry them out again
	// Busy means that the platform's limit is used up. Otherwise the platform fails.
	Busy bool
}

func (e *HeldError) Error() string { return e.Why }
