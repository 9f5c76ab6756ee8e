package helix

import (
	"errors"

	"github.com/chatguard/chatguard/internal/chat"
)

// The errors of a request, for errors.Is.
var (
	// ErrProtected means that the author is a moderator or the broadcaster, whom Twitch doesn't
	// allow anyone to moderate.
	ErrProtected = chat.NewError(chat.ErrFutile, "Twitch protects moderators and the broadcaster; exempt their roles in the policy")

	// ErrNotOurs means that somebody else gave the sanction, so the bot doesn't lift it.
	ErrNotOurs = errors.New("somebody else has timed out or banned this user since: lift that in the chat")

	// ErrBanned means that the user is already banned.
	ErrBanned = errors.New("the user is already banned")

	// ErrDropped means that Twitch accepted a chat message but doesn't show it. The wrapping error
	// quotes the reason.
	ErrDropped = errors.New("Twitch dropped the chat message")
)

// errNeedless means that a request was not sent because it is no longer needed.
var errNeedless = errors.New("there is nothing left to do")
