package main

import (
	"errors"
	"strings"
	"time"
	"unicode"
)

// length is how long a command works, as a flag: 30s. Zero means until it is stopped.
type length time.Duration

const lengthUsage = "end after this time, such as 30s (default: until Ctrl-C)"

func (l *length) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

// Set reads the flag.
func (l *length) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("want a length of time above 0, such as 30s or 10m")
	}
	*l = length(d)
	return nil
}

// Type names what the flag takes in the help.
func (*length) Type() string { return "time" }

// longestPrinted bounds what is shown of a text from outside.
const longestPrinted = 200

// printable makes a text from outside fit to be shown in a terminal: without control characters, which could move its cursor or worse, and
// not too long.
func printable(text string) string {
	kept := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text[:min(len(text), 4*longestPrinted)]))
	if len(kept) > longestPrinted {
		return string(kept[:longestPrinted]) + "…"
	}
	return string(kept)
}
