// Package sendtime knows of the times that messages bring from outside: how JSON spells them, and which of them are believed. It reads no clock.
package sendtime

import (
	"fmt"
	"strconv"
	"time"
)

// maxAge is how much older than the local clock a message's time may be before the local clock is believed instead.
const maxAge = time.Minute

// Live is the time to judge a message by that arrived at now: the time it was sent, unless that is missing, in the future, or long past.
func Live(sent, now time.Time) time.Time {
	if sent.IsZero() || sent.After(now) || sent.Before(now.Add(-maxAge)) {
		return now
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
