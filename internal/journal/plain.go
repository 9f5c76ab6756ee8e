package journal

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsPlain reports whether a text can stand in a line, and is nobody else's: what is no Unicode looks the same for all.
func IsPlain(text string) bool {
	return !hasControl(text) && !strings.ContainsRune(text, utf8.RuneError)
}

func hasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// CheckLength returns an error if a text from outside has more than most bytes. It says what is wrong, and the caller where.
func CheckLength(text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("has %d bytes, and %d are the most", len(text), most)
	}
	return nil
}

// CheckName returns an error if a name from outside has more than most bytes, or isn't plain. It says what is wrong, and the caller where.
func CheckName(text string, most int) error {
	if err := CheckLength(text, most); err != nil {
		return err
	}
	if !IsPlain(text) {
		return errors.New("has a line break, another control character, or one that is no Unicode")
	}
	return nil
}

// IsInvisible reports whether a character can change how a terminal shows what stands beside it: a control character, or one that turns the direction.
func IsInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// EscapeWriter writes JSON to W. It escapes what encoding/json leaves as it is and IsInvisible, so that a terminal can show it; whoever reads it gets the
// same values. Write whole values to it, as an Encoder does.
type EscapeWriter struct{ W io.Writer }

// Write reports all of data as written, or the error of W.
func (w EscapeWriter) Write(data []byte) (int, error) {
	if _, err := w.W.Write(escapeInvisible(data)); err != nil {
		return 0, err
	}
	return len(data), nil
}

// escapeInvisible returns data itself if there is nothing to escape. JSON has spaces and line breaks between values, and below U+0020 nothing in them.
func escapeInvisible(data []byte) []byte {
	var escaped []byte
	done := 0 // of data, so much is in escaped
	for i := 0; i < len(data); {
		if data[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if IsInvisible(r) {
			escaped = fmt.Appendf(append(escaped, data[done:i]...), `\u%04x`, r)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return data
	}
	return append(escaped, data[done:]...)
}
