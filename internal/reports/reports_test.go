package reports

import (
	"slices"
	"testing"

	"github.com/chatguard/chatguard/internal/webhook"
)

// Of several nodes, the one that acts in a channel reports what happens there by itself.
func TestReporter_Acts(t *testing.T) {
	if r := New(Options{}); !r.acts("1", false) {
		t.Error("a node alone doesn't report")
	}
	r := New(Options{Leads: func(channelID string) (leads, known bool) { return channelID == "mine", channelID != "unknown" }})
	for _, otherwise := range []bool{false, true} {
		for channelID, want := range map[string]bool{"mine": true, "theirs": false, "unknown": otherwise} {
			if got := r.acts(channelID, otherwise); got != want {
				t.Errorf("%s, otherwise %v: %v", channelID, otherwise, got)
			}
		}
	}
}

// A ban for several messages has an entry for each, but is one ban. What is known of one of them is
// known of the ban.
func TestAddBan(t *testing.T) {
	var list []webhook.BannedUser
	for _, user := range []webhook.BannedUser{
		{UserID: "1", Unknown: true}, {UserID: "1", Unknown: true}, {UserID: "2", Unknown: true}, {UserID: "1", By: "anna"}, {UserID: "2"}, {UserID: "2", Unknown: true}, {}, {},
	} {
		list = addBan(list, user)
	}
	if want := []webhook.BannedUser{{UserID: "1", Unknown: true}, {UserID: "2"}, {UserID: "1", By: "anna"}, {}, {}}; !slices.Equal(list, want) {
		t.Errorf("%+v\nwant %+v", list, want)
	}
}
