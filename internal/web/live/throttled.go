package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
)

// Recent is how long a user remains on the board after their last throttled message.
const Recent = 10 * time.Minute

// maxRowText is the maximum length of a row's text in bytes. A message of Twitch has at most 500
// characters. The journal has longer texts.
const maxRowText = 500

// Throttled is a user who is throttled now, who is timed out or banned, or who was throttled within
// Recent, as in the API.
type Throttled struct {
	Channel     string `json:"channel"`
	UserID      string `json:"user_id"`
	Login       string `json:"login"`
	DisplayName string `json:"display_name"`
	// Color is the color of the user's name in chat, such as "#1e90ff". It may be empty.
	Color string          `json:"color"`
	Roles chatguard.Roles `json:"roles"` // at the last message
	// Held is whether the user is throttled now: by a limit, by a timeout, or by a ban given within
	// Recent. Silenced says who is banned for longer.
	Held bool `json:"held"`
	// Limit is the limit that throttles the user longest, or did so. It is empty if the user is
	// only listed because of a timeout, a ban or a change.
	Limit string `json:"limit"`
	// SameText is true if the limit is on repeated text. The user then waits only with the same
	// message: another one may be allowed earlier.
	SameText bool `json:"same_text,omitempty"`
	// Since is the time of the first throttled message of the current or last wait. The user has
	// waited without a gap since then. For a user without a throttled message, Since, At and First
	// are when the timeout or ban was given.
	Since time.Time `json:"since"`
	At    time.Time `json:"at"` // last throttled message
	// MaySpeakAt is when the user may write again, after all limits and any timeout. It is zero,
	// and null in JSON, if waiting never helps, as after a ban. It only counts if the user is
	// throttled now or silenced.
	MaySpeakAt journal.OptionalTime `json:"may_speak_at"`
	Never      bool                 `json:"never"`
	Count      int                  `json:"count"` // throttled messages since Since
	First      time.Time            `json:"first"` // first throttled message while listed
	Total      int                  `json:"total"` // throttled messages since First
	Strikes    int                  `json:"strikes"`
	// Observed is true if the user's limit only observes, due to the policy or the limit itself. In
	// this case, the limit does not throttle the user.
	Observed bool              `json:"observed"`
	Penalty  chatguard.Penalty `json:"penalty"` // of the last message, actual or observed
	Outcome  journal.Outcome   `json:"outcome"` // of the action on the last message

	// Silenced is the user's timeout or ban in force, no matter who gave it; nil if none is known.
	Silenced *journal.Silence `json:"silenced,omitempty"`
	// Act is what a person last did to the user while they were listed; nil if nothing is known.
	Act *Act `json:"act,omitempty"`

	MessageID string `json:"message_id"` // platform's ID of the last message; may be empty
	Text      string `json:"text"`       // beginning of the last message

	Repeats journal.Repeats `json:"repeats,omitzero"` // of the last message
}

// Act is a change that a person made to a user, such as a pardon or the end of a timeout.
type Act struct {
	Action journal.AuditAction `json:"action"`
	Author string              `json:"author"` // as in journal.Audit
	At     time.Time           `json:"at"`
	// Partial is true for a pardon that left a timeout or ban in force, strikes, or messages.
	Partial bool `json:"partial,omitempty"`
	// Ended is what the act has ended: a timeout or a ban. An undo that restores a timeout ends one,
	// too. Ended is empty if nothing was ended, or if it isn't known what.
	Ended chatguard.Action `json:"ended,omitempty"`
}

// setEntry sets the user's last entry. It copies the texts that it stores, because an entry's texts
// are parts of a larger string.
func (t *Throttled) setEntry(e journal.Entry, color string, roles chatguard.Roles) {
	t.Channel, t.UserID = strings.Clone(e.ChannelID), strings.Clone(e.UserID)
	t.Login, t.DisplayName = strings.Clone(e.Login), strings.Clone(e.DisplayName)
	t.Color, t.Roles = strings.Clone(color), slices.Clone(roles)
	t.Limit, t.At, t.Strikes = e.Limit, e.At, e.Strikes
	t.Penalty, t.Outcome, t.Repeats = e.Penalty, e.Outcome, e.Repeats
	t.Observed = e.Outcome.Result == journal.Observed
	t.MessageID, t.Text = strings.Clone(e.MessageID), strings.Clone(hostile.Clip(e.Text, maxRowText))
	t.Count++
	t.Total++
}

// setPerson sets the user's names and roles, if they are known.
func (t *Throttled) setPerson(p journal.Person) {
	t.Login, t.DisplayName = strings.Clone(cmp.Or(p.Login, t.Login)), strings.Clone(cmp.Or(p.DisplayName, t.DisplayName))
	if p.Roles != nil {
		t.Roles = slices.Clone(p.Roles)
	}
}

// isHeld reports whether a user is throttled now.
func isHeld(t *Throttled) bool { return t.Held }

// isAny returns true.
func isAny(*Throttled) bool { return true }

// compareSince orders users by the start of their current or last wait.
func compareSince(a, b Throttled) int {
	return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.UserID, b.UserID))
}
