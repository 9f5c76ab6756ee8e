package app

import (
	"slices"
	"strings"

	"github.com/chatguard/chatguard/internal/config"
)

// RoomSpace is the prefix of the IDs of rooms that servers ask about with POST /check, and of the
// IDs of their users. No Twitch ID contains a colon. A server's rooms and users therefore never
// share an allowance or a strike with Twitch's.
const RoomSpace = "check:"

// RoomID returns the channel ID of a server's room.
func RoomID(name string) string { return RoomSpace + name }

// roomName returns the server's name for the room with an ID; ok is false for any other channel's
// ID.
func roomName(id string) (name string, ok bool) { return strings.CutPrefix(id, RoomSpace) }

// listedRooms returns the IDs of the rooms that a configuration names.
func listedRooms(c config.Config) (ids []string) {
	for _, name := range c.Check.Channels {
		ids = append(ids, RoomID(name))
	}
	return ids
}

// isListed reports whether the configuration names the room with this ID.
func (d *directory) isListed(id string) bool {
	name, ok := roomName(id)
	return ok && slices.Contains(d.config().Check.Channels, name)
}

// learnRoom records a room that has its own policy in a configuration, and reports whether it is
// new.
func (d *directory) learnRoom(c config.Config, id string) bool {
	name, _ := roomName(id)
	_, own := c.OwnPolicy(name)
	return own && d.add(name, id)
}

// mostRooms is the maximum number of rooms that noteAsked records.
const mostRooms = 1000

// noteAsked records a room that a server asks about for the first time.
func (d *directory) noteAsked(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.asked) < mostRooms {
		d.asked = append(d.asked, id)
	}
}

// rooms returns the IDs of rooms that servers have asked about since the start, in sorted order.
func (d *directory) rooms() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(slices.Values(d.asked))
}
