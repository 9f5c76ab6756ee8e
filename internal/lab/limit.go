package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/limitinfo"
)

// ParseLimit reads a limit in one line: its algorithm, and its keys as in the configuration, such
// as "token-bucket burst=3 refill=4s". usual is the algorithm of a text without one; if it is
// empty, such a text is an error. The limit is named after its algorithm.
func ParseLimit(text string, usual chatguard.Algorithm) (l chatguard.Limit, err error) {
	algorithm := usual
	values := map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			key, value = "algorithm", word
		}
		if _, twice := values[key]; twice {
			return l, fmt.Errorf("it has %s twice: remove one", clip(key))
		}
		values[key] = value
	}
	if given, ok := values["algorithm"]; ok {
		algorithm = chatguard.Algorithm(given)
	}
	info, err := infoOf(algorithm)
	if err != nil {
		return l, err
	}
	typed := map[string]any{"algorithm": algorithm, "name": algorithm}
	for key, value := range values {
		if typed[key], err = valueOf(info, key, value); err != nil {
			return l, err
		}
	}
	data, err := json.Marshal(typed)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("%s (%s takes %s)", describe(err), algorithm, strings.Join(keysOf(info), ", "))
	}
	_, err = alone(1, l)
	if wrong, ok := err.(*Error); ok {
		return l, fmt.Errorf("%s", wrong.Text)
	}
	return l, err
}

// infoOf returns the description of an algorithm.
func infoOf(name chatguard.Algorithm) (limitinfo.Algorithm, error) {
	var known []string
	for _, info := range limitinfo.Algorithms() {
		if info.Name == name {
			return info, nil
		}
		known = append(known, string(info.Name))
	}
	if name == "" {
		return limitinfo.Algorithm{}, fmt.Errorf("it has no algorithm: want one of %s, as in \"token-bucket burst=3 refill=4s\"", strings.Join(known, ", "))
	}
	return limitinfo.Algorithm{}, fmt.Errorf("unknown algorithm %q: want one of %s", clip(string(name)), strings.Join(known, ", "))
}

// keysOf returns the keys of a limit that affect a decision.
func keysOf(info limitinfo.Algorithm) []string {
	return slices.Concat(namesOf(info.Parameters), []string{"per", "count_throttled"}, namesOf(info.TextParameters))
}

func namesOf(parameters []limitinfo.Parameter) (names []string) {
	for _, p := range parameters {
		names = append(names, p.Name)
	}
	return names
}

// valueOf returns the value of a key for JSON.
func valueOf(info limitinfo.Algorithm, key, value string) (any, error) {
	parameters := slices.Concat(info.Parameters, info.TextParameters)
	i := slices.IndexFunc(parameters, func(p limitinfo.Parameter) bool { return p.Name == key })
	if i < 0 {
		return guess(key, value), nil
	}
	switch p := parameters[i]; p.Kind {
	case limitinfo.KindCount:
		n, err := strconv.Atoi(value)
		if err != nil || int64(n) < p.Least {
			return nil, fmt.Errorf("%s is %q: want a whole number from %d to %d", key, clip(value), p.Least, p.Most)
		}
		return n, nil
	case limitinfo.KindSwitch:
		if value != "true" && value != "false" {
			return nil, fmt.Errorf("%s is %q: want true or false", key, clip(value))
		}
		return value == "true", nil
	case limitinfo.KindDuration:
		if _, err := durations.Parse(value); err != nil {
			return nil, fmt.Errorf("%s is %q: want a duration such as 4s, 30m, 24h or 30d", key, clip(value))
		}
	}
	return value, nil
}

// guess returns the value of a key that isn't a parameter. The text decides the type.
func guess(key, value string) any {
	n, err := strconv.Atoi(value)
	switch {
	case key == "name" || key == "algorithm":
		return value
	case err == nil:
		return n
	case value == "true" || value == "false":
		return value == "true"
	}
	return value
}

// Text returns a limit as ParseLimit reads it, without its name and its roles. Its parameters come
// first.
func Text(l chatguard.Limit) string {
	l.Roles = nil
	data, err := json.Marshal(l)
	if err != nil {
		return string(l.Algorithm) // not a limit that a policy accepts
	}
	var values map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.Decode(&values) // what Marshal has written can be read
	delete(values, "name")
	delete(values, "algorithm")
	words := []string{string(l.Algorithm)}
	info, _ := infoOf(l.Algorithm) // an unknown algorithm has no parameters
	keys := namesOf(info.Parameters)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if value, ok := values[key]; ok {
			words = append(words, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return strings.Join(words, " ")
}
