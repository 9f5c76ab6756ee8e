package twitch

import (
	"errors"
	"fmt"

	"github.com/chatguard/chatguard/internal/chat"
)

// Unanswered returns the error with the same text that also matches chat.ErrUnanswered.
func Unanswered(err error) error { return chat.Mark(chat.ErrUnanswered, err) }

// Unsure adds to the error of a request that an earlier try may have been carried out. It returns
// err unchanged if err is nil or matches chat.ErrUnanswered.
func Unsure(err error) error {
	if err == nil || errors.Is(err, chat.ErrUnanswered) {
		return err
	}
	return fmt.Errorf("%w; %w", err, ErrUnsure)
}

// Errors for use with errors.Is. Each text is one line, which ends with the fix if there is one.
// Wrapping errors name the attempted action.
var (
	// ErrChannel means that the name is not a valid channel name.
	ErrChannel = errors.New("channels need their login name, up to 25 letters, digits and underscores, as in twitch.tv/name")

	// ErrToken means that Helix or the identity server refused the token, or that there is none.
	ErrToken = chat.NewError(chat.ErrFutile, "Twitch refused the access token; run `chatguard login`, or set CHATGUARD_TWITCH_TOKEN to a valid one")

	// ErrScope means that the token doesn't allow the request. The wrapping error quotes Twitch,
	// which names the scope.
	ErrScope = errors.New("the token lacks a scope; run `chatguard login` again")

	// ErrNotModerator means that the token's user may not moderate in that channel.
	ErrNotModerator = chat.NewError(chat.ErrFutile, "the bot is not a moderator in this channel; let the broadcaster type /mod and the bot's name in its chat")

	// ErrUnsafe means that the request was not sent because it would have done more than intended.
	ErrUnsafe = errors.New("not sent, because it would do more than intended")

	// ErrBusy means that the request budget was empty for too long.
	ErrBusy = errors.New("Twitch's request budget is used up; loosen the limits or moderate fewer channels")

	// ErrLimited means that Twitch refuses a request because there were too many of its kind,
	// although the request budget isn't empty.
	ErrLimited = errors.New("Twitch accepts no more requests of this kind for now; try again in a minute")

	// ErrUnavailable means that Twitch could not be reached or failed, several times in a row.
	ErrUnavailable = errors.New("Twitch could not be reached or failed; check status.twitch.tv and this machine's network")

	// ErrUnsure means that a request failed, but that an earlier try of it may have been carried
	// out.
	ErrUnsure = chat.NewError(chat.ErrUnanswered, "an earlier try may have been carried out")

	// ErrConflict means that somebody else changed the same thing at the same time, several times
	// in a row.
	ErrConflict = errors.New("somebody else was changing the same at Twitch; try again")

	// ErrRejected means that Twitch refused the request for a reason that the wrapping error
	// quotes.
	ErrRejected = errors.New("Twitch refused the request")
)

// Errors that end one connection. The next connection is made after a delay.
var (
	ErrHandshake = errors.New("the chat server sent no welcome in time")
	ErrClosed    = errors.New("the chat server closed the connection")
	ErrSilent    = errors.New("the chat server fell silent")
	ErrReconnect = errors.New("the chat server asked to reconnect")
)

// Broken returns the error of a connection that ended without an explanation.
func Broken(err error) error { return fmt.Errorf("the chat connection broke: %w", err) }
