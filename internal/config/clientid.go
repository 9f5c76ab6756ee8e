package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// CheckClientID refuses what can't be the public ID of a Twitch application.
func CheckClientID(id string) error {
	if !regexp.MustCompile(`^[0-9A-Za-z]{5,100}$`).MatchString(id) {
		return errors.New("a client ID consists of letters and digits only, usually 30")
	}
	return nil
}

// clientID is twitch.client_id's line; its parts are what stands before the value, the value, and what follows.
var clientID = regexp.MustCompile(`^(\s*client_id\s*=\s*)("[^"\\]*"|'[^']*')(\s*(?:#.*)?)$`)

// twitchHeading is the line that begins the table.
var twitchHeading = regexp.MustCompile(`^\s*\[\s*twitch\s*\]\s*(#.*)?$`)

// SetClientID returns the contents of a configuration file with twitch.client_id set, and every other byte as it was. The error is for a file that
// says it in a way which isn't understood here: it names the line to add.
func SetClientID(data []byte, id string) ([]byte, error) {
	if err := CheckClientID(id); err != nil {
		return nil, err
	}
	line := fmt.Sprintf("client_id = %q", id)
	unclear := fmt.Errorf("write %s into the table [twitch]", line)
	before, err := parse(data)
	if err != nil {
		return nil, unclear
	}
	lines := slices.Collect(bytes.Lines(data))
	at := place{"twitch", "client_id"}
	switch n := at.line(data) - 1; {
	case at.isIn(before):
		lines[n] = edit(lines[n], clientID, func(found []string) string { return found[1] + fmt.Sprintf("%q", id) + found[3] })
	case n >= 0:
		lines[n] = edit(lines[n], twitchHeading, func(found []string) string { return found[0] + ending(lines[n]) + line })
	default:
		lines = append(lines, []byte("\n[twitch]\n"+line+"\n"))
	}
	after := bytes.Join(lines, nil)
	if !differsInClientID(before, after, id) {
		return nil, unclear
	}
	return after, nil
}

// edit replaces a line, but for its end, where it looks as expected.
func edit(line []byte, looks *regexp.Regexp, by func(found []string) string) []byte {
	text := strings.TrimRight(string(line), "\r\n")
	found := looks.FindStringSubmatch(text)
	if found == nil {
		return line
	}
	return []byte(by(found) + string(line[len(text):]))
}

// ending is how a line ends, or would if another one followed.
func ending(line []byte) string {
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// differsInClientID reports whether a file says the same as before, and this client ID.
func differsInClientID(before map[string]any, after []byte, id string) bool {
	now, err := parse(after)
	if err != nil {
		return false
	}
	table, _ := now["twitch"].(map[string]any)
	if table["client_id"] != id {
		return false
	}
	was, _ := before["twitch"].(map[string]any)
	return sameBut("client_id", table, was) && sameBut("twitch", now, before)
}

// sameBut reports whether two tables are the same in all but one key.
func sameBut(key string, a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, key)
	delete(b, key)
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
