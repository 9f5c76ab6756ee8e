package lab

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
)

// Moment is a time in nanoseconds since 1970. In JSON it is in milliseconds, with up to six decimal
// places.
type Moment int64

// momentOf returns the Moment of a time.
func momentOf(t time.Time) Moment { return Moment(t.UnixNano()) }

// Time returns the moment as a time in UTC.
func (m Moment) Time() time.Time { return time.Unix(0, int64(m)).UTC() }

// MarshalJSON writes milliseconds.
func (m Moment) MarshalJSON() ([]byte, error) { return appendMillis(nil, int64(m)), nil }

// UnmarshalJSON reads milliseconds since 1970. It rounds to nanoseconds.
func (m *Moment) UnmarshalJSON(data []byte) error {
	whole, fraction, _ := bytes.Cut(data, []byte("."))
	ms, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || ms < 0 || ms > maxMillis {
		return fmt.Errorf("\"at\" is %.40s: want milliseconds from 1970 to 2115", data)
	}
	ns := ms * int64(time.Millisecond)
	if len(fraction) > 0 {
		part, err := strconv.ParseFloat("0."+string(fraction), 64)
		if err != nil {
			return fmt.Errorf("\"at\" is %.40s: want milliseconds from 1970 to 2115", data)
		}
		ns += int64(part*float64(time.Millisecond) + 0.5)
	}
	*m = Moment(ns)
	return nil
}

// maxMillis is in the year 2115.
const maxMillis = 4_600_000_000_000

// appendMillis appends nanoseconds as milliseconds, exactly.
func appendMillis(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = strconv.AppendInt(b, ns/int64(time.Millisecond), 10)
	rest := ns % int64(time.Millisecond)
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(time.Millisecond) / 10; rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// Duration is a duration that is text in JSON: "4s", "30m", "14d".
type Duration time.Duration

// MarshalText writes the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a duration of 0 or more.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := durations.Parse(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("%q is not a duration: want 4s, 30m, 24h or 30d", text)
	}
	*d = Duration(parsed)
	return nil
}
