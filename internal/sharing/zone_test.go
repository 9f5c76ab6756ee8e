package sharing_test

import (
	"testing"
	"time"

	"github.com/chatguard/chatguard"
)

// inTokyo sends a message of user 7, who gives their zone or none, and checks what is left of the
// day, and when it ends.
func inTokyo(t *testing.T, g *chatguard.Guard, zone string, left int, ends time.Time) {
	t.Helper()
	v, err := g.Check(t.Context(), chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7", Timezone: zone}})
	must(t, err)
	if got := v.At.Add(v.RetryAfter); v.Remaining != left || !v.ResetAt.Equal(ends) || !v.Allowed && !got.Equal(ends) {
		t.Errorf("%d left until %v, retry at %v; want %d until %v", v.Remaining, v.ResetAt, got, left, ends)
	}
}

// A day that begins by the author's zone on one node is the same on all, whatever zone their next
// messages give. That holds if the store was away when it began, too, and if nodes decide by
// themselves.
func TestShared_Timezone(t *testing.T) {
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{chatguard.DailyWindowLimit("daily", 4)}
	ends := sharedStart.Add(3 * time.Hour) // midnight in Tokyo
	now := sharedStart
	clock := func() time.Time { return now }
	for _, away := range []bool{false, true} {
		now = sharedStart
		server := newFakeServer()
		node, a := server.connect(policy, clock)
		_, b := server.connect(policy, clock)
		node.setAway(away)
		inTokyo(t, a, "Asia/Tokyo", 3, ends)
		inTokyo(t, a, "", 2, ends)
		node.setAway(false)
		must(t, a.Shared().Exchange(t.Context()))
		inTokyo(t, b, "", 1, ends)
		inTokyo(t, b, "America/Lima", 0, ends)
		inTokyo(t, b, "America/Lima", 0, ends)
		inTokyo(t, a, "Asia/Tokyo", 0, ends)
		inTokyo(t, a, "", 0, ends) // a refusal from memory
		now = ends
		inTokyo(t, a, "Asia/Tokyo", 3, ends.Add(24*time.Hour))
		inTokyo(t, b, "", 2, ends.Add(24*time.Hour))
	}
	now = sharedStart
	_, _, guards, exchange := synchronised(t, 2, policy, clock)
	inTokyo(t, guards[0], "Asia/Tokyo", 3, ends)
	exchange()
	inTokyo(t, guards[1], "Asia/Tokyo", 3, ends) // its first message of the user
	exchange()
	inTokyo(t, guards[0], "", 2, ends) // it hasn't read the other node's message yet
	inTokyo(t, guards[1], "America/Lima", 1, ends)
}

// Nodes agree on whether a limit of one user's day refuses, if the zones of the messages differ
// after its end.
func TestShared_TimezoneOfRefusal(t *testing.T) {
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{chatguard.DailyWindowLimit("daily", 4)}
	now := sharedStart.Add(-12 * time.Hour)
	server := newFakeServer()
	_, a := server.connect(policy, func() time.Time { return now })
	send(t, a, 4)
	now = now.Add(24 * time.Hour)
	ask := func(zone string, wait time.Duration) {
		t.Helper()
		m := chatguard.Message{ChannelID: "c", User: chatguard.User{ID: "7", Timezone: zone}, Cost: 3}
		if v, err := a.Check(t.Context(), m); err != nil || v.Allowed != (wait == 0) || v.RetryAfter != wait {
			t.Errorf("%s: allowed %v, wait %v, %v; want %v", zone, v.Allowed, v.RetryAfter, err, wait)
		}
	}
	ask("Asia/Tokyo", 15*time.Hour) // 2 of 4 in the 15 h until midnight there
	ask("Asia/Tokyo", 15*time.Hour)
	ask("UTC", 0)
}

// Refusals come from memory although the zone of the user's messages changes each time.
func TestShared_TimezoneInMemory(t *testing.T) {
	policy := enforcedDefault()
	policy.Limits = []chatguard.Limit{chatguard.DailyWindowLimit("daily", 4)}
	now := sharedStart
	server := newFakeServer()
	_, a := server.connect(policy, func() time.Time { return now })
	send(t, a, 4)
	inTokyo(t, a, "", 0, sharedStart.Add(12*time.Hour)) // the first refusal gives a strike
	before := a.Shared().Counts().FromMemory
	for range 5 {
		for _, zone := range []string{"Asia/Tokyo", "", "America/Lima"} {
			inTokyo(t, a, zone, 0, sharedStart.Add(12*time.Hour))
		}
	}
	if got := a.Shared().Counts().FromMemory - before; got != 15 {
		t.Errorf("%d of 15 refusals come from memory", got)
	}
}
