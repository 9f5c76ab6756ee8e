package sharing_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
	"github.com/chatguard/chatguard/shared"
)

// fourADay is a policy of one limit: four messages per day.
func fourADay() chatguard.Policy { return enforced(chatguard.DailyWindowLimit("daily", 4)) }

// inTokyo sends a message of user 7, who gives their zone or none, and checks what is left of the
// day, and when it ends.
func inTokyo(t *testing.T, n *node, zone string, left int, ends time.Time) {
	t.Helper()
	m := message("7")
	m.User.Timezone = zone
	v := judge(t, n, m)
	if got := v.At.Add(v.RetryAfter); v.Remaining != left || !v.ResetAt.Equal(ends) || !v.Allowed && !got.Equal(ends) {
		t.Errorf("%d left until %v, retry at %v; want %d until %v", v.Remaining, v.ResetAt, got, left, ends)
	}
}

// A day that begins by the author's zone on one node is the same on all, whatever zone their next
// messages give. That holds if the store was away when it began, too, and if nodes decide by
// themselves.
func TestShared_Timezone(t *testing.T) {
	ends := sharedStart.Add(3 * time.Hour) // midnight in Tokyo
	for _, away := range []bool{false, true} {
		server := newServer(t, shared.Exact, fourADay())
		a, b := server.join(), server.join()
		a.setAway(away)
		inTokyo(t, a, "Asia/Tokyo", 3, ends)
		inTokyo(t, a, "", 2, ends)
		a.setAway(false)
		a.exchange()
		inTokyo(t, b, "", 1, ends)
		inTokyo(t, b, "America/Lima", 0, ends)
		inTokyo(t, b, "America/Lima", 0, ends)
		inTokyo(t, a, "Asia/Tokyo", 0, ends)
		inTokyo(t, a, "", 0, ends) // a refusal from memory
		server.now = ends
		inTokyo(t, a, "Asia/Tokyo", 3, ends.Add(24*time.Hour))
		inTokyo(t, b, "", 2, ends.Add(24*time.Hour))
	}
	server := newServer(t, shared.Synchronised, fourADay())
	a, b := server.join(), server.join()
	inTokyo(t, a, "Asia/Tokyo", 3, ends)
	server.exchange()
	inTokyo(t, b, "Asia/Tokyo", 3, ends) // its first message of the user
	server.exchange()
	inTokyo(t, a, "", 2, ends) // it hasn't read the other node's message yet
	inTokyo(t, b, "America/Lima", 1, ends)
}

// Nodes agree on whether a limit of one user's day refuses, if the zones of the messages differ
// after its end.
func TestShared_TimezoneOfRefusal(t *testing.T) {
	server := newServer(t, shared.Exact, fourADay())
	server.now = sharedStart.Add(-12 * time.Hour)
	node := server.join()
	send(t, node, 4)
	server.now = server.now.Add(24 * time.Hour)
	ask := func(zone string, wait time.Duration) {
		t.Helper()
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7", Timezone: zone}, Cost: 3}
		if v := judge(t, node, m); v.Allowed != (wait == 0) || v.RetryAfter != wait {
			t.Errorf("%s: allowed %v, wait %v, want %v", zone, v.Allowed, v.RetryAfter, wait)
		}
	}
	ask("Asia/Tokyo", 15*time.Hour) // 2 of 4 in the 15 h until midnight there
	ask("Asia/Tokyo", 15*time.Hour)
	ask("UTC", 0)
}

// Refusals come from memory although the zone of the user's messages changes each time.
func TestShared_TimezoneInMemory(t *testing.T) {
	node, ends := newServer(t, shared.Exact, fourADay()).join(), sharedStart.Add(12*time.Hour)
	send(t, node, 4)
	inTokyo(t, node, "", 0, ends) // the first refusal gives a strike
	before := node.counts().FromMemory
	for range 5 {
		for _, zone := range []string{"Asia/Tokyo", "", "America/Lima"} {
			inTokyo(t, node, zone, 0, ends)
		}
	}
	if got := node.counts().FromMemory - before; got != 15 {
		t.Errorf("%d of 15 refusals come from memory", got)
	}
}
