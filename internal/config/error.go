package config

import (
	"fmt"
	"strings"
)

// Error is one mistake in the configuration, described for the person who wrote it.
type Error struct {
	// File is the path of the file. It is empty if the mistake is in an environment variable.
	File string
	Line int // line number from 1; 0 if not in a line
	// Key names the key or variable that the error is about: "twitch.channels", `limit "burst":
	// refill` or an environment variable. It is empty if the error is about the whole file.
	Key     string
	Problem string // what is wrong and how to fix it
}

// Error returns one line: the non-empty parts, joined with colons.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Problem)
	return b.String()
}
