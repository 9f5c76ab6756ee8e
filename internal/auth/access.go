// Package auth says who a person is and what they may do. It knows nothing about tokens, passwords
// or requests.
package auth

// Access is what the holder of a token may do.
type Access string

// The kinds of access. Moderate includes view, and own includes everything.
const (
	View     Access = "view"     // see everything, change nothing
	Moderate Access = "moderate" // change users, limits and switches
	Own      Access = "own"      // everything
	Check    Access = "check"    // judge messages of another chat, nothing else
	// Any is the access that everyone has. A route may require it, but no token has it.
	Any Access = ""
)

// Allows reports whether the access includes the rights of needed.
func (a Access) Allows(needed Access) bool {
	switch needed {
	case Any:
		return true
	case View:
		return a == View || a == Moderate || a == Own
	case Moderate:
		return a == Moderate || a == Own
	case Own, Check:
		return a == needed || a == Own
	}
	return false
}

// Identity is the holder of a token, or of a session that was started with one.
type Identity struct {
	Name   string `json:"name"`
	Access Access `json:"access"`
}
