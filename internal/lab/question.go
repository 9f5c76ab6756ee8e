package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/hostile"
)

// UnmarshalJSON reads a question, in which unknown keys are an error. The error for a lane is an
// *Error.
func (q *Question) UnmarshalJSON(data []byte) error {
	type plain Question
	in := struct {
		*plain
		Lanes []json.RawMessage `json:"lanes"`
	}{plain: (*plain)(q)}
	if err := strictJSON(data, &in); err != nil {
		return describeQuestion(err)
	}
	if len(in.Lanes) > MaxLanes {
		return errLanes(len(in.Lanes))
	}
	q.Lanes = make([]Lane, len(in.Lanes))
	for i, lane := range in.Lanes {
		if err := q.Lanes[i].read(i+1, lane); err != nil {
			return err
		}
	}
	return nil
}

// describeQuestion describes an error of the JSON of a question. Syntax errors and errors of this
// package stay as they are.
func describeQuestion(err error) error {
	var syntax *json.SyntaxError
	var wrong *Error
	if errors.As(err, &syntax) || errors.As(err, &wrong) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return errors.New(describe(err))
}

// messages are the messages of a question. Reading stops as soon as there are too many, so that a
// large question needs little memory.
type messages []Message

// UnmarshalJSON reads an array of messages, in which unknown keys are an error.
func (list *messages) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if first, err := dec.Token(); err != nil || first == nil {
		return err
	} else if first != json.Delim('[') {
		return errors.New("messages has the wrong kind of value: send an array")
	}
	for dec.More() {
		if len(*list) == MaxMessages {
			return errorf("there are more than %d messages: send %d or fewer", MaxMessages, MaxMessages)
		}
		var m Message
		if err := dec.Decode(&m); err != nil {
			return err
		}
		*list = append(*list, m)
	}
	return nil
}

// read reads the JSON of the lane with the given number.
func (l *Lane) read(number int, data []byte) error {
	type plain Lane
	in := struct {
		*plain
		Limits []json.RawMessage `json:"limits"`
	}{plain: (*plain)(l)}
	if err := strictJSON(data, &in); err != nil {
		return &Error{Lane: number, Text: describe(err)}
	}
	if len(in.Limits) > MaxLimits {
		return errLimits(number, len(in.Limits))
	}
	l.Limits = make([]chatguard.Limit, len(in.Limits))
	for i, limit := range in.Limits {
		if err := strictJSON(limit, &l.Limits[i]); err != nil {
			return &Error{Lane: number, Limit: limitName(limit, i), Text: describe(err)}
		}
	}
	return nil
}

// limitName returns a name for limit i, whose JSON can't be read.
func limitName(data []byte, i int) string {
	var in struct {
		Name      string `json:"name"`
		Algorithm string `json:"algorithm"`
	}
	json.Unmarshal(data, &in) // fields that can be read are enough
	for _, name := range []string{in.Name, in.Algorithm} {
		if name != "" {
			return clip(name)
		}
	}
	return fmt.Sprint(i + 1)
}

// clip shortens a text from a question for use in an error.
func clip(text string) string { return fmt.Sprintf("%.60s", text) }

// strictJSON reads a JSON object, in which unknown keys are an error.
func strictJSON(data []byte, into any) error {
	if len(data) == 0 || data[0] != '{' {
		return fmt.Errorf("it is %.40s instead of an object", data)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// describe describes an error of encoding/json without the names of Go types.
func describe(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		path := strings.Split(wrong.Field, ".") // the path may contain Go type names
		return path[len(path)-1] + " " + hostile.WrongKind(wrong)
	}
	if when := (*time.ParseError)(nil); errors.As(err, &when) {
		return fmt.Sprintf("%q is not a time: want 2026-01-01T00:00:00Z", clip(strings.Trim(when.Value, `"`)))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Sprintf("unknown key %s", clip(name))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func errLanes(n int) *Error {
	return errorf("there are %d lanes: send 1 to %d", n, MaxLanes)
}

func errLimits(lane, n int) *Error {
	return &Error{Lane: lane, Text: fmt.Sprintf("it has %d limits: use %d or fewer", n, MaxLimits)}
}

// compile checks the question and returns its lanes.
func (q *Question) compile() (lanes []*lane, err error) {
	switch {
	case len(q.Lanes) == 0:
		return nil, errorf("there are no lanes: send 1 to %d, each with its limits", MaxLanes)
	case len(q.Lanes) > MaxLanes:
		return nil, errLanes(len(q.Lanes))
	case q.Traffic != nil && len(q.Messages) > 0:
		return nil, errorf("there are messages and traffic: send only one of them")
	}
	if err := (chatguard.Policy{Timezone: q.Timezone}).Validate(); err != nil {
		return nil, errorf("timezone: %s", strings.TrimPrefix(err.Error(), "chatguard: "))
	}
	if err := q.Move.check(); err != nil {
		return nil, err
	}
	for i, of := range q.Lanes {
		l, err := newLane(i+1, of, q.Timezone)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, l)
	}
	return lanes, nil
}

// named returns the limits, each with a name. A limit without one gets its algorithm's name, with a
// number if that is taken.
func named(limits []chatguard.Limit) []chatguard.Limit {
	limits = slices.Clone(limits)
	taken := map[string]bool{}
	for _, l := range limits {
		taken[l.Name] = true
	}
	for i := range limits {
		l := &limits[i]
		for n := 1; l.Name == ""; n++ {
			name := string(l.Algorithm)
			if n > 1 {
				name = fmt.Sprintf("%s-%d", name, n)
			}
			if name != "" && !taken[name] {
				l.Name, taken[name] = name, true
			} else if name == "" {
				l.Name = fmt.Sprint(i + 1)
			}
		}
	}
	return limits
}
