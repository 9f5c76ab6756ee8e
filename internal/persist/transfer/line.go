package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/hostile"
	"github.com/chatguard/chatguard/internal/journal"
	"github.com/chatguard/chatguard/internal/persist/statement"
)

// line is an exported row: a pointer to a struct with its fields under their JSON names.
type line interface {
	setKind(kind string)
	// check returns an error for contents that a file can have but a database must not have. The
	// checks of columns are separate.
	check() error
	exactTexts() *exactBytes
}

// head is the beginning of every line.
type head struct {
	Kind string `json:"kind"`
}

func (h *head) setKind(kind string) { h.Kind = kind }

// check does nothing. It serves lines that need only the checks of their columns.
func (head) check() error { return nil }

// exactBytes holds, by name, texts that are not UTF-8, which JSON can't represent. The fields of
// such texts have U+FFFD in place of the invalid bytes.
type exactBytes struct {
	Bytes map[string][]byte `json:"bytes,omitempty"`
}

func (x *exactBytes) exactTexts() *exactBytes { return x }

// keepExact saves the texts of a line that JSON can't represent, before the line is encoded.
func (k *lineKind) keepExact(l line) {
	l.exactTexts().Bytes = nil
	for name, at := range k.texts(l) {
		if utf8.ValidString(at.String()) {
			continue
		}
		x := l.exactTexts()
		if x.Bytes == nil {
			x.Bytes = map[string][]byte{}
		}
		x.Bytes[name] = []byte(at.String())
	}
}

// restoreExact restores the texts that keepExact saved.
func (k *lineKind) restoreExact(l line) error {
	x := l.exactTexts()
	if len(x.Bytes) == 0 {
		return nil
	}
	known := 0
	for name, at := range k.texts(l) {
		if data, ok := x.Bytes[name]; ok {
			at.SetString(string(data))
			known++
		}
	}
	if known != len(x.Bytes) {
		return errors.New("bytes: one doesn't belong to any text of the line")
	}
	return nil
}

// longestTexts are the maximum lengths in bytes of the texts that chatguard stores, by their names
// in JSON. In a room of a chat server, the ID serves as the login.
var longestTexts = map[string]int{
	"channel": journal.MaxID, "user_id": journal.MaxID, "id": journal.MaxID, "message_id": journal.MaxID,
	"login": journal.MaxID, "display_name": journal.MaxName, "text": journal.MaxText,
}

// checkText returns an error for a name that POST /check also rejects, and for a text that is
// longer than any that chatguard stores. IDs may be any bytes, because a program that embeds
// chatguard may use such IDs.
func checkText(name, text string) (err error) {
	switch most, bounded := longestTexts[name]; {
	case !bounded:
		return nil
	case name == "login" || name == "display_name":
		// U+FFFD stands for invalid bytes here, which CheckName would reject
		err = hostile.CheckName(strings.ReplaceAll(text, "\uFFFD", "???"), most)
	default:
		err = hostile.CheckLength(text, most)
	}
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return nil
}

// checkTime returns an error for a time that the database can't store, and for a missing one.
func checkTime(name string, t time.Time) error {
	if !statement.TimeAt(t.UnixNano()).Equal(t) {
		return fmt.Errorf("%s: want a time from 1678 to 2262", name)
	}
	return nil
}

const (
	maxID       = 1<<53 - 1 // fits a JSON number
	maxRevision = 1<<31 - 1
)

// checkNumber returns an error for a number below 1, or so large that no later numbers are left.
func checkNumber(name string, n, most int64) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s: want a whole number from 1 to %d", name, most)
	}
	return nil
}

// plainJSON rewrites an error of encoding/json about the data, so that it contains no names of Go
// types.
func plainJSON(err error, data []byte) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		// these are Go names of embedded structs
		names := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(name string) bool { return name != strings.ToLower(name) })
		return fmt.Errorf("%s: %s is not allowed here", strings.Join(names, "."), wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %.60s", name)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line is cut off")
	}
	if wrong := (*time.ParseError)(nil); errors.As(err, &wrong) || strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return timeError(data)
	}
	return err
}

// timeField matches a field that must be a time, with its value. It never matches inside a text,
// because quotes there are escaped with a backslash.
var timeField = regexp.MustCompile(`"((?:may_speak_|reset_)?at|last_seen|start|seen)"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}]+)`)

// timeError returns an error that names the first invalid time, because the error of encoding/json
// doesn't.
func timeError(data []byte) error {
	const want = "is not a time (want RFC 3339, such as 2026-03-14T20:00:00Z)"
	for _, field := range timeField.FindAllSubmatch(data, -1) {
		if new(time.Time).UnmarshalJSON(field[2]) == nil {
			continue
		}
		var text string
		if json.Unmarshal(field[2], &text) == nil {
			return fmt.Errorf("%s: %.60q %s", field[1], text, want)
		}
		return fmt.Errorf("%s: %.60s %s", field[1], strings.Trim(strconv.QuoteToGraphic(string(field[2])), `"`), want)
	}
	return errors.New("one of its times " + want)
}
