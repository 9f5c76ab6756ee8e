package config

import (
	"fmt"
	"strings"
)

// Error is one mistake in the configuration, in words for the person who wrote it.
type Error struct {
	File    string // path of the file; empty where the mistake is in an environment variable
	Line    int    // where it is, from 1; 0 where no line of the file says it
	Key     string // what it is about: "twitch.channels", `limit "burst": refill`, an environment variable; empty for the file as a whole
	Problem string // what is wrong, and how to mend it
}

// Error is one line: the parts that are set, joined with colons.
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
