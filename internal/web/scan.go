package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// scan reads a request's JSON value by value, and strictly. encoding/json takes several times as long for a message, which would be most of what
// judging it in a batch costs.
type scan struct {
	data []byte
	at   int
}

var errCutShort = errors.New("it ends too early")

// next skips blanks, and returns what the next value or sign begins with; 0 at the end.
func (s *scan) next() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// wants is the error that the next value is of another kind.
func (s *scan) wants(kind string) error {
	found := ""
	switch c := s.next(); {
	case s.at == len(s.data):
		return errCutShort
	case c == '"':
		found = "a text"
	case c == '{':
		found = "an object"
	case c == '[':
		found = "a list"
	case c == '-', c >= '0' && c <= '9':
		found = "a number"
	case s.literal("true"), s.literal("false"), s.literal("null"):
		found = string(s.data[s.at:s.end()])
	default:
		return s.strange()
	}
	return fmt.Errorf("want %s, found %s", kind, found)
}

// strange is the error of a sign that has no place here.
func (s *scan) strange() error {
	if s.at == len(s.data) {
		return errCutShort
	}
	return fmt.Errorf("it is no JSON at byte %d, %q", s.at, s.data[s.at])
}

// end is where a number, or a word such as true, ends that begins here.
func (s *scan) end() int {
	for i := s.at; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == 'E', c == '-', c == '+', c == '.':
		default:
			return i
		}
	}
	return len(s.data)
}

func (s *scan) literal(word string) bool { return string(s.data[s.at:s.end()]) == word }

// null passes over null, and reports whether it was there.
func (s *scan) null() bool {
	if s.next() != 'n' || !s.literal("null") {
		return false
	}
	s.at += len("null")
	return true
}

// object reads an object: each is to read the value of one key.
func (s *scan) object(each func(key []byte) error) error {
	if s.next() != '{' {
		return s.wants("an object")
	}
	return s.members('}', func() error {
		key, err := s.text()
		if err != nil {
			return err
		}
		if s.next() != ':' {
			return s.strange()
		}
		s.at++
		return each(key)
	})
}

// list reads a list: each is to read one of its values.
func (s *scan) list(each func() error) error {
	if s.next() != '[' {
		return s.wants("a list")
	}
	return s.members(']', each)
}

// members reads what stands between commas, up to the closing sign.
func (s *scan) members(closing byte, each func() error) error {
	s.at++
	if s.next() == closing {
		s.at++
		return nil
	}
	for {
		if err := each(); err != nil {
			return err
		}
		c := s.next()
		if c != ',' && c != closing {
			return s.strange()
		}
		s.at++
		if c == closing {
			return nil
		}
	}
}

// text reads a text, which is valid as long as the request is.
func (s *scan) text() ([]byte, error) {
	if s.next() != '"' {
		return nil, s.wants("a text")
	}
	start, escaped := s.at+1, false
	for i := start; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.at = i + 1
			if escaped {
				return unescaped(s.data[start-1 : s.at])
			}
			return s.data[start:i], nil
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			s.at = i
			return nil, s.strange()
		}
	}
	s.at = len(s.data)
	return nil, errCutShort
}

func unescaped(quoted []byte) ([]byte, error) {
	var text string
	err := json.Unmarshal(quoted, &text)
	return []byte(text), err
}

// whole reads a whole number.
func (s *scan) whole() (int, error) {
	const wanted = "a whole number"
	if c := s.next(); c != '-' && (c < '0' || c > '9') {
		return 0, s.wants(wanted)
	}
	number := string(s.data[s.at:s.end()])
	n, err := strconv.Atoi(number)
	if err != nil || !json.Valid([]byte(number)) { // 007 isn't
		return 0, fmt.Errorf("want %s, found %.60s", wanted, number)
	}
	s.at += len(number)
	return n, nil
}

// raw reads a text or a number as it is written.
func (s *scan) raw() ([]byte, error) {
	c, start := s.next(), s.at
	if c == '"' {
		_, err := s.text()
		return s.data[start:s.at], err
	}
	number := s.data[start:s.end()]
	switch {
	case json.Valid(number):
		s.at += len(number)
		return number, nil
	case c == '-', c >= '0' && c <= '9': // 007
		return nil, fmt.Errorf("want a text or a number, found %.60s", number)
	}
	return nil, s.wants("a text or a number")
}

// over returns an error where something follows the value that was read.
func (s *scan) over() error {
	if s.next(); s.at < len(s.data) {
		return errors.New("more than one JSON value")
	}
	return nil
}
