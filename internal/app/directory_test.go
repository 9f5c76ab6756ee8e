package app

import (
	"testing"

	"github.com/chatguard/chatguard/internal/config"
)

// TestDirectory_AnotherAccount checks that a login belongs to the Twitch channel that had it last,
// and that a room of the same name stays.
func TestDirectory_AnotherAccount(t *testing.T) {
	for range 20 { // the order of maps is random
		d := newDirectory(config.Default(), nil, nil)
		d.add("gardenhour", "1")
		d.add("gardenhour", RoomID("gardenhour"))
		if d.accepts("gardenhour", "2") || !d.accepts("gardenhour", "1") || !d.accepts("teatime", "2") {
			t.Error("another account's channel is accepted, or the same one isn't")
		}
		d.add("gardenhour", "2")
		if d.id("gardenhour") != "2" || d.login("1") != "" || d.login(RoomID("gardenhour")) != "gardenhour" {
			t.Errorf("the channel is %q; 1 is called %q", d.id("gardenhour"), d.login("1"))
		}
	}
}
