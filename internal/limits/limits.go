// Package limits holds the algorithms, as pure steps over a few machine words, and the table that
// keeps those words for millions of users.
//
// Time is always a parameter: integer nanoseconds since the Unix epoch, from 1970 to 2116, so that
// a time plus any debt fits an int64. The package has no clock, no goroutine and no I/O. It knows
// nothing about messages, policies or penalties.
//
// Params ──compile──> Rule (one limit) ──> Set (limits judged together) ──> Table (a row of words
// for each user) ──> Judge
package limits

import (
	"errors"
	"math"
	"time"
)

// MaxTime is the first instant, in nanoseconds since the Unix epoch, that is too late for a
// decision: 2^62, in February 2116.
const MaxTime = 1 << 62

// Never is an instant that never comes.
const Never = math.MaxInt64

// MaxMessages is the largest number that a limit can count to.
const MaxMessages = math.MaxInt32

// Errors of a Table.
var (
	// ErrPardonStale is the error of a pardon that can't be undone any more.
	ErrPardonStale = errors.New("chatguard: the user's strikes or limits have changed since the pardon: it can't be undone any more")
	ErrClosed      = errors.New("the table is closed")
	ErrNoLimit     = errors.New("there is no such limit")
)

// clockJump is the maximum time by which a message can precede its author's last use and still
// count as late. If the message is earlier than that, the clock has jumped.
const clockJump = 60 * nanosPerSecond

// LeastPeriod is the least duration that a policy should accept for a parameter. A shorter one is
// probably a number whose unit is missing.
const LeastPeriod = time.Microsecond

const (
	nanosPerSecond = 1_000_000_000
	nanosPerMilli  = 1_000_000
)

// TimeOf returns the time of an instant, or the zero time for Never.
func TimeOf(ns int64) time.Time {
	if ns == Never {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
