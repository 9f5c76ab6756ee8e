// Package sendtime handles the times in external messages: their JSON forms, and the bounds within
// which they are trusted. It reads no clock.
package sendtime

import (
	"fmt"
	"strconv"
	"time"
)

// MaxAge is the maximum age of a message's time.
const MaxAge = time.Minute

// Bounded returns the time by which a message that arrives now is judged. This is the time it was
// sent, but not after now and not more than MaxAge before now. These bounds keep messages in order.
// A message without a time counts as sent now.
func Bounded(sent, now time.Time) time.Time {
	switch earliest := now.Add(-MaxAge); {
	case sent.IsZero() || sent.After(now):
		return now
	case sent.Before(earliest):
		return earliest
	}
	return sent
}

// Parse parses a time in JSON: an RFC 3339 string or milliseconds since the Unix epoch. It returns
// the zero time for null.
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

// Instant is the time of a message as Parse reads it, for the key "at".
type Instant struct{ time.Time }

// UnmarshalJSON parses the same forms as Parse.
func (i *Instant) UnmarshalJSON(data []byte) (err error) {
	if i.Time, err = Parse(data); err != nil {
		return fmt.Errorf(`"at": %w`, err)
	}
	return nil
}
