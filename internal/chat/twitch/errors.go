package twitch

import "errors"

// busyThere is an ErrBusy about one channel, while there is budget left.
type busyThere struct{}

func (busyThere) Error() string {
	return "Twitch takes no more requests about this channel for now; looser limits need less of them"
}

func (busyThere) Is(target error) bool { return target == ErrBusy }

var errBusyThere error = busyThere{}

// What can go wrong, for errors.Is. Each text is one line that ends in the mend; errors that wrap them say what was tried.
var (
	// ErrLogin: Twitch's chat refuses login or token. Trying again can't help.
	ErrLogin = errors.New("Twitch chat refused the login; run `chatguard login`, or set CHATGUARD_TWITCH_TOKEN to a valid token of the bot's account")

	// ErrChannel: the name can't be a channel's.
	ErrChannel = errors.New("channels need their login name, up to 25 letters, digits and underscores, as in twitch.tv/name")

	// ErrToken: Helix or the identity server refuses the token, or there is none.
	ErrToken = errors.New("Twitch refused the access token; run `chatguard login`, or set CHATGUARD_TWITCH_TOKEN to a valid one")

	// ErrScope: the token doesn't allow this. The wrapping error quotes Twitch, which names the scope.
	ErrScope = errors.New("the token lacks a scope; run `chatguard login` again")

	// ErrNotModerator: the token's user may not moderate in that channel.
	ErrNotModerator = errors.New("the bot is no moderator in this channel; let the broadcaster type /mod and the bot's name in its chat")

	// ErrProtected: the author is a moderator or the broadcaster, whom Twitch lets nobody moderate.
	ErrProtected = errors.New("Twitch protects moderators and the broadcaster; exempt their roles in the policy")

	// ErrNotOurs: the silence isn't the bot's to lift.
	ErrNotOurs = errors.New("somebody else has silenced this user since: lift that in the chat")

	// ErrUnsafe: the request was not sent, because it would have done more than meant.
	ErrUnsafe = errors.New("not sent, because it would do more than meant")

	// ErrBusy: the request budget was empty for too long.
	ErrBusy = errors.New("Twitch's request budget is used up; looser limits or fewer channels need less of it")

	// ErrUnavailable: Twitch could not be reached or failed, several times in a row.
	ErrUnavailable = errors.New("Twitch could not be reached or failed; look at status.twitch.tv and at this machine's network")

	// ErrDropped: Twitch took a chat message, but shows it to nobody, for a reason that the wrapping error quotes.
	ErrDropped = errors.New("Twitch dropped the chat message")

	// ErrRejected: Twitch refuses the request for a reason of its own, which the wrapping error quotes.
	ErrRejected = errors.New("Twitch refused the request")
)

// What a request comes to without having been carried out.
var (
	errBanned   = errors.New("the user is banned already")
	errNeedless = errors.New("there is nothing left to do")
)

// What ends one connection; the next is made after a delay.
var (
	errHandshake = errors.New("the chat server said no welcome in time")
	errClosed    = errors.New("the chat server closed the connection")
	errSilence   = errors.New("the chat server fell silent")
	errReconnect = errors.New("the chat server asked to reconnect")
	errRefused   = errors.New("the chat server refused the token; there is another one by now")
	errNoTags    = errors.New("the chat server can't send tags, which say who wrote a message")
)
