package journal

// Maximum lengths of a message's texts in an Entry, in bytes. Twitch's texts are shorter: names
// have 25 characters, and messages 500.
const (
	MaxName = 200
	MaxID   = 256 // for an ID; user and channel IDs fit
	MaxText = 2000

	// MaxAskedID is the maximum length of an ID that another chat's server uses for a channel or
	// user. It leaves room for the prefix that chatguard adds.
	MaxAskedID = 250
)
