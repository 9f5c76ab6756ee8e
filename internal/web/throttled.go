package web

import (
	"cmp"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/journal"
)

// throttled is a user who is held back now, as the API shows it.
type throttled struct {
	Channel     string               `json:"channel"`
	UserID      string               `json:"user_id"`
	Login       string               `json:"login"`
	DisplayName string               `json:"display_name"`
	Limit       string               `json:"limit"`        // the one that holds the user back longest
	Since       time.Time            `json:"since"`        // the first throttled message without a pause in between
	At          time.Time            `json:"at"`           // the last one
	MaySpeakAt  journal.OptionalTime `json:"may_speak_at"` // zero, and null in JSON, if waiting never helps
	Never       bool                 `json:"never"`
	Count       int                  `json:"count"` // throttled messages since Since
	Strikes     int                  `json:"strikes"`
	Observed    bool                 `json:"observed"` // the policy or the limit only observed the last message: nobody was held back really
	Penalty     chatguard.Penalty    `json:"penalty"`  // what the last message drew, or would have drawn
	Outcome     journal.Outcome      `json:"outcome"`  // what was done about it, and how that went
}

// leavesAt is when the user is held back no longer.
func (t *throttled) leavesAt() time.Time { return journal.HeldUntil(t.At, t.MaySpeakAt.Time) }

// take makes the entry the user's last one. It copies what it keeps: an entry's texts are parts of a whole line of chat.
func (t *throttled) take(e journal.Entry) {
	t.Channel, t.UserID = strings.Clone(e.ChannelID), strings.Clone(e.UserID)
	t.Login, t.DisplayName = strings.Clone(e.Login), strings.Clone(e.DisplayName)
	t.Limit, t.At, t.Strikes = e.Limit, e.At, e.Strikes
	t.MaySpeakAt, t.Never = e.MaySpeakAt, e.MaySpeakAt.IsZero()
	t.Penalty, t.Outcome = e.Penalty, e.Outcome
	t.Observed = e.Outcome.Result == journal.Observed
	t.Count++
}

// judge makes the verdict that holds now the user's. What was done about the last message stays as it was.
func (t *throttled) judge(v chatguard.Verdict) {
	t.Limit, t.MaySpeakAt, t.Never, t.Strikes = v.Limit, journal.OptionalTime{Time: v.MaySpeakAt()}, v.Never, v.Strikes
}

// bySince orders users by the time they have been held back from.
func bySince(a, b throttled) int {
	return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.UserID, b.UserID))
}
