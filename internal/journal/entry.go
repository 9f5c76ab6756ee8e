// Package journal has the records that the bot, the store and the dashboard share and that an
// embedder does not need. They describe the action on a throttled message with its result, and
// people's changes. It has only types: no storage, no network, no clock.
package journal

import (
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
)

// Entry is the permanent record of one throttled message. While a policy or a limit only observes,
// it is the record of a message that would have been throttled. Its outcome then is Observed;
// otherwise it starts as Pending.
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
	// Penalty is the penalty that was due. If the Outcome is Observed, it is the penalty that would
	// have been due.
	Penalty chatguard.Penalty `json:"penalty"`
	Cost    int               `json:"cost"`
	Repeats Repeats           `json:"repeats,omitzero"` // zero unless a limit on repeated text throttled it
	Offence Offence           `json:"offence"`
	Outcome Outcome           `json:"outcome"`
}

// Repeats says how often the text of a message was written that a limit on repeated text throttled.
// Which texts are the same is as in that limit.
type Repeats struct {
	Times  int    `json:"times"`  // by the author in the window, this message included
	People int    `json:"people"` // users who wrote it in the last ten minutes, the author included
	Window string `json:"window"` // that of the limit, but at most ten minutes, such as "30s"
}

// Offence is the part of the verdict that a pardon needs and that the other fields of the Entry
// don't have. See the fields of chatguard.Verdict.
type Offence struct {
	Late      time.Duration `json:"late"` // in nanoseconds
	Counted   int           `json:"counted"`
	Series    uint8         `json:"series"`
	NewStrike bool          `json:"new_strike"`
	Low       bool          `json:"low,omitempty"` // the message would have been of low priority
}

// MaySpeakAt returns when a verdict's message would be allowed: at the verdict's time if it is, and
// the zero time if waiting never helps.
func MaySpeakAt(v chatguard.Verdict) time.Time {
	if v.Never {
		return time.Time{}
	}
	return v.At.Add(v.RetryAfter)
}

// NewEntry returns the entry of a throttled or observed message before any action. Long texts are
// shortened.
func NewEntry(m chatguard.Message, v chatguard.Verdict) Entry {
	e := Entry{
		ID: v.EntryID, At: v.At, ChannelID: v.ChannelID, UserID: v.UserID,
		Login: hostile.ClipName(m.User.Login, MaxName), DisplayName: hostile.ClipName(m.User.DisplayName, MaxName),
		MessageID: hostile.Clip(m.ID, MaxID), Text: hostile.Clip(m.Text, MaxText),
		Limit: v.Limit, MaySpeakAt: OptionalTime{MaySpeakAt(v)}, ResetAt: v.ResetAt, Strikes: v.Strikes,
		Penalty: v.Penalty, Cost: max(m.Cost, 1),
		Offence: Offence{Late: v.Late, Counted: v.Counted, Series: v.Series, NewStrike: v.NewStrike, Low: v.Priority == chatguard.PriorityLow},
		Outcome: Outcome{Entry: v.EntryID, At: v.At, Action: v.Penalty.Action, Result: Pending},
	}
	if v.Observed {
		e.Penalty = v.WouldBe
		e.Outcome.Action, e.Outcome.Result = "", Observed
	}
	return e
}

// Verdict returns the part of the message's verdict that chatguard.Guard.Pardon needs.
func (e *Entry) Verdict() chatguard.Verdict {
	v := chatguard.Verdict{
		At: e.At, ChannelID: e.ChannelID, UserID: e.UserID, EntryID: e.ID, Limit: e.Limit, Strikes: e.Strikes, Penalty: e.Penalty,
		Late: e.Offence.Late, Counted: e.Offence.Counted, Series: e.Offence.Series, NewStrike: e.Offence.NewStrike,
	}
	if e.Offence.Low {
		v.Priority = chatguard.PriorityLow
	}
	return v
}

// Silence returns the timeout or ban that the entry's penalty is, as given at a time. It is for no
// other penalties.
func (e *Entry) Silence(at time.Time) Silence {
	s := Silence{Banned: e.Penalty.Action == chatguard.ActionBan, At: at.UTC(), By: ProgramAuthor}
	switch {
	case s.Banned:
	case e.Penalty.UntilRefill:
		s.Until = e.MaySpeakAt.Time
	default:
		s.Until = s.At.Add(e.Penalty.Duration)
	}
	return s
}

// MostMerged is the longest timeout that replaces several penalties, none of which was a timeout.
const MostMerged = 10 * time.Minute

// Interrupted is the reason of an Unknown entry that was pending when the process ended. Its action
// is the one that was due, which may not be the one that was carried out.
const Interrupted = "chatguard stopped; whether it was carried out is unknown"

// Result says whether the action on a throttled message was carried out.
type Result string

// The results.
const (
	Pending  Result = "pending"  // nothing has been reported yet
	Done     Result = "done"     // the action was carried out
	Failed   Result = "failed"   // tried and failed; see the reason
	Unknown  Result = "unknown"  // tried or about to be, and nobody knows whether it was carried out; see the reason
	Skipped  Result = "skipped"  // not tried; see the reason
	Observed Result = "observed" // the policy or the limit only observes
)

// Results are all results.
var Results = []Result{Pending, Done, Failed, Unknown, Skipped, Observed}

// Outcome is the report on the action for an entry.
type Outcome struct {
	Entry  chatguard.EntryID `json:"entry"`
	At     time.Time         `json:"at"` // when it was reported
	Action chatguard.Action  `json:"action"`
	Result Result            `json:"result"`
	Reason string            `json:"reason"` // one line for people; empty if the penalty was carried out as it was due
}

// Dropped returns the outcome of a message that a chat server drops without showing it to anyone.
// ok is false if the verdict allows the message; there is then nothing to report.
func Dropped(v chatguard.Verdict) (o Outcome, ok bool) {
	return Outcome{Entry: v.EntryID, At: v.At, Action: chatguard.ActionDrop, Result: Done}, !v.Allowed
}
