package journal

import (
	"encoding/json"
	"time"
)

// DatabaseState says whether records are being saved.
type DatabaseState string

// The states of the database.
const (
	DatabaseOK      DatabaseState = "ok"
	DatabaseFailing DatabaseState = "failing" // chat continues in memory
	DatabaseOff     DatabaseState = "off"     // no database is used; nothing is saved
)

// Database is the state of the store's database.
type Database struct {
	State     DatabaseState `json:"state"`
	Detail    string        `json:"detail,omitempty"` // while failing: one line with error and fix
	Since     time.Time     `json:"since,omitzero"`   // when this state began
	LastFlush time.Time     `json:"last_flush,omitzero"`
	// Lag is the age of the oldest unsaved change. If the process crashed now, it would lose the
	// changes of at most this time. In JSON it is lag_seconds.
	Lag     time.Duration `json:"-"`
	Queued  int           `json:"queued,omitempty"`  // records pending to be written
	Dropped uint64        `json:"dropped,omitempty"` // records lost since the start to a full queue
}

// MarshalJSON writes the lag in seconds.
func (d Database) MarshalJSON() ([]byte, error) {
	type plain Database
	return json.Marshal(struct {
		plain
		LagSeconds float64 `json:"lag_seconds,omitempty"`
	}{plain(d), d.Lag.Seconds()})
}

// HasWritten reports whether everything that was pending at a time has been written by now. An ok
// state isn't enough: the store may not have noticed a failure yet, or may not have written
// everything that was pending.
func (d Database) HasWritten(at, now time.Time) bool {
	return d.State == DatabaseOK && at.Before(now.Add(-d.Lag))
}
