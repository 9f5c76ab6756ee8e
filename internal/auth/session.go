package auth

import "time"

// SessionIDBytes is the number of bytes in a session's ID.
const SessionIDBytes = 8

// Session describes a session, without its secret.
type Session struct {
	Identity

	ID      string    `json:"id"`      // hexadecimal; not secret
	Begun   time.Time `json:"begun"`   // when the person signed in
	Expires time.Time `json:"expires"` // when it ends by itself
	// Used is when the session was last used, to the minute. It is zero if that isn't known.
	Used time.Time `json:"used,omitzero"`
}
