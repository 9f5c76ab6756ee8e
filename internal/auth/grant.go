package auth

import (
	"fmt"
	"time"
)

// Grants are what gives people and programs access, without the secrets.
type Grants struct {
	Tokens   []Token   `json:"tokens"`
	Links    []Link    `json:"links"` // sign-in links that nobody has used yet
	Sessions []Session `json:"sessions"`
}

// Token describes a named token. A name has one token at a time.
type Token struct {
	Identity

	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"` // zero if it never expires
	// Used is when the token was last used, to the minute. It is zero if that isn't known.
	Used time.Time `json:"used,omitzero"`
}

// IDBytes is the number of bytes in the ID of a session or link.
const IDBytes = 8

// Link describes a sign-in link.
type Link struct {
	Identity

	ID      string    `json:"id"` // hexadecimal; not secret
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
}

// Session describes a session.
type Session struct {
	Identity

	ID      string    `json:"id"`      // hexadecimal; not secret
	Begun   time.Time `json:"begun"`   // when the person signed in
	Expires time.Time `json:"expires"` // when it ends by itself
	// Used is when the session was last used, to the minute. It is zero if that isn't known.
	Used time.Time `json:"used,omitzero"`
}

// Revoked counts what was ended when a name was revoked.
type Revoked struct {
	Tokens   int64 `json:"tokens"`
	Links    int64 `json:"links"`
	Sessions int64 `json:"sessions"`
}

// TakenError says that a name already has a token.
type TakenError struct{ Name string }

func (e TakenError) Error() string {
	return fmt.Sprintf("%q already has a token: revoke it with `chatguard token revoke`, or choose another name", e.Name)
}
