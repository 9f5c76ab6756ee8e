package chatguard

import (
	"fmt"
	"strings"
	"time"

	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/limits"
)

// Action is the kind of a penalty. The zero value does nothing. Any name of up to 32 lower-case
// letters, digits, "-" and "_" is an action, except "none"; what your program does for a name of
// its own is up to the program. The Guard takes it that such an action leaves the author free to
// write.
type Action string

// The actions that the Guard knows. A chat bot deletes, times out or bans; a chat server drops
// messages.
const (
	ActionDelete  Action = "delete"  // the message is removed
	ActionTimeout Action = "timeout" // the author can't write for a while
	ActionBan     Action = "ban"     // the author can't write any more
	ActionDrop    Action = "drop"    // the message is never delivered
)

// noAction is the zero Action as text.
const noAction = "none"

// maxAction is the maximum length of an action's name.
const maxAction = 32

// isName reports whether the action has a valid name. The zero value has none.
func (a Action) isName() bool {
	isOther := func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	}
	return a != "" && a != noAction && len(a) <= maxAction && !strings.ContainsFunc(string(a), isOther)
}

// maxTimeout is the longest timeout on a ladder.
const maxTimeout = 365 * day

// Penalty is one rung of a ladder: an action and, for a timeout, its duration. The zero value does
// nothing.
//
// As text it is "none", "delete", "timeout 30s", "timeout refill", "ban", "drop" or the name of the
// program's own action. A duration may be in days, as in "timeout 14d".
type Penalty struct {
	Action Action
	// Duration is the duration of a timeout: whole seconds from 1 s to 365 days. A platform may
	// allow less; Twitch allows 14 days.
	Duration time.Duration
	// UntilRefill makes a timeout last until the user may speak again, for 1 s to 14 days. Duration
	// is then unused.
	UntilRefill bool
}

// String returns the penalty as written in the configuration.
func (p Penalty) String() string {
	switch {
	case p.Action == "":
		return noAction
	case p.Action != ActionTimeout:
		return string(p.Action)
	case p.UntilRefill:
		return "timeout refill"
	}
	return "timeout " + durations.Format(p.Duration)
}

// MarshalText returns the text of String.
func (p Penalty) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses the text that String returns.
func (p *Penalty) UnmarshalText(text []byte) error {
	name, length, hasLength := strings.Cut(string(text), " ")
	q := Penalty{Action: Action(name)}
	switch {
	case name == noAction:
		q.Action = ""
	case !q.Action.isName():
		return fmt.Errorf("penalty %q: want %s", text, actionNames)
	}
	if q.Action == ActionTimeout {
		if err := q.parseLength(length); err != nil {
			return err
		}
	} else if hasLength {
		return fmt.Errorf("penalty %q: only a timeout has a duration", text)
	}
	*p = q
	return nil
}

// actionNames says in errors what an action may be.
const actionNames = "delete, timeout 30s, timeout refill, ban, drop, or a name of your own in up to 32 of a-z, 0-9, - and _"

func (p *Penalty) parseLength(length string) error {
	if length == "refill" {
		p.UntilRefill = true
		return nil
	}
	d, err := durations.Parse(length)
	if err != nil {
		return fmt.Errorf("timeout %q: want a duration such as 30s, 10m or 14d, or refill", length)
	}
	p.Duration = d
	return checkTimeout(d, length)
}

// penalty returns the penalty for a throttled message on that rung of the ladder, counted from 0.
// An UntilRefill timeout lasts untilRefill. If untilRefill is 0, waiting never helps, so the
// penalty is ActionDelete.
func (p *Penalties) penalty(rung int, untilRefill time.Duration) Penalty {
	penalty := p.rung(rung)
	switch {
	case !penalty.UntilRefill:
		return penalty
	case untilRefill == 0:
		return Penalty{Action: ActionDelete}
	}
	return Penalty{Action: ActionTimeout, Duration: untilRefill}
}

// rung returns a rung of the ladder, counted from 0. The last one repeats.
func (p *Penalties) rung(n int) Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: ActionDrop}
	}
	return p.Ladder[min(n, len(p.Ladder)-1)]
}

// mildest returns the penalty for a message whose author must not be punished. It does no more than
// remove the message.
func (p *Penalties) mildest() Penalty {
	if len(p.Ladder) == 0 {
		return Penalty{Action: ActionDrop}
	}
	switch first := p.Ladder[0]; first.Action {
	case "", ActionDrop:
		return first
	}
	return Penalty{Action: ActionDelete}
}

// silenceLengths returns how long each rung silences the user. A ban counts as 0, because an
// unbanned user starts again.
func (p *Penalties) silenceLengths() []int64 {
	lengths := make([]int64, len(p.Ladder))
	for i, rung := range p.Ladder {
		lengths[i] = int64(rung.Duration)
		if rung.UntilRefill {
			lengths[i] = limits.UntilRetry
		}
	}
	return lengths
}
