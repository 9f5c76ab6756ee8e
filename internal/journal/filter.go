package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// EntryFilter selects entries. The zero value selects all; set N, the maximum number.
type EntryFilter struct {
	ChannelID string
	UserID    string
	User      string              // ID or login
	UserIDs   []string            // nil for all users; needs ChannelID
	IDs       []chatguard.EntryID // nil for all entries
	Limit     string              // the limit that throttled the message
	Action    string              // of the outcome, as Action spells it
	Result    Result              // of the outcome
	From      time.Time           // of the message, inclusive
	Until     time.Time           // of the message, exclusive
	Before    chatguard.EntryID   // ID; only older entries; 0 for the newest
	N         int                 // maximum number
}

// AuditFilter selects changes. The zero value selects all; set N, the maximum number.
type AuditFilter struct {
	ChannelID string
	// IsWhole adds the changes of the whole installation to those of ChannelID.
	IsWhole bool
	UserID  string
	User    string   // ID; or login, if ChannelID is set
	UserIDs []string // nil for all changes
	Author  string
	Action  AuditAction
	// Pardoned selects pardons of these entries, and changes that undid such pardons. If it is
	// empty, all kinds of changes are selected.
	Pardoned []EntryKey
	Before   int64 // ID; only older changes; 0 for the newest
	N        int   // maximum number
}
