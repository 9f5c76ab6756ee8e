package journal

import "time"

// OptionalTime is a time that may be missing: the zero time is null in JSON.
type OptionalTime struct{ time.Time }

// MarshalJSON writes the time as time.Time does, or null for the zero time. UnmarshalJSON is that
// of time.Time: it leaves the time unchanged for null.
func (t OptionalTime) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.Time.MarshalJSON()
}
