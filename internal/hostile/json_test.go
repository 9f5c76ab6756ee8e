package hostile

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestWrongKind(t *testing.T) {
	var into struct {
		Count int
		Is    bool
		List  []string
	}
	for data, want := range map[string]string{
		`{"count": "x"}`: "has the wrong kind of value (string), want a whole number",
		`{"count": 1.5}`: "has the wrong kind of value (number 1.5), want a whole number",
		`{"is": "yes"}`:  "has the wrong kind of value (string), want true or false",
		`{"list": 1}`:    "has the wrong kind of value (number)",
	} {
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal([]byte(data), &into))
		if !ok || WrongKind(wrong) != want {
			t.Errorf("%s: %v, want %s", data, wrong, want)
		}
	}
}
