package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/chatguard/chatguard/internal/web/problem"
)

// lenient ignores keys that the API does not know, and strict refuses them. If a key appears twice,
// the last one counts. Half a surrogate pair and invalid UTF-8 become U+FFFD.
var (
	lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	strict  = json.JoinOptions(lenient, json.RejectUnknownMembers(true))
)

// readObject reads one JSON object. Its errors name the key as the request does, and list the keys
// of T.
func readObject[T any](data []byte, into *T, how json.Options) error {
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return errors.New("it is null instead of an object")
	}
	if err := json.Unmarshal(data, into, how); err != nil {
		return rewordError(data, err)
	}
	return nil
}

// rewordError rewords a JSON error without the names of Go types.
func rewordError(data []byte, err error) error {
	var p *problem.Problem
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &syntactic):
		return addPlace(syntactic.JSONPointer, errSyntax(data, syntactic))
	case errors.As(err, &semantic) && errors.Is(semantic.Err, json.ErrUnknownName):
		return problem.New(http.StatusBadRequest, "That can't be read: unknown key %s (known: %s).", problem.Quote(formatPlace(semantic.JSONPointer)), knownKeys(semantic.GoType))
	case errors.As(err, &semantic):
		what := foundKind(semantic.JSONKind)
		if wantedKind(semantic.GoType) == wholeNumberWanted && semantic.JSONValue.Kind() == '0' {
			what = fmt.Sprintf("%.60s", semantic.JSONValue)
		}
		return addPlace(semantic.JSONPointer, fmt.Errorf("want %s, found %s", wantedKind(semantic.GoType), what))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errCutShort
	}
	return err
}

var errCutShort = errors.New("it ends unexpectedly")

// errSyntax returns the error for data that is not JSON.
func errSyntax(data []byte, err *jsontext.SyntacticError) error {
	switch {
	case errors.Is(err.Err, io.ErrUnexpectedEOF):
		return errCutShort
	case err.JSONPointer == "" && json.Unmarshal(data[:err.ByteOffset], new(any), strict) == nil:
		return errors.New("more than one JSON value")
	}
	return fmt.Errorf("%w at byte %d", err.Err, err.ByteOffset)
}

// addPlace prefixes an error with the place of the value.
func addPlace(pointer jsontext.Pointer, err error) error {
	if key := formatPlace(pointer); key != "" {
		return fmt.Errorf("%s: %w", key, err)
	}
	return err
}

// formatPlace formats a place as the documentation does: messages[3].cost.
func formatPlace(pointer jsontext.Pointer) string {
	var key strings.Builder
	for token := range pointer.Tokens() {
		if _, err := strconv.Atoi(token); err == nil && key.Len() > 0 {
			fmt.Fprintf(&key, "[%s]", token)
			continue
		}
		if key.Len() > 0 {
			key.WriteByte('.')
		}
		key.WriteString(token)
	}
	return key.String()
}

// knownKeys returns the keys of a struct, in order.
func knownKeys(t reflect.Type) string {
	var keys []string
	for field := range t.Fields() {
		keys = append(keys, field.Tag.Get("json"))
	}
	return strings.Join(keys, ", ")
}

const wholeNumberWanted = "a whole number"

// wantedKind returns the kind of JSON that a value of type t is read from.
func wantedKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wantedKind(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int64:
		return wholeNumberWanted
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	if t == reflect.TypeFor[checkedKinds]() {
		return "a text"
	}
	return "an object"
}

// foundKind returns the kind of JSON that was read.
func foundKind(kind jsontext.Kind) string {
	switch kind {
	case '"':
		return "a text"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	default:
		return kind.String()
	}
}
