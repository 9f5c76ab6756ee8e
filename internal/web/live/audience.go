package live

import (
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/auth"
)

// Audience is what a reader sees: one channel or all, and which other channels exist. It is
// comparable, because readers of the same Audience share frames.
type Audience struct {
	channel string // empty: all channels
	// only is the visible channels' IDs, in order, each after a NUL. If it is empty, all channels
	// are visible.
	only string
}

// NewAudience returns the Audience of a person who reads the feed of a channel. If channel is
// empty, it is the feed of all channels that they may see.
func NewAudience(channel string, who auth.Identity) Audience {
	a := Audience{channel: channel}
	if who.Channels == nil {
		return a
	}
	a.only = separator
	for _, id := range slices.Sorted(maps.Keys(who.Channels)) {
		if who.In(id).Allows(auth.View) {
			a.only += id + separator
		}
	}
	return a
}

const separator = "\x00"

// sees reports whether a channel is visible.
func (a Audience) sees(channelID string) bool {
	return a.only == "" || strings.Contains(a.only, separator+channelID+separator)
}

// channels returns the visible ones of all channels.
func (a Audience) channels(all []Channel) []Channel {
	return slices.DeleteFunc(all, func(c Channel) bool { return !a.sees(c.ID) })
}

// connections returns the connections without those of invisible channels. The details of the
// others may name any channel, so they are left out unless all channels are visible.
func (a Audience) connections(all []Connection, channels []Channel) []Connection {
	if a.only == "" {
		return all
	}
	list := slices.DeleteFunc(all, func(c Connection) bool { return c.Channel != "" && !a.sees(c.Channel) })
	if slices.ContainsFunc(channels, func(c Channel) bool { return !a.sees(c.ID) }) {
		for i := range list {
			if list[i].Channel == "" {
				list[i].Detail = ""
			}
		}
	}
	return list
}
