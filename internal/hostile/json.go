package hostile

import (
	"encoding/json"
	"reflect"
)

// WrongKind describes a JSON value of the wrong type without names of Go types, such as "has the
// wrong kind of value (string), want a whole number".
func WrongKind(wrong *json.UnmarshalTypeError) string {
	text := "has the wrong kind of value (" + Clip(wrong.Value, maxKind) + ")"
	switch wrong.Type.Kind() {
	case reflect.Bool:
		return text + ", want true or false"
	case reflect.Int:
		return text + ", want a whole number"
	}
	return text
}

const maxKind = 60 // bytes that are quoted of a number
