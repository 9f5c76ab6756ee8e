package config

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chatguard/chatguard/internal/durations"
	"github.com/chatguard/chatguard/internal/hostile"
)

// The transports that read chat.
const (
	TransportIRC          = "irc"
	TransportIRCWebSocket = "irc-websocket"
	TransportEventSub     = "eventsub"
)

var transports = []string{TransportIRC, TransportIRCWebSocket, TransportEventSub}

// checkAuthURL returns an error if a token for a Helix server other than Twitch's would be sent to
// Twitch's identity server.
func checkAuthURL(t Twitch) error {
	if usual := Default().Twitch; t.HelixURL != usual.HelixURL && t.AuthURL == usual.AuthURL {
		return errors.New("helix_url is not Twitch's, so this must be set too: tokens are sent to both")
	}
	return nil
}

// checkSlowMode returns an error for a duration that Twitch does not accept.
func checkSlowMode(d time.Duration) error {
	if d != 0 && (d < 3*time.Second || d > 2*time.Minute || d%time.Second != 0) {
		return fmt.Errorf(`%s: Twitch accepts whole seconds from "3s" to "120s" ("0s" never turns it on)`, d)
	}
	return nil
}

// maxNotice is the maximum number of characters in a notice's text. Twitch accepts 500; the
// filled-in names need the rest.
const maxNotice = 400

// placeholders are the placeholders that a notice may contain.
var placeholders = []string{"{name}", "{wait}", "{limit}"}

func checkNotice(text string) error {
	rest := text
	for _, known := range placeholders {
		rest = strings.ReplaceAll(rest, known, "")
	}
	switch {
	case utf8.RuneCountInString(text) > maxNotice:
		return fmt.Errorf("it is longer than %d characters", maxNotice)
	case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "."):
		return fmt.Errorf("%q would be a chat command: begin with something else", text[:1])
	case hostile.HasControl(text):
		return errors.New("it has a line break or another control character")
	case strings.ContainsAny(rest, "{}"):
		return fmt.Errorf("the only placeholders are %s", strings.Join(placeholders, ", "))
	}
	return nil
}

func checkDuration(d, least, most time.Duration) error {
	if d < least || d > most {
		return fmt.Errorf("want a duration from %s to %s, found %s", durations.Format(least), durations.Format(most), durations.Format(d))
	}
	return nil
}
