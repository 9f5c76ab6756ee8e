// Package journal holds the records that the bot, the store and the dashboard share and that an embedder has no use for: what was done
// about a throttled message and how that went, and who changed a policy. It knows types only: no storage, no network, no clock.
package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Entry is the durable record of one throttled (or, while observing, would-be throttled) message. Its outcome starts as Pending, or as
// Observed where nothing is to be done.
type Entry struct {
	ID          chatguard.EntryID `json:"id"`
	At          time.Time         `json:"at"` // the message's time
	ChannelID   string            `json:"channel"`
	UserID      string            `json:"user_id"`
	Login       string            `json:"login"`
	DisplayName string            `json:"display_name"`
	MessageID   string            `json:"message_id"`
	Text        string            `json:"text"`
	Limit       string            `json:"limit"`
	MaySpeakAt  OptionalTime      `json:"may_speak_at"` // zero if waiting never helps
	ResetAt     time.Time         `json:"reset_at"`
	Strikes     int               `json:"strikes"`
	Penalty     chatguard.Penalty `json:"penalty"` // what was due; where Outcome says Observed, what would have been
	Cost        int               `json:"cost"`
	Offence     Offence           `json:"offence"`
	Outcome     Outcome           `json:"outcome"`
}

// Offence is what a pardon has to know of the verdict, beside what the Entry says. See the fields of chatguard.Verdict.
type Offence struct {
	Late      time.Duration `json:"late"` // in nanoseconds
	Counted   int           `json:"counted"`
	Series    uint8         `json:"series"`
	NewStrike bool          `json:"new_strike"`
}

// NewEntry is the entry of a throttled or observed message before anything was done about it. Of long texts it keeps the beginning.
func NewEntry(m chatguard.Message, v chatguard.Verdict) Entry {
	e := Entry{
		ID: v.EntryID, At: v.At, ChannelID: v.ChannelID, UserID: v.UserID,
		Login: ClipName(m.User.Login), DisplayName: ClipName(m.User.DisplayName), MessageID: Clip(m.ID, MaxID), Text: Clip(m.Text, MaxText),
		Limit: v.Limit, MaySpeakAt: OptionalTime{v.MaySpeakAt()}, ResetAt: v.ResetAt, Strikes: v.Strikes,
		Penalty: v.Penalty, Cost: max(m.Cost, 1),
		Offence: Offence{Late: v.Late, Counted: v.Counted, Series: v.Series, NewStrike: v.NewStrike},
		Outcome: Outcome{Entry: v.EntryID, At: v.At, Action: v.Penalty.Action, Result: Pending},
	}
	if v.Observed {
		e.Penalty = v.WouldBe
		e.Outcome.Action, e.Outcome.Result = chatguard.NoAction, Observed
	}
	return e
}

// Verdict is as much of the verdict on the message as chatguard.Guard.Pardon has to know.
func (e *Entry) Verdict() chatguard.Verdict {
	return chatguard.Verdict{
		At: e.At, ChannelID: e.ChannelID, UserID: e.UserID, EntryID: e.ID, Limit: e.Limit, Strikes: e.Strikes, Penalty: e.Penalty,
		Late: e.Offence.Late, Counted: e.Offence.Counted, Series: e.Offence.Series, NewStrike: e.Offence.NewStrike,
	}
}

// MostMerged is the longest timeout that is given in place of several penalties, none of which was one.
const MostMerged = 10 * time.Minute

// Result says how acting on a throttled message went.
type Result string

// The results.
const (
	Pending  Result = "pending"  // nothing has been reported yet
	Done     Result = "done"     // the action was carried out
	Failed   Result = "failed"   // the action was tried and did not succeed; the reason says why
	Skipped  Result = "skipped"  // the action was not tried; the reason says why
	Observed Result = "observed" // the policy only observes
)

// Results are all of them.
var Results = []Result{Pending, Done, Failed, Skipped, Observed}

// Outcome is what whoever acts reports for an entry.
type Outcome struct {
	Entry  chatguard.EntryID `json:"entry"`
	At     time.Time         `json:"at"` // when it was reported
	Action chatguard.Action  `json:"action"`
	Result Result            `json:"result"`
	Reason string            `json:"reason"` // one line for people; empty when Done
}

// Dropped is the outcome of a message that a chat server keeps from everyone, which is all that a server does about it. ok is false where the
// verdict allows the message: then there is nothing to report.
func Dropped(v chatguard.Verdict) (o Outcome, ok bool) {
	return Outcome{Entry: v.EntryID, At: v.At, Action: chatguard.Drop, Result: Done}, !v.Allowed
}
