package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
)

// The states of what a doctor finds.
const (
	healthy = "ok"
	note    = "note" // worth knowing
	problem = "problem"
)

// finding is one thing that a check has found.
type finding struct {
	state string
	found string
	mend  string // of a problem
}

func fine(format string, args ...any) finding {
	return finding{state: healthy, found: fmt.Sprintf(format, args...)}
}
func noted(format string, args ...any) finding {
	return finding{state: note, found: fmt.Sprintf(format, args...)}
}

func wrong(mend, format string, args ...any) finding {
	return finding{state: problem, found: fmt.Sprintf(format, args...), mend: mend}
}

// wrongBy is the problem that an error tells, with its mend.
func wrongBy(err error) finding {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	for _, kind := range []error{twitch.ErrToken, twitch.ErrScope, twitch.ErrUnavailable, twitch.ErrBusy, twitch.ErrLogin} {
		if what, mend, _ := strings.Cut(kind.Error(), "; "); errors.Is(err, kind) {
			return wrong(mend, "%s", strings.Replace(text, kind.Error(), what, 1))
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return wrong(networkMend, "%s", noAnswer)
	}
	at := strings.LastIndex(text, ": ") // the mend comes last
	if at < 0 {
		return wrong("", "%s", text)
	}
	return wrong(text[at+2:], "%s", text[:at])
}

// networkMend is what to do where Twitch can't be reached.
const networkMend = "look at status.twitch.tv, and at this machine's network and firewall"

// noAnswer is what a check finds that has waited for Twitch in vain.
var noAnswer = fmt.Sprintf("no answer within %.0f s", doctorPatience.Seconds())

// How wide things are.
const (
	findingsWidth  = 100
	findingsIndent = len("problem  configuration  ")
)

// print writes what was found on a line, and the mend on the next one. In a terminal, long lines are broken between words.
func (f finding) print(out io.Writer, name string) error {
	width := 0
	if isTerminal(out) {
		width = findingsWidth - findingsIndent
	}
	_, err := fmt.Fprintf(out, "%-7s  %-13s  %s\n", f.state, name, hanging(oneLine(f.found), width))
	if err == nil && f.mend != "" {
		_, err = fmt.Fprintf(out, "%*s%s\n", findingsIndent, "", hanging(oneLine(f.mend), width))
	}
	return err
}

// hanging breaks a text between words, so that no line is wider, and indents all lines but the first as print does. Width 0 leaves it in one line.
func hanging(text string, width int) string {
	if width == 0 {
		return text
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		long := len([]rune(word))
		switch {
		case i == 0:
		case column+1+long > width:
			fmt.Fprintf(&b, "\n%*s", findingsIndent, "")
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += long
	}
	return b.String()
}
