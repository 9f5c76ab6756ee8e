package chatguard

import (
	"fmt"
	"math/bits"
	"strings"
)

// MessageKind is a kind of message for which its author paid, or which the chat itself announces. A
// message may be of several kinds, combined with "|". The zero value is an ordinary message.
type MessageKind uint16

// The kinds of messages.
const (
	Bits        MessageKind = 1 << iota // cheers with Bits
	PowerUp                             // has an effect or a gigantified emote, for Bits
	HypeChat                            // pinned for money
	Reward                              // redeems a reward of the channel
	Highlighted                         // highlighted for channel points
	Resub                               // shares that the author's subscription goes on
	WatchStreak                         // shares how many streams in a row the author has watched
)

var messageKindNames = [...]string{"bits", "power_up", "hype_chat", "reward", "highlighted", "resub", "watch_streak"}

// ordinary is the name of the zero value.
const ordinary = "ordinary"

// String returns the names of the kinds as used in configuration and JSON, as in "bits,
// highlighted". It is "ordinary" for the zero value.
func (k MessageKind) String() string {
	var names []string
	for i, name := range messageKindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ordinary
	}
	return strings.Join(names, ", ")
}

// MarshalText writes what String returns.
func (k MessageKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *MessageKind) UnmarshalText(text []byte) error {
	var kinds MessageKind
	if string(text) != ordinary {
		for name := range strings.SplitSeq(string(text), ",") {
			place, err := parseName[uint8](messageKindNames[:], "kind of message", []byte(strings.TrimSpace(name)))
			if err != nil {
				return err
			}
			kinds |= 1 << place
		}
	}
	*k = kinds
	return nil
}

// exemptions are the roles and the kinds of messages that a policy exempts.
type exemptions struct {
	roles Roles
	kinds MessageKind
}

// newExemptions returns the exemptions of a policy. The error names the key of the mistake.
func newExemptions(p *Policy) (e exemptions, err error) {
	for _, r := range p.Exempt {
		if _, err := r.MarshalText(); err != nil {
			return e, fmt.Errorf("exempt: %w", err)
		}
		if e.roles&RolesOf(r) != 0 {
			return e, fmt.Errorf("exempt: %s is listed twice", r)
		}
		e.roles |= RolesOf(r)
	}
	for _, k := range p.ExemptMessages {
		if bits.OnesCount16(uint16(k)) != 1 || k >= 1<<len(messageKindNames) {
			return e, fmt.Errorf("exempt_messages: %q (%d) is not a single kind of message", k, uint16(k))
		}
		if e.kinds&k != 0 {
			return e, fmt.Errorf("exempt_messages: %s is listed twice", k)
		}
		e.kinds |= k
	}
	return e, nil
}
