package persist

import (
	"database/sql"
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

	"github.com/chatguard/chatguard/internal/journal"
)

// line is a row in the form that it has in an export.
type line interface {
	scan(rows *sql.Rows) error
	check() error                             // what a file can say and a database must not hold
	key() lineKey                             // what tells the lines of a kind apart
	texts(each func(name string, at *string)) // the texts that may be any bytes, by their names in JSON
	exact() *exactBytes
	values(args []any) []any
}

// lineKind is a table that is exported, and what its lines say that they are.
type lineKind struct {
	name      string // of both
	columns   string
	order     string // of the key
	insertion *insertion
	empty     func(head) line
}

func kindNamed(name string) *lineKind {
	i := slices.IndexFunc(lineKinds, func(k lineKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &lineKinds[i]
}

// head is what every line begins with.
type head struct {
	Kind string `json:"kind"`
}

// exactBytes are texts that are no UTF-8, which JSON can't spell, by name: in their own place such texts have U+FFFD where the bytes are.
type exactBytes struct {
	Bytes map[string][]byte `json:"bytes,omitempty"`
}

func (x *exactBytes) exact() *exactBytes { return x }

// keepExact notes the texts of a line that JSON can't spell.
func keepExact(l line) {
	l.texts(func(name string, at *string) {
		if utf8.ValidString(*at) {
			return
		}
		x := l.exact()
		if x.Bytes == nil {
			x.Bytes = map[string][]byte{}
		}
		x.Bytes[name] = []byte(*at)
	})
}

// restoreExact puts such texts back.
func restoreExact(l line) error {
	x := l.exact()
	if len(x.Bytes) == 0 {
		return nil
	}
	known := 0
	l.texts(func(name string, at *string) {
		if data, ok := x.Bytes[name]; ok {
			*at = string(data)
			known++
		}
	})
	if known != len(x.Bytes) {
		return errors.New("bytes: one of them belongs to no text of the line")
	}
	return nil
}

// longestTexts are how long texts may be in bytes, by their names in JSON: as long as chatguard keeps them. A room of a chat server has its ID for a
// login.
var longestTexts = map[string]int{
	"channel": journal.MaxID, "user_id": journal.MaxID, "id": journal.MaxID, "message_id": journal.MaxID,
	"login": journal.MaxID, "display_name": journal.MaxName, "text": journal.MaxText,
}

// checkTexts refuses names that POST /check refuses too, and texts that are longer than any that chatguard keeps. IDs may be any bytes, because a
// program that embeds chatguard may have such.
func checkTexts(l line) (err error) {
	l.texts(func(name string, at *string) {
		most, bounded := longestTexts[name]
		var wrong error
		switch {
		case err != nil || !bounded:
		case name == "login" || name == "display_name":
			kept := strings.ReplaceAll(*at, "\uFFFD", "???") // which stands there for what was no Unicode
			wrong = journal.CheckName(kept, most)
		default:
			wrong = journal.CheckLength(*at, most)
		}
		if wrong != nil {
			err = fmt.Errorf("%s %w", name, wrong)
		}
	})
	return err
}

// lineKey is what the lines of a kind are sorted by: texts, then numbers.
type lineKey struct {
	texts   [3]string
	numbers [2]int64
}

func (k lineKey) compare(other lineKey) int {
	if c := slices.Compare(k.texts[:], other.texts[:]); c != 0 {
		return c
	}
	return slices.Compare(k.numbers[:], other.numbers[:])
}

// checkTime refuses a time that the database can't hold, and a missing one.
func checkTime(name string, t time.Time) error {
	if !timeAt(t.UnixNano()).Equal(t) {
		return fmt.Errorf("%s: want a time from 1678 to 2262", name)
	}
	return nil
}

func checkOptionalTime(name string, t time.Time) error {
	if t.IsZero() {
		return nil
	}
	return checkTime(name, t)
}

const (
	maxID       = 1<<53 - 1 // fits a JSON number
	maxRevision = 1<<31 - 1
)

// checkNumber refuses a number that leaves no room for those that follow.
func checkNumber(name string, n, most int64) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s: want a whole number from 1 to %d", name, most)
	}
	return nil
}

// plainJSON is an error that encoding/json had with the data, in words that name no Go types.
func plainJSON(err error, data []byte) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		names := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(name string) bool { return name != strings.ToLower(name) }) // Go's, of what is embedded
		return fmt.Errorf("%s: %s can't stand there", strings.Join(names, "."), wrong.Value)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %.60s", name)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line is cut off")
	}
	if wrong := (*time.ParseError)(nil); errors.As(err, &wrong) || strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		return wrongTime(data)
	}
	return err
}

// timeField is a field that has to be a time, with its value. It is never found within a text, where quotes have a backslash.
var timeField = regexp.MustCompile(`"((?:may_speak_|reset_)?at|last_seen)"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}]+)`)

// wrongTime names the first time that is none, which the error of encoding/json doesn't.
func wrongTime(data []byte) error {
	const want = "is no time (want RFC 3339, as 2026-03-14T20:00:00Z)"
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
