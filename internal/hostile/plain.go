// Package hostile cleans and checks external text, from a chat, a network or a file. It has one
// function for each purpose. Clip is for text that is stored, CheckName for names that are refused
// instead of clipped, OneLine for text that is sent or logged, and Visible for a terminal. It knows
// nothing about its callers.
package hostile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsPlain reports whether text is valid UTF-8 without U+FFFD and control characters. Invalid bytes
// are refused because IDs that differ only in such bytes would look identical.
func IsPlain(text string) bool {
	return !HasControl(text) && !strings.ContainsRune(text, utf8.RuneError)
}

// HasControl reports whether text contains a line break or another control character.
func HasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// CheckLength returns an error if an external text is too long; most is the maximum in bytes. The
// error says what is wrong; the caller adds the place.
func CheckLength(text string, most int) error {
	if len(text) > most {
		return fmt.Errorf("has %d bytes, and at most %d are allowed", len(text), most)
	}
	return nil
}

// CheckName returns an error if an external name is too long or is not plain; most is the maximum
// in bytes. The error says what is wrong; the caller adds the place.
func CheckName(text string, most int) error {
	if err := CheckLength(text, most); err != nil {
		return err
	}
	if !IsPlain(text) {
		return errors.New("has a line break, another control character, or invalid UTF-8")
	}
	return nil
}

// IsInvisible reports whether a character can change how a terminal shows the text around it: a
// control character, or one that changes the writing direction.
func IsInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// EscapeWriter writes JSON to W. It escapes the IsInvisible characters that encoding/json leaves
// unescaped, so that a terminal can show the output. A JSON parser reads the same values. Write
// whole values to it, as an Encoder does.
type EscapeWriter struct{ W io.Writer }

// Write returns len(data), or the error of W.
func (w EscapeWriter) Write(data []byte) (int, error) {
	if _, err := w.W.Write(escapeInvisible(data)); err != nil {
		return 0, err
	}
	return len(data), nil
}

// escapeInvisible returns data itself if there is nothing to escape. In JSON, characters below
// U+0020 occur only between values.
func escapeInvisible(data []byte) []byte {
	var escaped []byte
	done := 0 // bytes of data already in escaped
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
