// Package limits holds the algorithms, as pure steps over a few machine words, and the table that keeps those words for millions of users.
//
// Time is a parameter everywhere: integer nanoseconds since the Unix epoch, from 1970 to 2116, so that a time plus any debt fits an
// int64. There is no clock here, no goroutine and no I/O, and nothing is known of messages, policies or penalties.
//
//	Params ──compile──> Rule (one limit) ──> Set (limits judged together) ──> Table (a row of words for each user) ──> Judge
package limits

import "math"

// MaxTime is the first instant, in nanoseconds since the Unix epoch, that is too late to judge at: 2^62, in February 2116.
const MaxTime = 1 << 62

// Never is the instant that doesn't come.
const Never = math.MaxInt64

// MaxMessages is the greatest number that a limit can count to.
const MaxMessages = math.MaxInt32

// clockJump is how far a message may lie before the last one that its author spent at and still count as late. Beyond it, the clock has jumped.
const clockJump = 60 * nanosPerSecond

const nanosPerSecond = 1_000_000_000
