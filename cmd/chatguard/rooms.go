package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/chatguard/chatguard"
)

// roomSpace stands before the IDs of the rooms that servers ask about by POST /check, and of their users. No ID of Twitch's has a colon, so that a server's
// rooms and users never share an allowance or a strike with Twitch's.
const roomSpace = "check:"

// roomID is the ID of the channel that a server's room is.
func roomID(name string) string { return roomSpace + name }

// roomName is what servers call the room with an ID; ok is false for any other channel's ID.
func roomName(id string) (name string, ok bool) { return strings.CutPrefix(id, roomSpace) }

// listedRooms are the IDs of the rooms that the configuration names.
func (a *app) listedRooms() (ids []string) {
	for _, name := range a.policies.Load().Check.Channels {
		ids = append(ids, roomID(name))
	}
	return ids
}

func (a *app) isListedRoom(id string) bool {
	name, ok := roomName(id)
	return ok && slices.Contains(a.policies.Load().Check.Channels, name)
}

// enterRoom puts the policy in force that a room has of its own which a server asks about for the first time.
func (a *app) enterRoom(id string) {
	if a.learnRoom(id) {
		name, _ := roomName(id)
		a.enterOwn(name, id)
	}
}

// learnRoom notes a room that has a policy of its own, and reports whether it is new.
func (a *app) learnRoom(id string) bool {
	name, _ := roomName(id)
	_, own := a.policies.Load().OwnPolicy(name)
	return own && a.logins.learn(name, id)
}

// meetRooms learns the rooms that have a policy of their own.
func (a *app) meetRooms() {
	ids := a.listedRooms()
	if a.web != nil { // as of a reload
		ids = append(ids, a.web.Asked()...)
	}
	for _, id := range ids {
		a.learnRoom(id)
	}
}

// printRooms says what is done in the channels that the configuration names for servers, and where these ask. It says nothing where there are none.
func (a *app) printRooms(out io.Writer) error {
	in := map[chatguard.Mode][]string{}
	for _, name := range a.config.Check.Channels {
		mode := a.guard.Policy(roomID(name)).Mode
		in[mode] = append(in[mode], name)
	}
	var does []string
	for _, mode := range slices.Backward(slices.Sorted(maps.Keys(in))) {
		text := fmt.Sprintf("%ss in %s", mode, strings.Join(in[mode], ", "))
		if mode == chatguard.Observe {
			text += ` (mode = "enforce" throttles)`
		}
		does = append(does, text)
	}
	if len(does) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(out, "Check: %s; servers ask at %sapi/v1/check\n", strings.Join(does, ", "), site(a.config.Web).Address(a.listener.Addr().String()))
	return err
}
