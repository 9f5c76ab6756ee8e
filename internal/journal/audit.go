package journal

import "time"

// Audit is the record of a change: who changed what.
type Audit struct {
	// ID increases with time. It is 0 until the store has numbered the record.
	ID int64     `json:"id"`
	At time.Time `json:"at"`
	// Author is ProgramAuthor, "owner", or an origin and a name, such as "token:anna". In records
	// of earlier versions, it is a name without its origin.
	Author    string      `json:"author"`
	Action    AuditAction `json:"action"`
	ChannelID string      `json:"channel"` // empty if the change is about the whole installation
	UserID    string      `json:"user_id"` // empty if the change is about no single user
	// Detail has the action's arguments. It is nil if there are none.
	Detail Detail `json:"detail"`
}

// TwitchAuthor is the prefix of authors from Twitch: they wrote a command in its chat or signed in
// with their account.
const TwitchAuthor = "twitch:"

// ProgramAuthor is the author of what chatguard does by itself.
const ProgramAuthor = "chatguard"

// AuditAction is a kind of change.
type AuditAction string

// The kinds of changes.
const (
	PolicyChanged   AuditAction = "policy"   // revision of a channel's policy
	PolicyDiscarded AuditAction = "discard"  // back to the configuration's policy
	UserGranted     AuditAction = "grant"    // extra messages for the user
	UserReset       AuditAction = "reset"    // the user's state is cleared
	UserPardoned    AuditAction = "pardon"   // throttled messages are forgiven
	UserUnpardoned  AuditAction = "unpardon" // a pardon is undone
	// UserOverridden means that the user's override was set or removed: their numbers, time zone or
	// exemption.
	UserOverridden AuditAction = "override"
	UserExempted   AuditAction = "exempt"      // no limits, for a while or permanently
	UserNoted      AuditAction = "note"        // a note on the user was added
	NoteDeleted    AuditAction = "delete_note" // a note on the user was deleted
	ChannelPaused  AuditAction = "pause"       // the channel only observes
	ChannelResumed AuditAction = "resume"      // the channel follows its policy again
	RaidSwitched   AuditAction = "raid"        // raid mode on until a time, or off

	ChatModesChanged AuditAction = "chat_modes" // a person switched modes of the chat, such as slow mode

	SettingsChanged AuditAction = "settings" // the channel's settings: raid mode, notices, moderators' rights
	BotConnected    AuditAction = "login"    // the bot's account was logged in
	UserTimedOut    AuditAction = "timeout"  // a person timed the user out
	UserBanned      AuditAction = "ban"      // a person banned the user
	UserLifted      AuditAction = "lift"     // a person ended the user's timeout or ban
	WebhookChanged  AuditAction = "webhook"  // a webhook was changed; see WebhookDetail.Did
	// Unconfirmed means that a change may have been made: the reply of the shared store or of the
	// chat was lost. See UnconfirmedDetail.Action.
	Unconfirmed AuditAction = "unconfirmed"

	// The following changes are about the whole installation, so they have no channel.
	TokenMade    AuditAction = "token_made"    // a named token was made
	TokenEnded   AuditAction = "token_ended"   // a name's token, links and sessions were ended
	LinkMade     AuditAction = "link_made"     // a sign-in link was made
	LinkEnded    AuditAction = "link_ended"    // an unused sign-in link was ended
	SessionEnded AuditAction = "session_ended" // somebody's session was ended
)

// AuditActions are all actions.
var AuditActions = []AuditAction{
	PolicyChanged, PolicyDiscarded, UserGranted, UserReset, UserPardoned, UserUnpardoned, UserOverridden, UserExempted, UserNoted, NoteDeleted, ChannelPaused, ChannelResumed, RaidSwitched,
	ChatModesChanged,
	SettingsChanged, BotConnected, UserTimedOut, UserBanned, UserLifted, WebhookChanged, Unconfirmed, TokenMade, TokenEnded, LinkMade, LinkEnded, SessionEnded,
}
