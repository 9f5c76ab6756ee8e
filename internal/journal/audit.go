package journal

import "time"

// Audit says who changed what.
type Audit struct {
	ID        int64       `json:"id"` // rises with time; 0 until the store has numbered it
	At        time.Time   `json:"at"`
	Author    string      `json:"author"` // a name that somebody comes in with, or TwitchAuthor and a login
	Action    AuditAction `json:"action"`
	ChannelID string      `json:"channel"`
	UserID    string      `json:"user_id"` // empty where no single user is meant
	Detail    any         `json:"detail"`  // what the action was given, as JSON has it; nil where there is nothing to say
}

// TwitchAuthor is what the author begins with who wrote a command in Twitch's chat. No name that somebody comes in with begins so.
const TwitchAuthor = "twitch:"

// AuditAction is a kind of change that people make.
type AuditAction string

// What people change.
const (
	PolicyChanged   AuditAction = "policy"   // a revision of a channel's policy
	PolicyDiscarded AuditAction = "discard"  // back to the configuration's policy
	UserGranted     AuditAction = "grant"    // extra messages
	UserReset       AuditAction = "reset"    // the user starts fresh
	UserPardoned    AuditAction = "pardon"   // throttled messages are forgiven
	UserUnpardoned  AuditAction = "unpardon" // a pardon is undone
	UserOverridden  AuditAction = "override" // the user has numbers, a zone or an exemption of their own, or no longer has
	UserExempted    AuditAction = "exempt"   // no limits, for a while
	ChannelPaused   AuditAction = "pause"    // the channel only observes
	ChannelResumed  AuditAction = "resume"   // the channel does what its policy says
	RaidSwitched    AuditAction = "raid"     // raid mode is on until a time, or off
)

// AuditActions are all of them.
var AuditActions = []AuditAction{
	PolicyChanged, PolicyDiscarded, UserGranted, UserReset, UserPardoned, UserUnpardoned, UserOverridden, UserExempted, ChannelPaused, ChannelResumed, RaidSwitched,
}
