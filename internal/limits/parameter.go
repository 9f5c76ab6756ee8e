package limits

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Parameter is a parameter of an algorithm, with its bounds.
type Parameter struct {
	Name string
	Kind ParameterKind
	// Least and Most are the bounds, both inclusive. For a Length they are in nanoseconds. They are
	// 0 for a parameter that is a text.
	Least, Most int64
	// Suggested is the initial value in a new limit, in the unit of the bounds. It is 0 for a text.
	// The parameter can be omitted only if Suggested equals Least, or in a limit on repeated text
	// if it has Scopes; it then has the value of Suggested.
	Suggested int64
	Choices   []string // the values of a Choice; an empty text means the first
	// Overridable means that a role or a user may have another value; see Numbers.
	Overridable bool
	// Scopes are the scopes of the limits on repeated text that have it; nil for a parameter that
	// all limits have.
	Scopes []Scope
}

// ParameterKind says what the values of a parameter are.
type ParameterKind string

// The kinds of parameters.
const (
	Count  ParameterKind = "count"    // a number, usually of messages
	Length ParameterKind = "duration" // a duration
	Zone   ParameterKind = "zone"     // the IANA name of a time zone; may be empty
	Clock  ParameterKind = "clock"    // a local time "HH:MM"; may be empty
	Choice ParameterKind = "choice"   // one of several names; may be empty
	Switch ParameterKind = "switch"   // true or false; false if it is omitted
)

// AlgorithmInfo describes an algorithm.
type AlgorithmInfo struct {
	Name       string
	Parameters []Parameter
	// TextParameters are those that only limits on repeated text have. There are none if these
	// can't have the algorithm.
	TextParameters []Parameter
	// Words is how many words of 8 bytes the state of one user takes. A sliding window with several
	// slices takes more. If PerMessage is set, the state takes one more word for each message that
	// the limit allows.
	Words      int
	PerMessage bool
}

// Algorithms returns all algorithms, in the order in which they are shown.
func Algorithms() []AlgorithmInfo {
	list := make([]AlgorithmInfo, len(algorithms))
	for i, a := range algorithms {
		list[i] = AlgorithmInfo{Name: a.name, Parameters: slices.Clone(a.params), Words: max(1, a.size), PerMessage: a.isLog}
		if a.buckets == 0 {
			list[i].Parameters = append(list[i].Parameters, Parameter{Name: "reserve", Kind: Count, Most: a.mostReserve()})
		}
		if a.countsTexts() {
			list[i].TextParameters = textParameters()
		}
	}
	return list
}

// Bounds returns the bounds of a number that limits have as a parameter: the widest that any
// algorithm has.
func Bounds(name string) (least, most int64) {
	least = math.MaxInt64
	for _, a := range Algorithms() {
		for _, p := range slices.Concat(a.Parameters, a.TextParameters) {
			if p.Name == name && p.Kind == Count {
				least, most = min(least, p.Least), max(most, p.Most)
			}
		}
	}
	return least, most
}

// textParameters returns the parameters of limits on repeated text.
func textParameters() []Parameter {
	both := func() []Scope { return []Scope{PerUserText, PerText} }
	return []Parameter{
		{Name: "similar", Kind: Switch, Scopes: both()},
		{Name: "from_length", Kind: Count, Least: 1, Most: MaxFromLength, Suggested: DefaultFromLength, Scopes: both()},
		{Name: "count_emotes", Kind: Switch, Scopes: both()},
		{Name: "strikes", Kind: Switch, Scopes: []Scope{PerText}},
	}
}

// countsTexts reports whether limits on repeated text can have the algorithm. A repeated text can't
// wait in a queue.
func (a *algorithm) countsTexts() bool { return a.name != leakyBucket.name }

// mostReserve returns the largest reserve, which is less than the largest capacity. The reserve of
// a limit is also less than the capacity of that limit; see keepReserve.
func (a *algorithm) mostReserve() int64 {
	i := slices.IndexFunc(a.params, func(p Parameter) bool { return p.Kind == Count })
	if a.params[i].Name == "queue" {
		return a.params[i].Most // the message that is leaving doesn't wait
	}
	return a.params[i].Most - 1
}

// countParameter returns a parameter for a number of messages, at least 1, that overrides may
// replace.
func countParameter(name string, most, suggested int64) Parameter {
	return Parameter{Name: name, Kind: Count, Least: 1, Most: most, Suggested: suggested, Overridable: true}
}

// lengthParameter returns a parameter for a duration.
func lengthParameter(name string, most int64, suggested time.Duration) Parameter {
	return Parameter{Name: name, Kind: Length, Least: 1, Most: most, Suggested: int64(suggested)}
}

// overridable returns the same parameter, which overrides may replace.
func (p Parameter) overridable() Parameter {
	p.Overridable = true
	return p
}

// isOptional reports whether the parameter can be omitted; it then has its least value.
func (p *Parameter) isOptional() bool { return p.Suggested == p.Least }

// isText reports whether the values are texts, which compile checks.
func (p *Parameter) isText() bool { return p.Kind == Zone || p.Kind == Clock || p.Kind == Choice }

// check returns an error if a value is out of bounds.
func (p *Parameter) check(value int64) error {
	switch {
	case p.Kind == Count && value < p.Least:
		return MistakeIn(p.Name, value, "%s is %d, want %d or more", p.Name, value, p.Least)
	case p.Kind == Count && value > p.Most:
		return MistakeIn(p.Name, value, "%s is %d, want %d or less", p.Name, value, p.Most)
	case p.Kind == Length && value < p.Least:
		return MistakeIn(p.Name, time.Duration(value), "%s is %s, want more than 0s", p.Name, time.Duration(value))
	case p.Kind == Length && value > p.Most:
		const year, round = 8766 * time.Hour, 10_000 // round: a number of hours that is easy to read
		length, most := time.Duration(value), time.Duration(p.Most)
		return MistakeIn(p.Name, length, "%s is %s, want less than %d years (%dh)", p.Name, length, most/year, most/time.Hour/round*round)
	}
	return nil
}

// value returns the value of the parameter with that name. It returns 1 for a text that is set.
func (p *Params) value(name string) int64 {
	switch name {
	case "burst":
		return p.Burst
	case "refill":
		return int64(p.Refill)
	case "extra_burst":
		return p.ExtraBurst
	case "extra_refill":
		return int64(p.ExtraRefill)
	case "queue":
		return p.Queue
	case "messages":
		return p.Messages
	case "every":
		return int64(p.Every)
	case "slices":
		return p.Slices
	}
	return int64(min(1, len(p.text(name))))
}

// text returns the text of the parameter with that name.
func (p *Params) text(name string) string {
	switch name {
	case "timezone":
		return p.Timezone
	case "reset_at":
		return p.ResetAt
	case "period":
		return p.Period
	case "first_day":
		return p.FirstDay
	}
	panic("limits: parameter without a field: " + name)
}

// given returns the value of a parameter as it was given.
func (p *Params) given(param Parameter) any {
	switch {
	case param.Kind == Length:
		return time.Duration(p.value(param.Name))
	case param.isText():
		return p.text(param.Name)
	}
	return p.value(param.Name)
}

// checkParams returns an error for a parameter that the algorithm doesn't use, or for a value out
// of bounds.
func (a *algorithm) checkParams(p Params) error {
	for _, other := range algorithms {
		for _, param := range other.params {
			isSet := p.value(param.Name) != 0 || param.Name == "queue" && p.noQueue
			if isSet && !slices.ContainsFunc(a.params, func(own Parameter) bool { return own.Name == param.Name }) {
				return MistakeIn(param.Name, p.given(param), "%s has no %q (it takes %s)", a.name, param.Name, strings.Join(a.paramNames(), ", "))
			}
		}
	}
	for i := range a.params {
		param := &a.params[i]
		value := p.value(param.Name)
		if param.isText() || value == 0 && param.isOptional() {
			continue
		}
		if err := param.check(value); err != nil {
			return err
		}
	}
	return nil
}

func (a *algorithm) paramNames() []string {
	names := make([]string, len(a.params))
	for i, p := range a.params {
		names[i] = p.Name
	}
	return names
}
