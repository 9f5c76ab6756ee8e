package redisstore

import (
	"strings"

	"github.com/chatguard/chatguard/shared"
)

// storeError is what callers get: one line that names the server once and has one piece of advice,
// and the errors that it wraps.
type storeError struct {
	text   string
	causes []error
}

// Error implements error.
func (e *storeError) Error() string { return "redisstore: " + e.text }

// Unwrap returns the wrapped errors, usually shared.ErrAway.
func (e *storeError) Unwrap() []error { return e.causes }

// away returns an error that wraps shared.ErrAway.
func away(text string, causes ...error) *storeError {
	return &storeError{text, append([]error{shared.ErrAway}, causes...)}
}

// unconfirmed returns an error that wraps shared.ErrUnconfirmed. what was changed; why is appended.
func unconfirmed(what, why string) *storeError {
	lost := strings.TrimPrefix(shared.ErrUnconfirmed.Error(), "chatguard: ")
	return &storeError{what + ": " + lost + why, []error{shared.ErrUnconfirmed}}
}

// withoutPrefix returns the text of an error of this package for use in another one.
func withoutPrefix(err error) string { return strings.TrimPrefix(err.Error(), "redisstore: ") }

// printable makes text from the server safe and short enough for a log.
func printable(text string) string {
	if len(text) > 60 {
		text = text[:60] + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
