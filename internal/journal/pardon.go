package journal

import (
	"fmt"
	"strconv"
	"time"

	"github.com/chatguard/chatguard"
)

// Pardon is what the pardon of a user has done: of a run of throttled messages, all that were held back without a pause in between.
type Pardon struct {
	ID        int64     `json:"id"` // undoes it; 0 if there is nothing to undo
	By        string    `json:"by"` // who gave it: somebody else if it was given before
	At        time.Time `json:"at"`
	UndoUntil time.Time `json:"undo_until,omitzero"`
	Again     bool      `json:"again"` // it was given before, or nothing counted any more

	First       chatguard.EntryID `json:"first"` // of the run
	Last        chatguard.EntryID `json:"last"`
	Since       time.Time         `json:"since"`          // the time of the first message
	Messages    int               `json:"messages"`       // that were pardoned
	HasOlder    bool              `json:"has_older"`      // the run has older messages, too many for one pardon
	Deleted     int               `json:"deleted"`        // messages among them that were removed from the chat, which is final
	Strikes     int               `json:"strikes_taken"`  // that were taken back
	StrikesLeft int               `json:"strikes_left"`   // that count, because of earlier messages
	Dropped     int               `json:"dropped"`        // penalties that were still waiting and will not be carried out
	Silence     SilenceResult     `json:"silence"`        // what became of the user's timeout or ban
	Kept        string            `json:"kept,omitempty"` // why the user is silenced still
}

// SilenceResult says what became of a timeout or a ban when its user was pardoned.
type SilenceResult string

// The results.
const (
	NotSilenced    SilenceResult = "none"
	SilenceLifted  SilenceResult = "lifted"
	SilenceLifting SilenceResult = "lifting" // it was just being given, and is lifted as soon as it is there
	SilenceKept    SilenceResult = "kept"    // the user is silenced still
)

// SilenceResults are all of them.
var SilenceResults = []SilenceResult{NotSilenced, SilenceLifted, SilenceLifting, SilenceKept}

// Undone is what undoing a Pardon has brought back.
type Undone struct {
	Messages int  `json:"messages"`
	Strikes  int  `json:"strikes_restored"`
	Lifted   bool `json:"lifted"`  // the timeout or ban that was lifted isn't given again
	Dropped  int  `json:"dropped"` // nor are these penalties carried out
}

// EntryKey names an entry, and whose it is.
type EntryKey struct {
	ID        chatguard.EntryID `json:"id"`
	ChannelID string            `json:"channel"`
	UserID    string            `json:"user"`
}

// neverHolds is how long a message holds its author back that no waiting helps: a smaller one may pass at any time.
const neverHolds = time.Minute

// HeldUntil is when a throttled message of that time no longer holds its author back, who may speak at maySpeakAt; the zero time means never.
func HeldUntil(at, maySpeakAt time.Time) time.Time {
	if maySpeakAt.IsZero() {
		return at.Add(neverHolds)
	}
	return maySpeakAt
}

// PardonedEntries returns the first and the last entry that a change in the audit has pardoned, or of which it has undone the pardon: of its user and
// channel, those and all in between. ok is false if it is no such change. The detail is as JSON has it, with numbers as json.Number.
func PardonedEntries(a Audit) (first, last chatguard.EntryID, ok bool) {
	if a.Action != UserPardoned && a.Action != UserUnpardoned {
		return 0, 0, false
	}
	detail, _ := a.Detail.(map[string]any)
	number := func(name string) chatguard.EntryID {
		n, err := strconv.ParseInt(fmt.Sprint(detail[name]), 10, 64)
		ok = ok || err == nil
		return chatguard.EntryID(n)
	}
	if first, last = number("first"), number("last"); !ok {
		first = number("entry")
		last = first
	}
	return first, last, ok
}
