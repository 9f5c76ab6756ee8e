package roles

import (
	"errors"
	"strings"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/internal/limits"
)

// The kinds of messages. For all but Emotes, their authors paid, or the chat itself announces them.
const (
	Bits        = "bits"         // cheers with Bits
	PowerUp     = "power_up"     // has an effect or a gigantified emote, for Bits
	HypeChat    = "hype_chat"    // pinned for money
	Reward      = "reward"       // redeems a reward of the channel
	Highlighted = "highlighted"  // highlighted for channel points
	Resub       = "resub"        // shares that the author has resubscribed
	WatchStreak = "watch_streak" // shares how many streams in a row the author has watched

	Emotes = chatguard.KindEmotes // consists of emotes only
)

// Kinds are the kinds of one message. The zero value is an ordinary message.
type Kinds []string

// TwitchKinds is all kinds of messages. Don't change it.
var TwitchKinds = Kinds{Bits, PowerUp, HypeChat, Reward, Highlighted, Resub, WatchStreak, Emotes}

// Ordinary is the text of the zero value.
const Ordinary = "ordinary"

// String returns the names, as in "bits, highlighted". It is "ordinary" for an ordinary message.
func (k Kinds) String() string {
	if len(k) == 0 {
		return Ordinary
	}
	return strings.Join(k, ", ")
}

// MarshalText writes what String returns.
func (k Kinds) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *Kinds) UnmarshalText(text []byte) error {
	*k = nil
	if len(text) == 0 || string(text) == Ordinary {
		return nil
	}
	for name := range strings.SplitSeq(string(text), ",") {
		if name = strings.TrimSpace(name); !limits.IsRoleName(name) {
			return errNoKind
		}
		*k = append(*k, name)
	}
	return Check(*k)
}

var errNoKind = errors.New("a kind of message has a name of 1 to 64 letters (a to z, A to Z), digits and characters of -_:")
