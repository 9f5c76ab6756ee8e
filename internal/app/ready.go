package app

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/chatguard/chatguard/internal/chat/twitch/eventsub"
	"github.com/chatguard/chatguard/internal/config"
	"github.com/chatguard/chatguard/internal/penalties"
)

// CheckReady refuses a valid configuration that names no channel, or that requires something this
// bot can't do.
func CheckReady(c config.Config) error {
	switch {
	case len(c.Twitch.Channels) > 0:
	case len(c.Check.Channels) > 0:
		return nil // the server that asks carries out penalties
	default:
		return ErrNoChannel(c)
	}
	if err := FitTransport(c, c.Twitch.Transport); err != nil {
		return err
	}
	if _, err := penalties.Check(c.Policy.Penalties.Ladder); err != nil {
		return &config.Error{File: c.Path, Key: ladderKey, Problem: err.Error()}
	}
	_, strangers := Unlisted(c)
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		if c.IsChecked(name) || slices.Contains(strangers, name) {
			continue
		}
		if _, err := penalties.Check(c.Channels[name].Penalties.Ladder); err != nil {
			return &config.Error{File: c.Path, Key: "channel." + name + "." + ladderKey, Problem: err.Error()}
		}
	}
	return nil
}

// ErrNoChannel returns the error for a configuration without a channel.
func ErrNoChannel(c config.Config) error {
	return &config.Error{File: c.Path, Key: "twitch.channels",
		Problem: "is empty: name the channel to moderate, or in check.channels the chats of a server of your own"}
}

// FitTransport refuses more channels than a transport supports.
func FitTransport(c config.Config, transport string) error {
	if n := len(c.Twitch.Channels); transport == config.TransportEventSub && n > eventsub.MaxChannels {
		return &config.Error{File: c.Path, Key: "twitch.channels", Problem: fmt.Sprintf(
			"names %d, but EventSub supports %d: name fewer, or set twitch.transport to irc", n, eventsub.MaxChannels)}
	}
	return nil
}

// HasToken reports whether the environment or a login provides a token. It doesn't check whether
// Twitch accepts the token.
func HasToken(c config.Config) bool {
	_, err := os.Stat(c.TokenFile())
	return c.Twitch.Token != "" || c.Twitch.RefreshToken != "" || err == nil
}

// ladderKey is the key of a policy's ladder in the configuration.
const ladderKey = "penalties.ladder"
