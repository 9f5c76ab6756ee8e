package live

import (
	"cmp"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// Throttled is a user who is held back now, as in the API.
type Throttled struct {
	Channel     string `json:"channel"`
	UserID      string `json:"user_id"`
	Login       string `json:"login"`
	DisplayName string `json:"display_name"`
	// Limit is the limit that holds the user back longest.
	Limit string `json:"limit"`
	// Since is the time of the first throttled message; the user has been held back without a gap
	// since then.
	Since time.Time `json:"since"`
	At    time.Time `json:"at"` // last throttled message
	// MaySpeakAt is zero, and null in JSON, if waiting never helps.
	MaySpeakAt journal.OptionalTime `json:"may_speak_at"`
	Never      bool                 `json:"never"`
	Count      int                  `json:"count"` // throttled messages since Since
	Strikes    int                  `json:"strikes"`
	// Observed is true if the last message was only observed, due to the policy or the limit. In
	// this case, the user was not actually held back.
	Observed bool              `json:"observed"`
	Penalty  chatguard.Penalty `json:"penalty"` // of the last message, actual or observed
	Outcome  journal.Outcome   `json:"outcome"` // of the action on the last message
}

// leavesAt returns when the user will no longer be held back.
func (t *Throttled) leavesAt() time.Time { return journal.HeldUntil(t.At, t.MaySpeakAt.Time) }

// setEntry sets the user's last entry. It copies the texts that it stores, because an entry's texts
// are parts of a larger string.
func (t *Throttled) setEntry(e journal.Entry) {
	t.Channel, t.UserID = strings.Clone(e.ChannelID), strings.Clone(e.UserID)
	t.Login, t.DisplayName = strings.Clone(e.Login), strings.Clone(e.DisplayName)
	t.Limit, t.At, t.Strikes = e.Limit, e.At, e.Strikes
	t.MaySpeakAt, t.Never = e.MaySpeakAt, e.MaySpeakAt.IsZero()
	t.Penalty, t.Outcome = e.Penalty, e.Outcome
	t.Observed = e.Outcome.Result == journal.Observed
	t.Count++
}

// judge replaces the user's verdict with the current one. It keeps the outcome of the last message.
func (t *Throttled) judge(v chatguard.Verdict) {
	t.Limit, t.MaySpeakAt, t.Never, t.Strikes = v.Limit, journal.OptionalTime{Time: v.MaySpeakAt()}, v.Never, v.Strikes
}

// compareSince orders users by when they were first held back.
func compareSince(a, b Throttled) int {
	return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.UserID, b.UserID))
}
