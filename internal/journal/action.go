package journal

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/chatguard/chatguard"
)

// Action is the action of an outcome as records write it: the zero value is "none".
type Action chatguard.Action

const noAction = "none"

// String returns the action's name, or "none".
func (a Action) String() string {
	if a == "" {
		return noAction
	}
	return string(a)
}

// MarshalText returns the text of String.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses the text that String returns.
func (a *Action) UnmarshalText(text []byte) error {
	if string(text) == string(chatguard.ActionTimeout) { // a penalty has a duration, too
		*a = Action(chatguard.ActionTimeout)
		return nil
	}
	var p chatguard.Penalty
	err := p.UnmarshalText(text)
	*a = Action(p.Action)
	return err
}

// outcomeJSON is an Outcome in JSON.
type outcomeJSON struct {
	Entry  chatguard.EntryID `json:"entry"`
	At     time.Time         `json:"at"`
	Action Action            `json:"action"`
	Result Result            `json:"result"`
	Reason string            `json:"reason"`
}

// MarshalJSON writes "none" for the zero Action.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(outcomeJSON{o.Entry, o.At, Action(o.Action), o.Result, o.Reason})
}

// UnmarshalJSON reads what MarshalJSON writes, and rejects unknown keys.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	in := outcomeJSON{o.Entry, o.At, Action(o.Action), o.Result, o.Reason}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return err
	}
	*o = Outcome{in.Entry, in.At, chatguard.Action(in.Action), in.Result, in.Reason}
	return nil
}
