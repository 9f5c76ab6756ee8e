package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/chatguard/chatguard"
)

// ParseLimit reads a limit in one line: its algorithm, and its keys as in the configuration, as in
// "token-bucket burst=3 refill=4s". algorithm is that of a text without one; if it is empty, the
// text must have one. The limit is named after its algorithm.
func ParseLimit(text, algorithm string) (l chatguard.Limit, err error) {
	keys := map[string]any{}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			key, value = "algorithm", word
		}
		if _, twice := keys[key]; twice {
			return l, fmt.Errorf("%q has %s twice: remove one", text, key)
		}
		keys[key] = value
		if n, err := strconv.Atoi(value); err == nil {
			keys[key] = n
		} else if yes, err := strconv.ParseBool(value); err == nil {
			keys[key] = yes
		}
	}
	if _, ok := keys["algorithm"]; !ok {
		keys["algorithm"] = algorithm
	}
	if keys["algorithm"] == "" {
		return l, fmt.Errorf("%q names no algorithm: write it as in \"token-bucket burst=3 refill=4s\"", text)
	}
	if _, ok := keys["name"]; !ok {
		keys["name"] = keys["algorithm"]
	}
	data, err := json.Marshal(keys)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("%q: %s", text, describe(err))
	}
	return l, nil
}

// Text returns a limit as ParseLimit reads it, without its name and its roles.
func Text(l chatguard.Limit) string {
	l.Name, l.Roles = "", nil
	data, err := json.Marshal(l)
	if err != nil {
		return string(l.Algorithm) // not a limit that a policy accepts
	}
	text, err := wordsOf(data)
	if err != nil {
		return string(l.Algorithm)
	}
	return text
}

// wordsOf returns the words for the JSON of a limit, in its order.
func wordsOf(data []byte) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil { // the brace
		return "", err
	}
	var algorithm string
	var words []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", err
		}
		value, err := dec.Token()
		if err != nil {
			return "", err
		}
		switch {
		case key == "name":
		case key == "algorithm":
			algorithm = fmt.Sprint(value)
		default:
			words = append(words, fmt.Sprintf("%s=%v", key, value))
		}
	}
	if algorithm == "" {
		return "", errors.New("no algorithm")
	}
	return strings.Join(append([]string{algorithm}, words...), " "), nil
}
