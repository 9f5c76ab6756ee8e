package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Pardon is the effect of a user's pardon on a run of throttled messages: messages that
// throttled the user without a gap.
type Pardon struct {
	ID        int64     `json:"id"` // identifies the undo; 0 if there is none
	By        string    `json:"by"` // who gave it first, maybe another person
	At        time.Time `json:"at"`
	UndoUntil time.Time `json:"undo_until,omitzero"`
	// Again is true if the pardon was given before, or if none of the messages counted any more.
	Again bool `json:"again"`

	First    chatguard.EntryID `json:"first"` // first entry of the run
	Last     chatguard.EntryID `json:"last"`
	Since    time.Time         `json:"since"`    // time of the first message
	Messages int               `json:"messages"` // number of pardoned messages
	// HasOlder is true if the run has older messages, beyond the maximum of one pardon.
	HasOlder bool `json:"has_older"`
	// Deleted is the number of pardoned messages that were removed from the chat, which cannot be
	// undone.
	Deleted int `json:"deleted"`
	Strikes int `json:"strikes_taken"` // strikes taken back
	// StrikesLeft is the number of strikes of earlier messages that still count.
	StrikesLeft int `json:"strikes_left"`
	Dropped     int `json:"dropped"` // pending penalties that were cancelled
	// Silence is the effect on the user's timeout or ban.
	Silence SilenceResult `json:"silence"`
	// Kept is the reason why the user is still timed out or banned.
	Kept string `json:"kept,omitempty"`
	// Silenced is the timeout or ban that remains, if it is known, also one given on Twitch.
	Silenced *Silence `json:"silenced,omitempty"`
}

// IsPartial reports whether the pardon left a timeout or ban in force, strikes, or messages of the
// run.
func (p Pardon) IsPartial() bool {
	return p.Silence == SilenceKept || p.StrikesLeft > 0 || p.HasOlder
}

// SilenceResult is the effect of a pardon on a timeout or ban.
type SilenceResult string

// The results.
const (
	NotSilenced    SilenceResult = "none" // there was none
	SilenceLifted  SilenceResult = "lifted"
	SilenceLifting SilenceResult = "lifting" // in progress; lifted as soon as it takes effect
	SilenceKept    SilenceResult = "kept"    // still timed out or banned
)

// SilenceResults are all results.
var SilenceResults = []SilenceResult{NotSilenced, SilenceLifted, SilenceLifting, SilenceKept}

// Undone is the effect of undoing a Pardon.
type Undone struct {
	Messages int  `json:"messages"`
	Strikes  int  `json:"strikes_restored"`
	Lifted   bool `json:"lifted"`  // the lifted timeout or ban is not given again
	Dropped  int  `json:"dropped"` // these penalties stay cancelled
}

// EntryKey identifies an entry and its user.
type EntryKey struct {
	ID        chatguard.EntryID `json:"id"`
	ChannelID string            `json:"channel"`
	UserID    string            `json:"user"`
}

// neverThrottles is how long a message that can never pass throttles its author. A smaller message
// may pass at any time.
const neverThrottles = time.Minute

// ThrottledUntil returns the time until which a throttled message throttles its author. at is when
// it was sent. maySpeakAt is when the author may speak; the zero time means never.
func ThrottledUntil(at, maySpeakAt time.Time) time.Time {
	if maySpeakAt.IsZero() {
		return at.Add(neverThrottles)
	}
	return maySpeakAt
}

// PardonedEntries returns the first and last entry that a change in the audit pardoned, or whose
// pardon it undid. The pardon covers all entries of the change's user and channel between them. ok
// is false for other changes.
func PardonedEntries(a Audit) (first, last chatguard.EntryID, ok bool) {
	if a.Action != UserPardoned && a.Action != UserUnpardoned {
		return 0, 0, false
	}
	if one, ok := DetailOf[EntryPardonDetail](a); ok && one.Entry != 0 {
		return one.Entry, one.Entry, true
	}
	run, ok := DetailOf[UnpardonDetail](a) // which has a run's first and last entry as a PardonDetail has
	return run.First, run.Last, ok && run.Last != 0
}
