package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chatguard/chatguard/internal/chat/twitch"
	"github.com/chatguard/chatguard/internal/chat/twitch/irc"
)

// The states of a Finding.
const (
	OK      = "ok"
	Note    = "note" // worth knowing
	Problem = "problem"
)

// Finding is the result of a check.
type Finding struct {
	State string // OK, Note or Problem
	Found string
	Fix   string // what to do about a problem
}

// okFinding returns a finding without a problem.
func okFinding(format string, args ...any) Finding {
	return Finding{State: OK, Found: fmt.Sprintf(format, args...)}
}

// noteFinding returns a finding that is worth knowing.
func noteFinding(format string, args ...any) Finding {
	return Finding{State: Note, Found: fmt.Sprintf(format, args...)}
}

// problem returns a finding with a problem and its fix.
func problem(fix, format string, args ...any) Finding {
	return Finding{State: Problem, Found: fmt.Sprintf(format, args...), Fix: fix}
}

// problemFrom returns the problem that an error describes, with its fix.
func problemFrom(err error) Finding {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	for _, kind := range []error{twitch.ErrToken, twitch.ErrScope, twitch.ErrUnavailable, twitch.ErrBusy, twitch.ErrLimited, irc.ErrLogin} {
		if what, fix, _ := strings.Cut(kind.Error(), "; "); errors.Is(err, kind) {
			return problem(fix, "%s", strings.Replace(text, kind.Error(), what, 1))
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return problem(networkFix, "%s", noAnswer)
	}
	at := strings.LastIndex(text, ": ") // the fix comes last
	if at < 0 {
		return problem("", "%s", text)
	}
	return problem(text[at+2:], "%s", text[:at])
}

// networkFix is what to do if Twitch can't be reached.
const networkFix = "check status.twitch.tv, and this machine's network and firewall"

// noAnswer is the finding of a check that got no answer from Twitch in time.
var noAnswer = fmt.Sprintf("no answer within %.0f s", patience.Seconds())
