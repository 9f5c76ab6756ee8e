package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// EntryFilter says which entries are wanted. Its zero value wants all; N has to be set.
type EntryFilter struct {
	ChannelID string
	UserID    string
	User      string            // ID, or login
	Limit     string            // that throttled
	Action    string            // that the outcome tells of, as chatguard.Action spells it
	Result    Result            // of the outcome
	From      time.Time         // of the message; included
	Until     time.Time         // of the message; not included
	Before    chatguard.EntryID // only older entries than this one; 0 begins with the newest
	N         int               // at most so many
}

// AuditFilter says which changes are wanted. Its zero value wants all; N has to be set.
type AuditFilter struct {
	ChannelID string
	UserID    string
	User      string // ID, or login in the channel, if one is named
	Author    string
	Action    AuditAction
	Pardoned  []EntryKey // only pardons of these entries, and what undid them; empty: whatever was changed
	Before    int64      // only older ones than this; 0 begins with the newest
	N         int        // at most so many
}
