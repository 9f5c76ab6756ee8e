// Package auth says who a person is and what they may do. It knows nothing about tokens, passwords
// or requests.
package auth

import "slices"

// Access is what a person or a program may do.
type Access string

// The kinds of access. View, Help, Moderate, ModerateNotices and Own are a ladder: each includes
// those before it.
const (
	View     Access = "view"     // see everything, change nothing
	Help     Access = "help"     // pardon, grant, exempt and reset users, and write notes
	Moderate Access = "moderate" // change limits, switches, timeouts and bans
	// ModerateNotices is what Moderate was in earlier versions: it also includes the settings of
	// notices. Only tokens and sessions from that time have it.
	ModerateNotices Access = "moderate-notices"
	Own             Access = "own" // everything

	Check   Access = "check"   // judge messages of another chat, nothing else; Own includes it
	Overlay Access = "overlay" // see the overlay for streams, nothing else; View includes it

	// Any is the access that everyone has. A route may require it, but no token has it.
	Any Access = ""
)

// ladder has the kinds of access of which each includes those before it.
var ladder = []Access{View, Help, Moderate, ModerateNotices, Own}

// Ladder returns the kinds of access of people, of which each includes those before it.
func Ladder() []Access { return slices.Clone(ladder) }

// Roles returns the kinds of access that a new token can have. Those that also open the dashboard
// come first.
func Roles() []Access { return []Access{View, Help, Moderate, Own, Check, Overlay} }

// PeoplesRoles returns the kinds of access that a new sign-in link can have.
func PeoplesRoles() []Access { return []Access{View, Help, Moderate, Own} }

// ModeratorRoles returns what a channel's moderators can be allowed to do.
func ModeratorRoles() []Access { return []Access{View, Help, Moderate} }

// Allows reports whether the access includes the rights of needed.
func (a Access) Allows(needed Access) bool {
	switch needed {
	case Any:
		return true
	case Check:
		return a == Check || a == Own
	case Overlay:
		return a == Overlay || a.rank() > 0
	}
	return needed.rank() > 0 && a.rank() >= needed.rank()
}

// rank returns the place on the ladder, or 0 for an access that isn't on it.
func (a Access) rank() int { return slices.Index(ladder, a) + 1 }
