package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/chatguard/chatguard"
)

// reader fills a document from a parsed file and from the environment, and knows where each value came from.
//
// It sets the values itself, rather than through the library's decoder, because that one takes numbers for lengths of time and keys in any
// case, can't fill a map of roles, and names neither the line nor the key of most mistakes.
type reader struct {
	file      string
	data      []byte
	tree      map[string]any
	variables map[string]string // by place: the environment variable that set it
}

func newReader(file string, data []byte) (*reader, error) {
	tree, err := parse(data)
	if err != nil {
		return nil, syntaxError(file, data, err)
	}
	return &reader{file: file, data: data, tree: tree, variables: map[string]string{}}, nil
}

// parse returns the tables of a file as maps.
func parse(data []byte) (map[string]any, error) {
	var tree map[string]any
	_, err := toml.Decode(string(data), &tree)
	return tree, err
}

func syntaxError(file string, data []byte, err error) error {
	e := &Error{File: file, Problem: "not TOML: " + oneLine(err.Error())}
	var cause toml.ParseError
	if errors.As(err, &cause) {
		e.Line, e.Problem = cause.Position.Line, "not TOML: "+oneLine(cause.Message)
	}
	lines := bytes.Split(data, []byte("\n"))
	if i := e.Line - 1; i >= 0 && i < len(lines) && bytes.ContainsRune(lines[i], '\\') {
		e.Problem += ` (between double quotes, write \ as / or as \\)`
	}
	return e
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// fail is the error that the value at a place is wrong.
func (r *reader) fail(at place, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	if name, ok := r.variables[at.String()]; ok {
		return &Error{Key: name, Problem: problem}
	}
	return &Error{File: r.file, Line: at.line(r.data), Key: at.words(r.tree), Problem: problem}
}

// mismatch is the error that a value of another type was wanted.
func (r *reader) mismatch(at place, want string, found any) error {
	return r.fail(at, "want %s, found %s", want, describe(found))
}

// fill sets what the file says, and over it what the environment says.
func (r *reader) fill(document reflect.Value, env func(string) (string, bool)) error {
	if err := r.table(document, r.tree, nil); err != nil || env == nil {
		return err
	}
	return r.environment(document, env, nil)
}

// table fills a table from its keys in the file. Keys that the file doesn't have keep their value.
func (r *reader) table(target reflect.Value, keys map[string]any, at place) error {
	fields := fieldsOf(target)
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return r.unknown(at, name, namesOf(target))
		}
	}
	for _, f := range fields {
		value, ok := keys[f.name]
		if !ok {
			continue
		}
		below := at.then(f.name)
		if isSecret(f.value.Type()) {
			return r.fail(below, "a secret doesn't belong in the file: put it in the environment variable %s", variable(below))
		}
		if err := r.set(f.value, value, below); err != nil {
			return err
		}
	}
	return nil
}

// set gives one value of the file to its target.
func (r *reader) set(target reflect.Value, value any, at place) error {
	switch u := target.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return r.text(u, value, at)
	case *time.Duration:
		return r.duration(u, value, at)
	case *channelTables:
		return nil // read last, by channels
	}
	switch target.Kind() {
	case reflect.Struct:
		keys, ok := value.(map[string]any)
		if !ok {
			return r.mismatch(at, "a table", value)
		}
		return r.table(target, keys, at)
	case reflect.Map:
		return r.mapping(target, value, at)
	case reflect.Slice:
		return r.list(target, value, at)
	case reflect.String:
		text, ok := value.(string)
		if !ok {
			return r.mismatch(at, "a text in quotes", value)
		}
		target.SetString(text)
	case reflect.Bool:
		yes, ok := value.(bool)
		if !ok {
			return r.mismatch(at, "true or false", value)
		}
		target.SetBool(yes)
	case reflect.Int:
		n, ok := value.(int64)
		if least := leastAt(at); !ok || n < least || n > math.MaxInt32 {
			return r.mismatch(at, fmt.Sprintf("a whole number from %d to %d", least, math.MaxInt32), value)
		}
		if n == 0 && slices.Contains(at, any("roles")) { // where 0 stands for the limit's own value
			n = chatguard.NoQueue
		}
		target.SetInt(n)
	default:
		panic(fmt.Sprintf("config: no way to read a %s", target.Type()))
	}
	return nil
}

// leastAt is the smallest number that a key can have. A queue may have no places.
func leastAt(at place) int64 {
	if isQueue(at) {
		return 0
	}
	return 1
}

// isQueue reports whether a place is that of a limit's queue, or of a role's queue in a limit.
func isQueue(at place) bool {
	at = at.inPolicy()
	return len(at) > 2 && at[0] == "limit" && at[len(at)-1] == "queue"
}

func (r *reader) text(target encoding.TextUnmarshaler, value any, at place) error {
	text, ok := value.(string)
	if !ok {
		return r.mismatch(at, "a text in quotes", value)
	}
	if err := target.UnmarshalText([]byte(text)); err != nil {
		return r.fail(at, "%s", oneLine(err.Error()))
	}
	return nil
}

// oneLength is a number with a unit. Where it can't be read, it is too great.
var oneLength = regexp.MustCompile(`^[0-9]+(ns|us|ms|s|m|h|d)$`)

func (r *reader) duration(target *time.Duration, value any, at place) error {
	text, _ := value.(string)
	d, err := chatguard.ParseDuration(text)
	mayBeZero := at.inPolicy()[0] == "penalties" || at.String() == "twitch.slow_mode" // only there it has a meaning
	if err != nil || d < 0 || d == 0 && !mayBeZero {
		which := ""
		switch {
		case err == nil && mayBeZero:
			which = " of 0s or more"
		case err == nil:
			which = " above 0s"
		case oneLength.MatchString(text):
			which = " below 292 years"
		}
		return r.mismatch(at, "a length of time"+which+` such as "4s", "30m", "24h" or "30d"`, value)
	}
	*target = d
	return nil
}

// list replaces a list. An element that is a table has a place of its own, any other shares the list's.
func (r *reader) list(target reflect.Value, value any, at place) error {
	found, ok := elements(value)
	if !ok && isTables(target.Type()) {
		return r.mismatch(at, heading(at.String(), target.Type())+" in double brackets", value)
	}
	if !ok {
		return r.mismatch(at, `a list such as ["a", "b"]`, value)
	}
	target.Set(reflect.MakeSlice(target.Type(), len(found), len(found)))
	for i, element := range found {
		below := at
		if isTables(target.Type()) {
			below = at.then(i)
		}
		if err := r.set(target.Index(i), element, below); err != nil {
			return err
		}
	}
	return nil
}

// elements returns the elements of a list, which the parser gives as []any or []map[string]any.
func elements(value any) ([]any, bool) {
	switch list := value.(type) {
	case []any:
		return list, true
	case []map[string]any:
		all := make([]any, len(list))
		for i, table := range list {
			all[i] = table
		}
		return all, true
	}
	return nil, false
}

// mapping replaces a map from texts to tables.
func (r *reader) mapping(target reflect.Value, value any, at place) error {
	keys, ok := value.(map[string]any)
	if !ok {
		return r.mismatch(at, "a table", value)
	}
	target.Set(reflect.MakeMap(target.Type()))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		key, element := reflect.New(target.Type().Key()).Elem(), reflect.New(target.Type().Elem()).Elem()
		below := at.then(name)
		if err := r.set(key, name, below); err != nil {
			return err
		}
		if err := r.set(element, keys[name], below); err != nil {
			return err
		}
		target.SetMapIndex(key, element)
	}
	return nil
}

// describe says what was found in place of something else.
func describe(value any) string {
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("%q", v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	}
	return "a list"
}
