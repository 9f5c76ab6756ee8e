package live

// Unread says why chatguard doesn't read a channel.
type Unread struct {
	Reason UnreadReason `json:"reason"`
	// Detail is one line for people, with commands in `backticks`. It is empty if there is nothing
	// to add.
	Detail string `json:"detail,omitempty"`
}

// UnreadReason is why a channel isn't read. Only a person can end the reasons after Unreachable.
type UnreadReason string

// The reasons why a channel isn't read.
const (
	Joining      UnreadReason = "joining"       // a connection or a join is in progress
	NoAddress    UnreadReason = "no address"    // the chat's name has no address (DNS)
	Unreachable  UnreadReason = "unreachable"   // the chat can't be reached, or breaks off
	NoToken      UnreadReason = "no token"      // reading needs a token, and there is none
	TokenRefused UnreadReason = "token refused" // reading needs a token, and the chat refuses it
	NoChannel    UnreadReason = "no channel"    // the chat has no channel of this name
	Banned       UnreadReason = "banned"        // the bot is banned in the channel
	NotAllowed   UnreadReason = "not allowed"   // a ban, or a scope that the token lacks
	OtherChannel UnreadReason = "other channel" // another account has the name by now
	NotAnswered  UnreadReason = "not answered"  // the chat lets nobody in, and says no reason
	OtherReason  UnreadReason = "other"         // the detail says why
)

// UnreadReasons are all reasons.
var UnreadReasons = []UnreadReason{
	Joining, NoAddress, Unreachable, NoToken, TokenRefused, NoChannel, Banned, NotAllowed, OtherChannel, NotAnswered, OtherReason,
}

// Unidentified is a channel of the configuration whose ID isn't known yet. Nothing is recorded of
// it.
type Unidentified struct {
	Login string `json:"login"`
	Unread
}
