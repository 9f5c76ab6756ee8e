package limitinfo

import (
	"slices"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

// Algorithm describes an algorithm and its parameters, for programs that let people edit limits.
type Algorithm struct {
	Name       chatguard.Algorithm `json:"name"`
	Parameters []Parameter         `json:"parameters"`
	// StateBytes is how much memory the state of one user takes in one limit. It excludes the
	// memory that all limits of a user share. If PerMessage is set, the state takes 8 bytes more
	// for each message that the limit allows. A SlidingWindow with Slices takes 4 bytes more for
	// each slice after the first, in steps of 8.
	StateBytes int  `json:"state_bytes"`
	PerMessage bool `json:"per_message,omitempty"`
}

// Parameter is a parameter of an algorithm: a key of a [chatguard.Limit] in JSON and TOML.
type Parameter struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Least and Most are the bounds, both inclusive. The bounds of a duration are in nanoseconds;
	// those of a zone, a clock or a choice are 0. Combinations of values within the bounds may
	// still be refused, see [chatguard.Policy.Validate].
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Suggested is a value to begin with, in the unit of the bounds. The parameter can be omitted
	// only if Suggested equals Least; an omitted parameter has this value.
	Suggested int64 `json:"suggested"`
	// Choices are the values of a choice, in order. An empty value means the first.
	Choices []string `json:"choices,omitempty"`
	// Overridable says that a role or a user may have another value; see [chatguard.Override].
	Overridable bool `json:"overridable"`
}

// Kind says what the values of a parameter are.
type Kind string

// The kinds of parameters.
const (
	KindCount    Kind = "count"    // a number of messages
	KindDuration Kind = "duration" // a duration
	KindZone     Kind = "zone"     // the IANA name of a time zone; may be empty
	KindClock    Kind = "clock"    // a local time "HH:MM"; may be empty
	KindChoice   Kind = "choice"   // one of Choices; may be empty
)

// Algorithms returns all algorithms, in the order in which they are shown.
func Algorithms() []Algorithm {
	var list []Algorithm
	for _, a := range limits.Algorithms() {
		described := Algorithm{Name: chatguard.Algorithm(a.Name), StateBytes: 8 * a.Words, PerMessage: a.PerMessage}
		for _, p := range a.Parameters {
			if p.Kind == limits.Length {
				p.Least = max(p.Least, int64(limits.LeastPeriod))
			}
			described.Parameters = append(described.Parameters, Parameter{p.Name, Kind(p.Kind), p.Least, p.Most, p.Suggested, slices.Clone(p.Choices), p.Overridable})
		}
		list = append(list, described)
	}
	return list
}
