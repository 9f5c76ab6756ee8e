package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chatguard/chatguard"
)

// The transports that chat can be read by.
const (
	TransportIRC          = "irc"
	TransportIRCWebSocket = "irc-websocket"
	TransportEventSub     = "eventsub"
)

var transports = []string{TransportIRC, TransportIRCWebSocket, TransportEventSub}

func transport(name string) error {
	if !slices.Contains(transports, name) {
		return fmt.Errorf("%q is none of %s", name, strings.Join(transports, ", "))
	}
	return nil
}

// atHome refuses to show Twitch's identity server a token of another Helix.
func atHome(t Twitch) error {
	if usual := Default().Twitch; t.HelixURL != usual.HelixURL && t.AuthURL == usual.AuthURL {
		return errors.New("helix_url leads elsewhere than to Twitch, so this has to be set, too: tokens are shown to both")
	}
	return nil
}

// slowMode refuses what Twitch doesn't take.
func slowMode(d time.Duration) error {
	if d != 0 && (d < 3*time.Second || d > 2*time.Minute || d%time.Second != 0) {
		return fmt.Errorf(`%s: Twitch takes whole seconds from "3s" to "120s" ("0s" never turns it on)`, d)
	}
	return nil
}

// maxNotice is how many characters a notice may have: Twitch takes 500, and names need room.
const maxNotice = 400

// placeholders are what a notice may ask for.
var placeholders = []string{"{name}", "{wait}", "{limit}"}

func notice(text string) error {
	rest := text
	for _, known := range placeholders {
		rest = strings.ReplaceAll(rest, known, "")
	}
	switch {
	case utf8.RuneCountInString(text) > maxNotice:
		return fmt.Errorf("it is longer than %d characters", maxNotice)
	case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "."):
		return fmt.Errorf("%q would be a command of the chat: begin with something else", text[:1])
	case strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("it has a line break or another control character")
	case strings.ContainsAny(rest, "{}"):
		return fmt.Errorf("it can only ask for %s", strings.Join(placeholders, ", "))
	}
	return nil
}

func within(d, least, most time.Duration) error {
	if d < least || d > most {
		return fmt.Errorf("%s is not from %s to %s", d, least, most)
	}
	return nil
}

// Limit is raid mode's limit for everyone together.
func (r Raid) Limit() chatguard.Limit {
	return chatguard.Limit{Name: "raid", Algorithm: chatguard.TokenBucket, Per: chatguard.PerChannel, Burst: r.Burst, Refill: r.Refill}
}

// FirstTimer are raid mode's numbers of those who write for the first time.
func (r Raid) FirstTimer() chatguard.Override {
	return chatguard.Override{Burst: r.FirstTimerBurst, Refill: r.FirstTimerRefill}
}
