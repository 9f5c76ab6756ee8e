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
	// TextParameters are those that only limits on repeated text have. There are none if these
	// can't have the algorithm.
	TextParameters []Parameter `json:"text_parameters,omitempty"`
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
	// those of a zone, a clock, a choice or a switch are 0. Combinations of values within the
	// bounds may still be refused, see [chatguard.Policy.Validate].
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Suggested is a value to begin with, in the unit of the bounds. The parameter can be omitted
	// only if Suggested equals Least, or if it has Scopes; an omitted parameter has this value.
	Suggested int64 `json:"suggested"`
	// Choices are the values of a choice, in order. An empty value means the first.
	Choices []string `json:"choices,omitempty"`
	// Overridable says that a role or a user may have another value; see [chatguard.Override].
	Overridable bool `json:"overridable"`
	// Scopes are those of the limits on repeated text that have the parameter. They are empty for
	// one that all limits have.
	Scopes []chatguard.Scope `json:"scopes,omitempty"`
}

// Kind says what the values of a parameter are.
type Kind string

// The kinds of parameters.
const (
	KindCount    Kind = "count"    // a number, usually of messages
	KindDuration Kind = "duration" // a duration
	KindZone     Kind = "zone"     // the IANA name of a time zone; may be empty
	KindClock    Kind = "clock"    // a local time "HH:MM"; may be empty
	KindChoice   Kind = "choice"   // one of Choices; may be empty
	KindSwitch   Kind = "switch"   // true or false; false if it is omitted
)

// Algorithms returns all algorithms, in the order in which they are shown.
func Algorithms() []Algorithm {
	var list []Algorithm
	for _, a := range limits.Algorithms() {
		list = append(list, Algorithm{
			Name: chatguard.Algorithm(a.Name), Parameters: parametersOf(a.Parameters), TextParameters: parametersOf(a.TextParameters),
			StateBytes: 8 * a.Words, PerMessage: a.PerMessage,
		})
	}
	return list
}

func parametersOf(parameters []limits.Parameter) (list []Parameter) {
	for _, p := range parameters {
		if p.Kind == limits.Length {
			p.Least = max(p.Least, int64(limits.LeastPeriod))
		}
		described := Parameter{p.Name, Kind(p.Kind), p.Least, p.Most, p.Suggested, slices.Clone(p.Choices), p.Overridable, nil}
		for _, scope := range p.Scopes {
			described.Scopes = append(described.Scopes, chatguard.Scope(scope))
		}
		list = append(list, described)
	}
	return list
}
