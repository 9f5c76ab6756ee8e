// Package sendtime handles the times in external messages: their JSON forms, and the bounds within
// which they are trusted. It reads no clock.
package sendtime

import (
	"fmt"
	"strconv"
	"strings"
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
// the zero time for null. A leap second counts as the second after it. If a number looks like
// another unit, the error names the unit.
func Parse(json []byte) (at time.Time, err error) {
	if at.UnmarshalJSON(json) == nil {
		return at, nil
	}
	if ms, err := strconv.ParseInt(string(json), 10, 64); err == nil {
		return time.UnixMilli(ms), checkUnit(ms)
	}
	if at, ok := parseRare(string(json)); ok {
		return at, nil
	}
	return at, fmt.Errorf("want RFC 3339 text or milliseconds since 1970, found %.60s", json)
}

// checkUnit returns an error for a number that looks like a time in another unit than
// milliseconds.
func checkUnit(ms int64) error {
	unit := ""
	switch {
	case 1e8 <= ms && ms < 1e11: // 1973 to 5138 in seconds; 1970 to 1973 in milliseconds
		unit = "seconds"
	case 1e14 <= ms && ms < 1e17: // 1973 to 5138 in microseconds
		unit = "microseconds"
	case 1e17 <= ms:
		unit = "nanoseconds"
	default:
		return nil
	}
	return fmt.Errorf("%d looks like %s: want milliseconds since 1970", ms, unit)
}

// parseRare parses the forms of RFC 3339 that package time doesn't: lower case, and leap seconds.
func parseRare(json string) (at time.Time, ok bool) {
	text := strings.ToUpper(json)
	isLeap := false
	if seconds := len(`"2016-12-31T23:59:`); len(text) > seconds+2 && text[seconds:seconds+2] == "60" {
		text, isLeap = text[:seconds]+"59"+text[seconds+2:], true
	}
	if at.UnmarshalJSON([]byte(text)) != nil {
		return at, false
	}
	if isLeap {
		at = at.Add(time.Second)
	}
	return at, true
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
