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

	"github.com/chatguard/chatguard/internal/textfile"
)

// CheckClientID returns an error if no Twitch application can have the ID.
func CheckClientID(id string) error {
	if !regexp.MustCompile(`^[0-9A-Za-z]{5,100}$`).MatchString(id) {
		return errors.New("a client ID consists of letters and digits only, usually 30")
	}
	return nil
}

// clientID matches the line of twitch.client_id. Its groups are the text before the value, the
// value, and the text after it.
var clientID = regexp.MustCompile(`^(\s*client_id\s*=\s*)("[^"\\]*"|'[^']*')(\s*(?:#.*)?)$`)

// twitchHeading matches the heading [twitch].
var twitchHeading = regexp.MustCompile(`^\s*\[\s*twitch\s*\]\s*(#.*)?$`)

// SetClientID returns the contents of a configuration file with twitch.client_id set and every
// other byte unchanged, but without a byte order mark. If SetClientID can't find where the file
// sets the ID, the error names the line to add.
func SetClientID(data []byte, id string) ([]byte, error) {
	if err := CheckClientID(id); err != nil {
		return nil, err
	}
	line := fmt.Sprintf("client_id = %q", id)
	unclear := fmt.Errorf("write %s into the table [twitch]", line)
	data, err := textfile.Trim(data)
	if err != nil {
		return nil, unclear
	}
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
		lines[n] = edit(lines[n], twitchHeading, func(found []string) string { return found[0] + lineEnding(lines[n]) + line })
	default:
		lines = append(lines, []byte("\n[twitch]\n"+line+"\n"))
	}
	after := bytes.Join(lines, nil)
	if !differsInClientID(before, after, id) {
		return nil, unclear
	}
	return after, nil
}

// edit replaces a line that matches looks with the result of by, and keeps the line ending.
func edit(line []byte, looks *regexp.Regexp, by func(found []string) string) []byte {
	text := strings.TrimRight(string(line), "\r\n")
	found := looks.FindStringSubmatch(text)
	if found == nil {
		return line
	}
	return []byte(by(found) + string(line[len(text):]))
}

// lineEnding returns the line ending of a line: "\r\n" if the line ends so, otherwise "\n".
func lineEnding(line []byte) string {
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// differsInClientID reports whether a file has the same values as before, except for
// twitch.client_id, which must be id.
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
	return equalExcept("client_id", table, was) && equalExcept("twitch", now, before)
}

// equalExcept reports whether two tables are equal except for one key.
func equalExcept(key string, a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, key)
	delete(b, key)
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}
