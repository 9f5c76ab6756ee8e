package chatguard

import (
	"time"

	"github.com/chatguard/chatguard/internal/limits"
)

// AlgorithmInfo describes an algorithm and its parameters, for programs that let people edit
// limits.
type AlgorithmInfo struct {
	Name       Algorithm   `json:"name"`
	Parameters []Parameter `json:"parameters"`
	// StateBytes is how much memory the state of one user takes in one limit, without what a row
	// of several limits shares. If PerMessage is set, it takes 8 bytes more for each message that
	// the limit allows. A SlidingWindow with Slices takes 4 bytes more for each slice after the
	// first, in steps of 8.
	StateBytes int  `json:"state_bytes"`
	PerMessage bool `json:"per_message,omitempty"`
}

// Parameter is a parameter of an algorithm: a key of a [Limit] in JSON and TOML.
type Parameter struct {
	Name string        `json:"name"`
	Kind ParameterKind `json:"kind"`
	// Least and Most are the bounds, both inclusive; of a duration in nanoseconds. Other
	// combinations of values may still be refused, see [Policy.Validate]. They are 0 if the kind
	// is ZoneParameter or ClockParameter.
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	// Suggested is a value to begin with, in the unit of the bounds. A limit without the parameter
	// has this value only if it equals Least.
	Suggested int64 `json:"suggested"`
	// Overridable says that a role or a user may have another value; see [Override].
	Overridable bool `json:"overridable"`
}

// ParameterKind says what the values of a parameter are.
type ParameterKind string

// The kinds of parameters.
const (
	CountParameter    ParameterKind = "count"    // a number of messages
	DurationParameter ParameterKind = "duration" // a duration
	ZoneParameter     ParameterKind = "zone"     // the IANA name of a time zone; may be empty
	ClockParameter    ParameterKind = "clock"    // a local time "HH:MM"; may be empty
)

var parameterKinds = [...]ParameterKind{limits.Count: CountParameter, limits.Length: DurationParameter, limits.Zone: ZoneParameter, limits.Clock: ClockParameter}

// Algorithms returns all algorithms, in the order in which they are shown.
func Algorithms() []AlgorithmInfo {
	var list []AlgorithmInfo
	for _, a := range limits.Algorithms() {
		info := AlgorithmInfo{Name: Algorithm(a.Name), Parameters: []Parameter{}, StateBytes: 8 * a.Words, PerMessage: a.PerMessage}
		for _, p := range a.Parameters {
			if p.Kind == limits.Length {
				p.Least = max(p.Least, int64(leastPeriod))
			}
			info.Parameters = append(info.Parameters, Parameter{
				Name: p.Name, Kind: parameterKinds[p.Kind], Least: p.Least, Most: p.Most, Suggested: p.Suggested, Overridable: p.Overridable,
			})
		}
		list = append(list, info)
	}
	return list
}

// Picture is a limit's state in the terms of its algorithm, for a drawing of it. Fields that the
// algorithm doesn't have are zero. Fractions are rounded; decisions never use them.
type Picture struct {
	// Tokens are those of a TokenBucket, or of a Cascade's first bucket. They are less than 0 after
	// its capacity was lowered. ExtraTokens are those of a Cascade's second bucket.
	Tokens, ExtraTokens float64

	// Waiting is how many messages a LeakyBucket holds. Leaves is when the next of them leaves; it is
	// zero if none waits. The others follow, one per Every.
	Waiting int
	Leaves  time.Time

	// From and Until are the start and the end of a window. They are zero if no window is open.
	From, Until time.Time
	Count       int // of that window

	// A SlidingWindow's From and Until are those of the current slice. Count is the count of all
	// slices but the oldest, Previous that of the oldest one. Weight is the part of the oldest slice
	// which still counts, from 0 to 1. Estimate is Previous × Weight + Count. Slices are the counts
	// from the current slice to the oldest; nil if the limit's Slices are 0 or 1.
	Previous         int
	Weight, Estimate float64
	Slices           []int

	Times  int       // messages that count in a SlidingLog
	Oldest time.Time // the first of them; zero if there is none
}

func pictureOf(p limits.Picture) Picture {
	picture := Picture{
		Tokens: p.Tokens, ExtraTokens: p.ExtraTokens, Waiting: int(p.Waiting), Count: int(p.Count),
		Previous: int(p.Previous), Weight: p.Weight, Estimate: p.Estimate, Times: int(p.Times),
	}
	for _, count := range p.Slices {
		picture.Slices = append(picture.Slices, int(count))
	}
	if p.Until > 0 {
		picture.From, picture.Until = limits.TimeOf(p.From).UTC(), limits.TimeOf(p.Until).UTC()
	}
	if p.Times > 0 {
		picture.Oldest = limits.TimeOf(p.Oldest).UTC()
	}
	if p.Waiting > 0 {
		picture.Leaves = limits.TimeOf(p.Leaves).UTC()
	}
	return picture
}
