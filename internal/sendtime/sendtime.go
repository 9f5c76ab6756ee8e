// Package sendtime knows of the times that messages bring from outside: how JSON spells them, and within which bounds they are believed. It reads no clock.
package sendtime

import (
	"fmt"
	"strconv"
	"time"
)

// MaxAge is how long before now a message's time may lie.
const MaxAge = time.Minute

// Bounded returns the time to judge a message by that arrives now: the time it was sent, but no later than now and no earlier than MaxAge before. Messages
// stay in their order. One without a time was sent now.
func Bounded(sent, now time.Time) time.Time {
	switch earliest := now.Add(-MaxAge); {
	case sent.IsZero() || sent.After(now):
		return now
	case sent.Before(earliest):
		return earliest
	}
	return sent
}

// Parse reads a time that JSON spells as RFC 3339 text or as milliseconds since the Unix epoch. The zero time is null.
func Parse(json []byte) (at time.Time, err error) {
	if at.UnmarshalJSON(json) == nil {
		return at, nil
	}
	ms, err := strconv.ParseInt(string(json), 10, 64)
	if err != nil {
		return at, fmt.Errorf("want RFC 3339 text or milliseconds since 1970, found %.60s", json)
	}
	return time.UnixMilli(ms), nil
}

// Instant is the time "at" which a message was sent, as Parse reads it.
type Instant struct{ time.Time }

// UnmarshalJSON reads what Parse does.
func (i *Instant) UnmarshalJSON(data []byte) (err error) {
	if i.Time, err = Parse(data); err != nil {
		return fmt.Errorf(`"at": %w`, err)
	}
	return nil
}
