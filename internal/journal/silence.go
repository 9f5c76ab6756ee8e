package journal

import (
	"time"

	"github.com/chatguard/chatguard"
)

// Silence is a user's timeout or ban in a channel.
type Silence struct {
	Banned bool      `json:"banned"`         // false for a timeout
	Until  time.Time `json:"until,omitzero"` // end of a timeout; zero for a ban
	At     time.Time `json:"at,omitzero"`    // when it was given; zero if that isn't known
	// By is who gave it: ProgramAuthor for a penalty, or an author as in Audit. It is empty if that
	// isn't known.
	By string `json:"by"`
}

// IsInForce reports whether the user can't write at that time.
func (s Silence) IsInForce(now time.Time) bool { return s.Banned || s.Until.After(now) }

// Action returns what the silence is: a timeout or a ban.
func (s Silence) Action() chatguard.Action {
	if s.Banned {
		return chatguard.ActionBan
	}
	return chatguard.ActionTimeout
}

// Delay returns when a user may write whom limits let write at a time, given their timeout or ban.
// never means that waiting doesn't help. A nil Silence delays nothing.
func (s *Silence) Delay(at time.Time, never bool) (time.Time, bool) {
	switch {
	case s != nil && s.Banned:
		return time.Time{}, true
	case s != nil && !never && s.Until.After(at):
		return s.Until, false
	}
	return at, never
}

// Outlasts reports whether the silence lasts longer than a timeout that ends at that time.
func (s Silence) Outlasts(end time.Time) bool { return s.Banned || s.Until.After(end) }
