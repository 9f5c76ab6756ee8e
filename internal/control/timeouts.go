package control

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/penalties"
)

// Timeouts are the timeouts that a channel's moderators give with one click.
type Timeouts struct {
	Lengths Lengths `json:"lengths"` // the first one is the usual one
	Reason  string  `json:"reason"`  // of a timeout for which the moderator gives none; may be empty
}

// UsualTimeouts are the timeouts of a channel that has chosen none.
var UsualTimeouts = Timeouts{Lengths: Lengths{
	Duration(10 * time.Minute), Duration(30 * time.Second), Duration(time.Minute), Duration(time.Hour), Duration(24 * time.Hour),
}}

// Check returns an error for timeouts that a chat would refuse.
func (t Timeouts) Check() error {
	if t.Lengths == (Lengths{}) {
		return errLengths
	}
	for _, length := range t.Lengths.list() {
		if d := time.Duration(length); d < penalties.MinTimeout || d > penalties.MaxTimeout {
			return fmt.Errorf("timeouts.lengths: want durations from %s to %s, found %s",
				durations.Format(penalties.MinTimeout), durations.Format(penalties.MaxTimeout), durations.Format(d))
		}
	}
	if err := checkReason(t.Reason); err != nil {
		return fmt.Errorf("timeouts.reason: %w", err)
	}
	return nil
}

// Lengths are up to six durations. The rest are 0. In JSON they are a list.
type Lengths [6]Duration

var errLengths = fmt.Errorf("timeouts.lengths: want 1 to %d durations such as \"10m\"", len(Lengths{}))

// list returns the durations.
func (l Lengths) list() []Duration {
	return slices.DeleteFunc(l[:], func(d Duration) bool { return d == 0 })
}

// MarshalJSON writes the durations as a list.
func (l Lengths) MarshalJSON() ([]byte, error) { return json.Marshal(l.list()) }

// UnmarshalJSON reads a list of one to six durations.
func (l *Lengths) UnmarshalJSON(data []byte) error {
	var list []Duration
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) == 0 || len(list) > len(l) || slices.Contains(list, 0) {
		return errLengths
	}
	*l = Lengths{}
	copy(l[:], list)
	return nil
}
