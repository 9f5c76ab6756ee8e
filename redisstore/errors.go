package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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

// withoutPrefix returns the text of an error of this package for use in another one.
func withoutPrefix(err error) string { return strings.TrimPrefix(err.Error(), "redisstore: ") }

// transient reports whether an error is part of an outage, which is logged once.
func transient(err error) bool {
	return errors.Is(err, shared.ErrAway) || errors.Is(err, shared.ErrUnconfirmed)
}

// lost is the error of Run if the last exchange fails. A *chatguard.Guard knows how many rows
// weren't written.
func lost(guard Guard, err error) error {
	rows := "some rows weren't written"
	if counter, ok := guard.(interface{ Sharing() shared.Counts }); ok {
		if n := counter.Sharing().Pending; n == 1 {
			rows = "1 row wasn't written"
		} else if n > 1 {
			rows = fmt.Sprintf("%d rows weren't written", n)
		}
	}
	return &storeError{rows + ", what their users have spent since is forgotten: " + withoutPrefix(err), []error{err}}
}

// errNoHandshake means that the server doesn't answer the TLS handshake.
var errNoHandshake = errors.New("no answer to the TLS handshake")

// reason says why there is no connection, or no answer, without the server's address.
func (s *Store) reason(err error) string {
	var name *net.DNSError
	var op *net.OpError
	var call *os.SyscallError
	var late *noAnswer
	var text string
	switch {
	case errors.As(err, &late):
		text = late.Error()
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Sprintf("no such host %s: correct the host in the URL, or the DNS", name.Name)
	case errors.As(err, &call):
		text = call.Err.Error()
	case errors.As(err, &op):
		text = op.Err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		text = "no answer in time"
	default:
		text = strings.ReplaceAll(err.Error(), s.where+": ", "")
	}
	if errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && op.Addr.String() != s.where {
		text = op.Addr.String() + ": " + text // one of several hosts
	}
	return text + ": is the server running and reachable?"
}
