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
	"time"

	"github.com/BurntSushi/toml"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/limits"
	"github.com/chatguard/chatguard/internal/textfile"
)

// reader fills a document from a parsed file and from the environment, and records where each value
// came from.
//
// It does not use the library's decoder. That decoder accepts numbers as durations, accepts keys in
// any case, and cannot fill a map of roles. For most mistakes it reports neither the line nor the
// key.
type reader struct {
	file      string
	data      []byte
	tree      map[string]any
	variables map[string]string // place to the environment variable that set it
}

func newReader(file string, data []byte) (*reader, error) {
	data, err := textfile.Trim(data)
	if err != nil {
		return nil, &Error{File: file, Problem: err.Error()}
	}
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
	var line []byte
	lines := bytes.Split(data, []byte("\n"))
	if i := e.Line - 1; i >= 0 && i < len(lines) {
		line = lines[i]
	}
	switch variable := variableLine.FindSubmatch(line); {
	case variable != nil:
		e.Key, e.Problem = string(variable[1]), belongsInEnvironment // don't show its value
	case bytes.ContainsRune(line, '\\'):
		e.Problem += ` (between double quotes, write \ as / or as \\)`
	case bareWord.MatchString(cause.Message):
		e.Problem += ": put quotes around it"
	}
	return e
}

// variableLine matches a line that sets an environment variable of chatguard.
var variableLine = regexp.MustCompile(`^\s*(?:export\s+)?"?(` + variablePrefix + `[A-Z0-9_]+)`)

// bareWord matches the parser's error for a text without quotes.
var bareWord = regexp.MustCompile(`^expected value but found "\pL`)

// belongsInEnvironment is the problem, with its fix, of an environment variable that is set in the
// file.
const belongsInEnvironment = "belongs in the environment: the packaged service reads /etc/chatguard/environment"

// maxProblem is the maximum number of characters shown of another package's error.
const maxProblem = 1000

func oneLine(text string) string { return hostile.OneLine(text, maxProblem) }

// fail returns an error that describes what is wrong with the value at the given place.
func (r *reader) fail(at place, format string, args ...any) *Error {
	problem := fmt.Sprintf(format, args...)
	if name, ok := r.variables[at.String()]; ok {
		return &Error{Key: name, Problem: problem}
	}
	return &Error{File: r.file, Line: at.line(r.data), Key: at.describe(r.tree), Problem: problem}
}

// mismatch returns an error for a value of the wrong type at the given place.
func (r *reader) mismatch(at place, want string, found any) error {
	return r.fail(at, "want %s, found %s", want, describe(found))
}

// fill sets the values of the file, and then the values of the environment.
func (r *reader) fill(document reflect.Value, env func(string) (string, bool)) error {
	if err := r.readTable(document, r.tree, nil); err != nil || env == nil {
		return err
	}
	return r.readEnvironment(document, env, nil)
}

// readTable fills a table from its keys in the file. Keys that are not in the file keep their
// values.
func (r *reader) readTable(target reflect.Value, keys map[string]any, at place) error {
	fields := fieldsOf(target)
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return r.unknownKey(at, name, namesOf(target))
		}
	}
	for _, f := range fields {
		value, ok := keys[f.name]
		if !ok {
			continue
		}
		below := at.child(f.name)
		if isSecret(f.value.Type()) {
			return r.fail(below, "a secret doesn't belong in the file: put it in the environment variable %s", r.variableOf(below))
		}
		if err := r.set(f.value, value, below); err != nil {
			return err
		}
	}
	return nil
}

// set sets target to a value from the file.
func (r *reader) set(target reflect.Value, value any, at place) error {
	switch u := target.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return r.readText(u, value, at)
	case *time.Duration:
		return r.readDuration(u, value, at)
	case *channelTables:
		return nil // readChannels reads it last
	}
	switch target.Kind() {
	case reflect.Struct:
		keys, ok := value.(map[string]any)
		if !ok {
			return r.mismatch(at, "a table", value)
		}
		return r.readTable(target, keys, at)
	case reflect.Map:
		return r.readMap(target, value, at)
	case reflect.Slice:
		return r.readList(target, value, at)
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
		if least, most := numberBounds(at); !ok || n < least || n > math.MaxInt32 { // the policy's check says why most is the maximum
			return r.mismatch(at, fmt.Sprintf("a whole number from %d to %d", least, most), value)
		}
		if n == 0 && slices.Contains(at, any("roles")) { // 0 there keeps the limit's own value
			n = chatguard.NoQueue
		}
		target.SetInt(n)
	case reflect.Float64:
		switch n := value.(type) {
		case float64:
			target.SetFloat(n)
		case int64:
			target.SetFloat(float64(n))
		default:
			return r.mismatch(at, "a number such as 0.5", value)
		}
	default:
		panic(fmt.Sprintf("config: no way to read a %s", target.Type()))
	}
	return nil
}

// numberBounds returns the bounds of a number. The least is 1, except for parameters of limits, for
// the rate at which raid mode starts, and for the number of replicas.
func numberBounds(at place) (least, most int64) {
	if in := at.policyPlace(); in[0] == "limit" {
		return limits.Bounds(in[len(in)-1].(string))
	}
	if key := at.String(); key == "raid.start_rate" || key == "shared.replicas" {
		return 0, math.MaxInt32
	}
	return 1, math.MaxInt32
}

func (r *reader) readText(target encoding.TextUnmarshaler, value any, at place) error {
	text, ok := value.(string)
	if !ok {
		return r.mismatch(at, "a text in quotes", value)
	}
	if err := target.UnmarshalText([]byte(text)); err != nil {
		return r.fail(at, "%s", oneLine(err.Error()))
	}
	return nil
}

// oneLength matches a number with a unit. If a text matches but cannot be parsed, its number is too
// large.
var oneLength = regexp.MustCompile(`^[0-9]+(ns|us|ms|s|m|h|d)$`)

func (r *reader) readDuration(target *time.Duration, value any, at place) error {
	text, _ := value.(string)
	d, err := durations.Parse(text)
	// 0 has a meaning only for these keys
	mayBeZero := at.policyPlace()[0] == "penalties" || at.String() == "twitch.slow_mode" || at.String() == "text_retention"
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
		examples := `"4s", "30m", "24h" or "30d"`
		if at[0] == "shared" {
			examples = `"100ms" or "2s"`
		}
		return r.mismatch(at, "a duration"+which+" such as "+examples, value)
	}
	*target = d
	return nil
}

// readList replaces a list. An element that is a table has its own place; any other element has the
// list's place.
func (r *reader) readList(target reflect.Value, value any, at place) error {
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
			below = at.child(i)
		}
		if err := r.set(target.Index(i), element, below); err != nil {
			return err
		}
	}
	return nil
}

// elements returns the elements of a list. The parser returns lists as []any or []map[string]any.
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

// readMap replaces a map from strings to tables.
func (r *reader) readMap(target reflect.Value, value any, at place) error {
	keys, ok := value.(map[string]any)
	if !ok {
		return r.mismatch(at, "a table", value)
	}
	target.Set(reflect.MakeMap(target.Type()))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		key, element := reflect.New(target.Type().Key()).Elem(), reflect.New(target.Type().Elem()).Elem()
		below := at.child(name)
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

// describe describes a value of the wrong type.
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
